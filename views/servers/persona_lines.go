package servers

import (
	"fmt"

	"github.com/mcphud/mcphud/session/client/persona"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pane"
)

// page is the clients, that which the server sees marked, with what it offers to each that was compared.
func (v *personas) page(c *tui.Ctx) page.Page {
	p, now := page.Page{}, v.current(c.Server)
	p.Table = page.Table{Columns: []page.Column{{Cells: 1}, {Cells: 13, Found: true}, {}, {On: page.Printed}}, Len: len(v.all), Row: func(i int) page.Row {
		r := page.Row{Cells: []page.Text{{S: "○", Tone: page.Quiet}, {S: v.all[i].Name}, {S: v.all[i].Called(), Tone: page.Quiet}, {}}}
		if i == now {
			r.Cells[0], r.Cells[3].S = page.Text{S: "●", Tone: page.Good}, "presented now"
		}
		if seen, ok := v.compared(c, v.all[i].Name); ok {
			var below page.Page
			compared(&below, c.Server.Title(), seen)
			r.Below = []string{below.Print(0)}
		}
		return r
	}}
	return p
}

// compared is what the current server offers to a client otherwise than here, if it was compared.
func (v *personas) compared(c *tui.Ctx, name string) (seen persona.Comparison, ok bool) {
	if c.Server != nil {
		seen, ok = v.seen[v.key(c.Server.Name(), name)]
	}
	return seen, ok
}

// about is a client, and what the server offers to it.
func (v *personas) about(c *tui.Ctx, i int) page.Page {
	is := v.all[i]
	p := page.Page{Title: is.Called()}
	if seen, ok := v.compared(c, is.Name); ok {
		compared(&p, c.Server.Title(), seen)
		p.Line(page.Plain, "")
	}
	if is.Name == asStarted {
		p.Note("What is advertised then follows from who answers: a person here, flags, and the roots that were given.")
		return p
	}
	p.Line(page.Heading, is.Called())
	pane.ClientRows(&p, is.Client())
	p.Field("source", is.Source)
	return p
}

// compared adds what a server offers to a persona and not here, and the other way round.
func compared(p *page.Page, server string, c persona.Comparison) {
	if c.Same() {
		p.Line(page.Good, "✓ "+server+" offers the same to the client "+c.Persona.Name)
	} else {
		p.Line(page.Warn, "≠ "+server+" offers something else to "+c.Persona.Name)
	}
	diffs := 0
	for _, l := range c.Lists {
		count, kind := fmt.Sprint(l.After), listName(l.Kind)
		if l.Before != l.After {
			count += fmt.Sprintf(" (here %d)", l.Before)
		}
		switch {
		case l.Err != nil:
			p.Styled(kind, page.Text{S: "✗ refused: " + pane.ErrorText(l.Err), Tone: page.Bad})
		case !l.Changes.Some():
			p.Field(kind, count+", the same")
		default:
			p.Field(kind, count)
		}
		each := func(names []string, n int, tone page.Tone, mark, word string) {
			for _, key := range names {
				p.Item(page.Text{S: "  " + mark, Tone: tone}, key+" ", word)
				if m := l.Marks[key]; !m.Added && m.Diff != "" && diffs < pane.MaxUpdateLines {
					p.Diff(m.Diff)
					diffs += 10
				}
			}
			if more := n - len(names); more > 0 {
				p.Note(fmt.Sprintf("  … and %d more %s", more, word))
			}
		}
		each(l.Changes.Removed, l.Changes.NRemoved, page.Bad, "−", "not offered")
		each(l.Changes.Added, l.Changes.NAdded, page.Good, "+", "only there")
		each(l.Changes.Changed, l.Changes.NChanged, page.Warn, "~", "differs")
	}
	if c.Capabilities {
		p.Styled("server", page.Text{S: "~ advertises other capabilities", Tone: page.Warn})
	}
	if c.Instructions {
		p.Styled("server", page.Text{S: "~ gives other instructions", Tone: page.Warn})
	}
	p.Note("Asked over protocol " + c.Version + ".")
}

func listName(kind offer.Kind) string {
	if kind == offer.Templates {
		return "templates"
	}
	return kind.String()
}
