package pane

import (
	"encoding/json"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/traffic/compare"
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
			ID: v.view + ".whole", Verb: tui.VerbDiff, Title: "answers", Group: "Compare", Hint: 4,
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
			ID: v.view + ".values", Verb: tui.VerbOpen, Title: "whole value", Group: "Compare", Hint: 5, Pane: v.ids[0],
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
		switch d.Class {
		case compare.Real:
		case compare.Guess:
			why = " (guess: " + d.Reason + ")"
		default:
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
