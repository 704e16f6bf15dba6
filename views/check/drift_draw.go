package check

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// driftRows are the changes of one server.
type driftRows struct {
	changes []contract.Change
	c       *tui.Ctx
}

// Len is the number of changes.
func (r driftRows) Len() int { return len(r.changes) }

// Row is a change: its class, what it is about, and what it is.
func (r driftRows) Row(i, w int) string {
	th, ch := r.c.Theme, r.changes[i]
	out := classMark(th, ch.Class) + " "
	return paint.Fit(out+th.Text.S(safe.Line(ch.Place.Name, 60))+" "+th.Muted.S(safe.Line(ch.Message, 300)), w)
}

// classMark is a class as a glyph and a word of fixed width.
func classMark(th *tui.Theme, class contract.Class) string {
	switch class {
	case contract.Security:
		return th.Error.S("✗ security  ")
	case contract.Breaking:
		return th.Error.S("✗ breaking  ")
	case contract.Behaviour:
		return th.Warn.S("! behaviour ")
	case contract.Review:
		return th.Warn.S("? review    ")
	}
	return th.OK.S("✓ compatible")
}

func (v *drift) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	d := v.current(c)
	if p.ID == "detail" {
		v.drawDetail(c, p)
		return nil
	}
	if p.Same(c, v.Rev, v.List.Selected(), c.Server) {
		return nil
	}
	var changes []contract.Change
	if d != nil {
		changes = d.changes
		p.Title = strings.ToUpper(d.heading()[:1]) + d.heading()[1:]
	}
	v.List.SetRows(driftRows{changes, c}) // rows carry the theme
	v.DrawList(c, p, func(w int) []string {
		switch {
		case v.Typed != "":
			return pane.NothingMatches(c.Theme, w, v.Typed)
		case c.Server == nil:
			return pane.Message(c.Theme, w, "No server is open.", "Press 1 for the servers.")
		case d != nil && d.locked:
			return pane.Message(c.Theme, w, safe.Line(c.Server.Title(), 80)+" offers what "+contract.FileName+" says.", "Changes are listed here as they come.")
		}
		return pane.Message(c.Theme, w, safe.Line(c.Server.Title(), 80)+" changed nothing since you looked.", c.KeyOf("drift.accept")+" makes a lock of what it offers now, to compare with from then on.")
	})
	p.Foot = summary(changes)
	return nil
}

func (v *drift) drawDetail(c *tui.Ctx, p *tui.Pane) {
	ch, ok := v.selected(c)
	if i := v.List.Selected(); v.at != i {
		v.at, v.detail.Top = i, 0
	}
	if p.Same(c, v.Rev, v.at, c.Server, v.detail.Top) {
		return
	}
	if !ok {
		p.Lines, p.Scroll = nil, tui.Scroll{}
		return
	}
	v.detail.Draw(p, v.changeLines(c.Theme, p.W, ch))
}

// changeLines are a change, why it matters, what to do, and what was there before and after.
func (v *drift) changeLines(th *tui.Theme, w int, ch contract.Change) []string {
	d := pane.NewDetails(th, w)
	d.Styled("class", classMark(th, ch.Class))
	d.Row("where", safe.Line(ch.Place.String(), 300))
	d.Row("what", safe.Line(ch.Message, 600))
	if r := rules.Find("contract", ch.Rule); r != nil {
		d.Row("why", r.Why)
		d.Row("rule", r.ID)
	}
	if ch.Before != "" || ch.After != "" {
		d.Lines = append(d.Lines, "")
		var b strings.Builder
		for _, side := range []struct{ mark, text string }{{"-", ch.Before}, {"+", ch.After}} {
			for line := range strings.Lines(side.text) {
				b.WriteString(side.mark + strings.TrimRight(line, "\n") + "\n")
			}
		}
		d.Lines = append(d.Lines, pane.DiffLines(th, w, b.String())...)
	}
	return d.Lines
}
