package pane

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/compare"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Versus is two panes for two answers: where they differ, side by side where there is room and below each other where there is
// none, or each as a whole.
type Versus struct {
	Sides  [2]Side
	Result compare.Result

	view  string
	ids   [2]string // of the panes
	docs  [2]Document
	whole bool // each answer as a whole instead of the differences
	at    int  // difference under the cursor
	tops  [2]int
	rev   int
	gen   int
	shown bool
	drawn [2]drawnBlocks // of the panes
}

// drawnBlocks are the lines of each difference, and what they depend on.
type drawnBlocks struct {
	gen, w int
	both   bool
	th     *tui.Theme
	blocks [][]string
}

// Side is one of two answers.
type Side struct {
	Title string   // whose it is: safe
	Cost  string   // what it cost: safe
	Notes []string // styled lines about it
	Value []byte   // its result
}

// NewVersus is empty; view is the id of the screen, before and after those of its panes.
func NewVersus(view, before, after string) Versus {
	return Versus{view: view, ids: [2]string{before, after}, docs: [2]Document{
		{view: view, pane: before, slot: before}, {view: view, pane: after, slot: after},
	}}
}

// Show shows two answers and how they differ. Where they do not, it shows the answers.
func (v *Versus) Show(c *tui.Ctx, sides [2]Side, r compare.Result) tea.Cmd {
	v.gen++
	v.rev++
	v.Sides, v.Result, v.at, v.tops, v.shown = sides, r, 0, [2]int{}, true
	v.whole = len(r.Differences) == 0
	return tea.Batch(v.load(c, 0, sides[0].Value), v.load(c, 1, sides[1].Value))
}

// Clear shows nothing.
func (v *Versus) Clear() {
	v.rev++
	v.Sides, v.Result, v.shown = [2]Side{}, compare.Result{}, false
	v.docs[0].clear()
	v.docs[1].clear()
}

// Shown reports whether there is something.
func (v *Versus) Shown() bool { return v.shown }

func (v *Versus) load(c *tui.Ctx, i int, value []byte) tea.Cmd {
	return v.docs[i].load(c, Source{Name: v.ids[i], None: "No answer.", read: bytesOf(value)})
}

// Actions are what two answers offer.
func (v *Versus) Actions() []tui.Action {
	none := func(*tui.Ctx) string {
		switch {
		case !v.shown:
			return "nothing was compared yet"
		case len(v.Result.Differences) == 0:
			return "the answers do not differ"
		}
		return ""
	}
	out := []tui.Action{
		{
			ID: v.view + ".whole", Keys: []string{"D"}, Title: "answers", Group: "Compare", Hint: 4,
			Help: "Switch between the differences and the two answers as a whole.", Disabled: none,
			Now: func(*tui.Ctx) string {
				if v.whole {
					return "differences"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				v.whole = !v.whole
				v.rev++
				return tea.Batch(v.load(c, 0, v.Sides[0].Value), v.load(c, 1, v.Sides[1].Value))
			},
		},
		{
			ID: v.view + ".values", Keys: []string{"enter"}, Title: "whole value", Group: "Compare", Hint: 5, Pane: v.ids[0],
			Help:     "Show the two values of the difference under the cursor in full.",
			Disabled: func(c *tui.Ctx) string { return none(c) }, Hinted: func(*tui.Ctx) bool { return !v.whole },
			Run: func(c *tui.Ctx) tea.Cmd {
				if v.whole {
					cmd, _ := v.docs[0].Handle(c, tui.PressOf("enter"))
					return cmd
				}
				d := v.Result.Differences[v.at]
				v.whole = true
				v.rev++
				return tea.Batch(v.load(c, 0, valueText(d.Before)), v.load(c, 1, valueText(d.After)))
			},
		},
	}
	for i := range v.docs {
		for _, a := range v.docs[i].actions(v.view+"."+v.ids[i], v.ids[i]) {
			can := a.Disabled
			a.Disabled = func(c *tui.Ctx) string {
				if !v.documents(c, i) {
					return "these are differences: " + c.KeyOf(v.view+".whole") + " shows the answers"
				}
				return can(c)
			}
			a.Hinted = func(c *tui.Ctx) bool { return v.documents(c, i) }
			out = append(out, a)
		}
	}
	return out
}

// valueText is a value to be read: a string as its text.
func valueText(raw json.RawMessage) []byte {
	if s, ok := jsonrpc.String(raw); ok {
		return []byte(s)
	}
	return raw
}

// Handle moves in the differences or in an answer.
func (v *Versus) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.OpDone:
		for i := range v.docs {
			if cmd, ok := v.docs[i].Handle(c, msg); ok {
				return cmd, true
			}
		}
		return nil, false
	case tui.Resized:
		a, _ := v.docs[0].Handle(c, msg)
		b, _ := v.docs[1].Handle(c, msg)
		v.rev++
		return tea.Batch(a, b), true
	case tui.PaneMouse:
		if i := v.side(m.Pane); v.documents(c, i) {
			return v.docs[i].Handle(c, msg)
		}
		v.move(3 * m.Wheel)
		return nil, true
	}
	if i := v.side(c.Focus); v.documents(c, i) {
		v.rev++
		return v.docs[i].Handle(c, msg)
	}
	if k, ok := msg.(tea.KeyPressMsg); ok && v.shown {
		by, ok := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -5, "pgdown": 5, "ctrl+u": -5, "ctrl+d": 5, "g": -1 << 20, "home": -1 << 20, "G": 1 << 20, "end": 1 << 20}[k.String()]
		v.move(by)
		return nil, ok
	}
	return nil, false
}

