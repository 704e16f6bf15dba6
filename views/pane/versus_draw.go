package pane

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/traffic/compare"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// drawnBlocks are the lines of each difference, and what they depend on.
type drawnBlocks struct {
	gen, w int
	both   bool
	th     *tui.Theme
	blocks [][]string
}

// drawDifferences draws one side of the differences, or in a pane above the other both.
func (v *Versus) drawDifferences(c *tui.Ctx, p *tui.Pane, side int) {
	th, both := c.Theme, v.below(c)
	notes := v.notes(c, p.W)
	head := notes[side]
	if !both { // the first difference of both sides is on one line
		for len(head) < max(len(notes[0]), len(notes[1])) {
			head = append(head, "")
		}
	}
	var lines []string
	first, last := 0, 0
	blocks := v.blocks(th, p.W, side, both)
	for n, block := range blocks {
		head := block[0]
		if n == v.at {
			first, last = len(lines), len(lines)+len(block)
			head = th.SelectRow(paint.Strip(head), p.W, p.Focused)
		}
		lines = append(append(lines, head), block[1:]...)
	}
	if more := len(v.Result.Differences) + v.Result.More - len(blocks); more > 0 {
		lines = append(lines, th.Muted.S(fmt.Sprintf("… %d more differences", more)))
	}
	h := max(p.H-len(head), 1)
	top := v.tops[side]
	if last > top+h {
		top = last - h
	}
	top = max(min(top, first, len(lines)-1), 0)
	v.tops[side] = top
	p.Lines = append(head, lines[top:min(len(lines), top+h)]...)
	p.Scroll = tui.Scroll{Pos: top, Total: len(lines)}
	p.Selected = len(head) + first - top + 1
}

const (
	mostDrawn     = 500      // differences that are drawn
	maxValueLines = 8        // of one value
	maxValue      = 2 << 10  // bytes of a value that is drawn
	maxTextDiff   = 64 << 10 // bytes of texts that are compared line by line, of all differences together
)

// blocks are the lines of each difference, made once for a width.
func (v *Versus) blocks(th *tui.Theme, w, side int, both bool) [][]string {
	d := &v.drawn[side]
	if d.blocks != nil && d.gen == v.gen && d.w == w && d.both == both && d.th == th {
		return d.blocks
	}
	*d = drawnBlocks{v.gen, w, both, th, [][]string{}}
	room := maxTextDiff
	for _, x := range v.Result.Differences[:min(len(v.Result.Differences), mostDrawn)] {
		d.blocks = append(d.blocks, v.block(th, x, w, side, both, &room))
	}
	return d.blocks
}

// notes are the lines above the differences, for each side.
func (v *Versus) notes(c *tui.Ctx, w int) (out [2][]string) {
	for i, s := range v.Sides {
		for _, l := range append(v.verdictLines(c, i), s.Notes...) {
			for _, row := range paint.Wrap(paint.Strip(l), w) {
				st := c.Theme.Muted
				if len(out[i]) == 0 && i == 0 {
					st = c.Theme.Warn
					if v.Result.Same() {
						st = c.Theme.OK
					}
				}
				out[i] = append(out[i], st.S(row))
			}
		}
	}
	return out
}

var versusMarks = map[compare.Op]string{compare.Added: "+", compare.Removed: "−", compare.Changed: "~", compare.Reordered: "↕"}

// block is one difference: where, what it means, and the values.
func (v *Versus) block(th *tui.Theme, d compare.Difference, w, side int, both bool, room *int) []string {
	mark, st := versusMarks[d.Op], th.Warn
	switch {
	case d.Class == compare.Guess:
		mark = "≈"
	case d.Class != compare.Real:
		mark, st = "≈", th.Muted
	case d.Op == compare.Added:
		st = th.OK
	case d.Op == compare.Removed:
		st = th.Error
	}
	at := d.Place()
	if side == 1 && !both && d.There != "" {
		d.Pointer = d.There
		at = d.Place()
	}
	head := mark + " " + safe.Line(at, max(w-2, 1))
	why := string(d.Op)
	switch d.Class {
	case compare.Guess:
		why = "guess: " + d.Reason
	case compare.Varies, compare.Protocol:
		why = d.Reason
	}
	if left := w - paint.Width(head) - 2; left > 4 {
		head = st.S(head) + "  " + th.Muted.S(safe.Line(why, left))
	} else {
		head = st.S(head)
	}
	before, after := sideLines(d, w-4, room)
	if both {
		out := []string{paint.Cut(head, w)}
		for _, l := range before {
			out = append(out, th.Muted.S("  ")+valueStyle(th, d, th.Error).S("- "+l))
		}
		for _, l := range after {
			out = append(out, th.Muted.S("  ")+valueStyle(th, d, th.OK).S("+ "+l))
		}
		return out
	}
	out, own, other := []string{paint.Cut(head, w)}, before, after
	st = valueStyle(th, d, th.Error)
	if side == 1 {
		own, other = after, before
		st = valueStyle(th, d, th.OK)
	}
	for _, l := range own {
		out = append(out, "  "+st.S(l))
	}
	if len(own) == 0 {
		out = append(out, "  "+th.Muted.S("(not there)"))
	}
	for len(out) < 1+max(len(other), 1) {
		out = append(out, "")
	}
	return out
}

func valueStyle(th *tui.Theme, d compare.Difference, real paint.Style) paint.Style {
	if d.Class != compare.Real && d.Class != compare.Guess {
		return th.Muted
	}
	return real
}

// sideLines are the values of a difference, as safe lines of at most w cells; of two texts of several lines those that differ.
func sideLines(d compare.Difference, w int, room *int) (before, after []string) {
	a, ok1 := jsonrpc.String(d.Before)
	b, ok2 := jsonrpc.String(d.After)
	if *room -= len(a) + len(b); *room > 0 && ok1 && ok2 && (strings.Contains(a, "\n") || strings.Contains(b, "\n")) {
		hunks, _, _ := text.Diff(a, b)
		for l := range strings.Lines(hunks) {
			row := safe.Line(strings.TrimRight(l[1:], "\r\n"), w)
			switch l[0] {
			case '-':
				before = append(before, row)
			case '+':
				after = append(after, row)
			}
		}
		if len(before)+len(after) > 0 {
			return cutLines(before), cutLines(after)
		}
	}
	return valueLines(d.Before, w), valueLines(d.After, w)
}

func valueLines(raw json.RawMessage, w int) (out []string) {
	if len(raw) == 0 {
		return nil
	}
	shown := text.Clip(string(raw[:min(len(raw), maxValue+4)]), maxValue)
	if len(raw) <= maxValue {
		shown = indented(raw)
	}
	for _, l := range strings.Split(safe.Text(shown), "\n") {
		out = append(out, paint.Wrap(l, max(w, 1))...)
		if len(out) > maxValueLines {
			break
		}
	}
	return cutLines(out)
}

func cutLines(out []string) []string {
	if len(out) > maxValueLines {
		out = append(out[:maxValueLines-1:maxValueLines-1], "…")
	}
	return out
}
