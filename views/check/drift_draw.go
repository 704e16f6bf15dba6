package check

import (
	"strings"

	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
)

// classMark is what a change means for whoever uses the server.
func classMark(class contract.Class) page.Mark {
	m := page.Mark{Glyph: "✓", Word: string(class), Tone: page.Good}
	switch class {
	case contract.Security, contract.Breaking:
		m.Glyph, m.Tone = "✗", page.Bad
	case contract.Behaviour:
		m.Glyph, m.Tone = "!", page.Warn
	case contract.Review:
		m.Glyph, m.Tone = "?", page.Warn
	case contract.Compatible:
	}
	return m
}

// page is the changes of the current server.
func (v *drift) page(c *tui.Ctx) page.Page {
	d, p := v.current(c), page.Page{}
	var changes []contract.Change
	if d != nil {
		changes = d.changes
		p.Title, p.Foot = strings.ToUpper(d.heading()[:1])+d.heading()[1:], summary(changes)
	}
	switch {
	case c.Server == nil:
		p.None = [2]string{"No server is open.", "Press 1 for the servers."}
	case d != nil && d.locked:
		p.None = [2]string{c.Server.Title() + " offers what " + contract.FileName + " says.", "Changes are listed here as they come."}
	default:
		p.None = [2]string{c.Server.Title() + " changed nothing since you looked.", c.KeyOf("drift.accept") + " makes a lock of what it offers now, to compare with from then on."}
	}
	if len(changes) > 0 {
		p.Framed("", d.heading())
	}
	p.Table = page.Table{Columns: []page.Column{{Cells: 12}, {Cells: 1, Found: true, On: page.Drawn}, {On: page.Printed}, {}}, Len: len(changes), Row: func(i int) page.Row {
		ch := changes[i]
		return page.Row{Cells: []page.Text{classMark(ch.Class).Text(), {S: ch.Place.Name}, {S: ch.Place.String()}, {S: ch.Message, Tone: page.Quiet}}}
	}}
	return p
}

// change is a change, why it matters, what to do, and what was there before and after.
func (v *drift) change(c *tui.Ctx, _ int) page.Page {
	ch, _ := v.selected(c)
	p := page.Page{}
	p.Styled("class", classMark(ch.Class).Text()).Field("where", ch.Place.String()).Field("what", ch.Message)
	if r := rules.Find("contract", ch.Rule); r != nil {
		p.Field("why", r.Why).Field("rule", r.ID)
	}
	if ch.Before != "" || ch.After != "" {
		p.Line(page.Plain, "")
		var b strings.Builder
		for _, side := range []struct{ mark, text string }{{"-", ch.Before}, {"+", ch.After}} {
			for line := range strings.Lines(side.text) {
				b.WriteString(side.mark + strings.TrimRight(line, "\n") + "\n")
			}
		}
		p.Diff(b.String())
	}
	return p
}