func (v *Versus) side(pane string) int {
	if pane == v.ids[1] {
		return 1
	}
	return 0
}

// documents is whether a pane shows a document: the second one also where the first has room for both sides of a difference.
func (v *Versus) documents(c *tui.Ctx, i int) bool {
	return v.shown && (v.whole || i == 1 && v.below(c))
}

func (v *Versus) below(c *tui.Ctx) bool {
	below, both := c.Below()
	return below || !both
}

func (v *Versus) move(by int) {
	v.at = max(min(v.at+by, len(v.Result.Differences)-1, mostDrawn-1), 0)
	v.rev++
}

// Back leaves what was opened; false if nothing was.
func (v *Versus) Back(c *tui.Ctx) bool {
	if i := v.side(c.Focus); v.documents(c, i) && v.docs[i].inner != nil {
		v.docs[i].close(c)
		return true
	}
	if v.whole && len(v.Result.Differences) > 0 {
		v.whole = false
		v.rev++
		return true
	}
	return false
}

// summary is how the answers differ, marked.
func summary(r compare.Result) string {
	if r.Same() {
		return "✓ " + safe.Line(r.Summary(), 300)
	}
	return "≠ " + safe.Line(r.Summary(), 300)
}

// Draw fills one of the panes.
func (v *Versus) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	i := v.side(p.ID)
	s := v.Sides[i]
	if v.documents(c, i) {
		var head []string
		for _, l := range append(v.verdictLines(c, i), s.Notes...) {
			head = append(head, paint.Cut(l, p.W))
		}
		h := p.H
		p.H = max(h-len(head), 1)
		lines, scroll := v.docs[i].lines(c, p)
		p.H = h
		p.Lines, p.Scroll = append(head, lines...), scroll
		p.Title, p.Badge, p.Foot = s.Title, s.Cost, v.docs[i].foot()
		return nil
	}
	if p.Same(c, v.rev, v.below(c)) {
		return nil
	}
	p.Title, p.Badge, p.Foot = s.Title, s.Cost, ""
	v.drawDifferences(c, p, i)
	return nil
}

// verdictLines are above the first side.
func (v *Versus) verdictLines(c *tui.Ctx, i int) []string {
	if i == 1 || v.Sides[1].Title == "" {
		return nil
	}
	st := c.Theme.OK
	if !v.Result.Same() {
		st = c.Theme.Warn
	}
	return []string{st.S(summary(v.Result))}
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
			for _, row := range wrap(paint.Strip(l), w) {
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
	if d.Class != compare.Real {
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
		out = append(out, wrap(l, max(w, 1))...)
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

// CopyText copies the difference under the cursor, or from the answer that is read.
func (v *Versus) CopyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	if i := v.side(c.Focus); v.documents(c, i) {
		return v.docs[i].CopyText(k)
	}
	if v.at >= len(v.Result.Differences) {
		return nil
	}
	d := v.Result.Differences[v.at]
	switch k {
	case tui.CopyPath:
		return tui.CopyString(d.Pointer, true)
	case tui.CopyValue, tui.CopyJSON:
		return func() (string, error) {
			b, err := json.Marshal(d)
			return string(b), err
		}
	}
	return nil
}

// PageText is the answer that is read.
func (v *Versus) PageText(c *tui.Ctx) (text, ext string, ok bool) {
	return v.docs[v.side(c.Focus)].PageText()
}

// Plain writes the differences.
func (v *Versus) Plain(w io.Writer) {
	if !v.shown {
		return
	}
	for _, s := range v.Sides {
		fmt.Fprintf(w, "%s: %s\n", s.Title, s.Cost)
		for _, n := range s.Notes {
			fmt.Fprintln(w, "  "+paint.Strip(n))
		}
	}
	PlainDifferences(w, v.Result)
}

// PlainDifferences writes differences for people, without styles.
func PlainDifferences(w io.Writer, r compare.Result) {
	fmt.Fprintln(w, summary(r))
	for _, d := range r.Differences {
		why := ""
		if d.Class != compare.Real {
			why = " (" + d.Reason + ")"
		}
		fmt.Fprintf(w, "%s %s %s%s\n", versusMarks[d.Op], safe.Line(d.Place(), 400), d.Op, why)
		for _, x := range []struct {
			mark string
			raw  json.RawMessage
		}{{"-", d.Before}, {"+", d.After}} {
			if len(x.raw) > 0 {
				fmt.Fprintf(w, "  %s %s\n", x.mark, safe.Line(string(x.raw), 400))
			}
		}
	}
	if r.More > 0 {
		fmt.Fprintf(w, "… %d more differences\n", r.More)
	}
}

// Touch has the panes drawn again.
func (v *Versus) Touch() { v.rev++ }
