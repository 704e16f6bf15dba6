package servers

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/client/persona"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

type personaRows struct {
	v *personas
	c *tui.Ctx
}

// Len is the number of clients that are known.
func (r personaRows) Len() int { return len(r.v.all) }

// Row is a client, marked if it is the one that the server sees.
func (r personaRows) Row(i, w int) string {
	th, p := r.c.Theme, r.v.all[i]
	mark := th.Muted.S("○ ")
	if i == r.v.current(r.c.Server) {
		mark = th.OK.S("● ")
	}
	out := pane.Column(mark+r.v.Query.HighlightName(safe.Line(p.Name, 60), th.Text, th.Match), 14, w)
	return out + "  " + th.Muted.S(safe.Line(p.Called(), 80))
}

func (v *personas) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "list" {
		if p.Same(c, v.Rev, v.List.Selected(), c.Server) {
			return nil
		}
		v.List.SetRows(personaRows{v, c}) // rows carry the theme
		v.DrawList(c, p, func(w int) []string { return pane.NothingMatches(c.Theme, w, v.Typed) })
		p.Title = "Personas"
		if c.Server != nil {
			p.Title = "Presented to " + safe.Line(c.Server.Title(), 60)
		}
		return nil
	}
	at := v.selected().Name
	if c.Server != nil {
		at = v.key(c.Server.Name(), at)
	}
	if v.at != at {
		v.at, v.detail.Top = at, 0
	}
	if p.Same(c, v.Rev, at, v.detail.Top) {
		return nil
	}
	p.Title = safe.Line(v.selected().Called(), 60)
	v.detail.Draw(p, v.lines(c, p.W))
	return nil
}

func (v *personas) lines(c *tui.Ctx, w int) []string {
	d := pane.NewDetails(c.Theme, w)
	p := v.selected()
	if p.Name == "" {
		return nil
	}
	if c.Server != nil {
		if seen, ok := v.seen[v.key(c.Server.Name(), p.Name)]; ok {
			d.Lines = append(comparisonLines(c.Theme, w, safe.Line(c.Server.Title(), 60), seen), "")
		}
	}
	if p.Name == asStarted {
		d.Note("What is advertised then follows from who answers: a person here, flags, and the roots that were given.")
		return d.Lines
	}
	d.Lines = append(d.Lines, c.Theme.Heading.S(safe.Line(p.Called(), w)))
	pane.ClientRows(d, p.Client())
	d.Row("source", p.Source)
	return d.Lines
}

// comparisonLines is what a server offers to a persona and not here, and the other way round.
func comparisonLines(th *tui.Theme, w int, server string, c persona.Comparison) []string {
	d := pane.NewDetails(th, w)
	name := safe.Line(c.Persona.Name, 60)
	if c.Same() {
		d.Lines = append(d.Lines, th.OK.S("✓ ")+th.Text.S(safe.Line(server+" offers the same to the client "+name, w-2)))
	} else {
		d.Lines = append(d.Lines, th.Warn.S("≠ ")+th.Text.S(safe.Line(server+" offers something else to "+name, w-2)))
	}
	for _, l := range c.Lists {
		count, kind := fmt.Sprint(l.After), listName(l.Kind)
		if l.Before != l.After {
			count += fmt.Sprintf(" (here %d)", l.Before)
		}
		switch {
		case l.Err != nil:
			d.Styled(kind, th.Error.S("✗ refused"))
			d.Lines = append(d.Lines, pane.ErrorLines(th, w, l.Err)...)
		case !l.Changes.Some():
			d.Styled(kind, th.Text.S(count)+th.Muted.S(", the same"))
		default:
			d.Styled(kind, th.Text.S(count))
		}
		each := func(names []string, n int, mark, word string) {
			for _, key := range names {
				d.Lines = append(d.Lines, "  "+mark+" "+th.Text.S(safe.Line(key, max(w-26, 20)))+"  "+th.Muted.S(word))
				if m := l.Marks[key]; !m.Added && m.Diff != "" && len(d.Lines) < pane.MaxUpdateLines {
					d.Lines = append(d.Lines, pane.DiffLines(th, w, m.Diff)...)
				}
			}
			if more := n - len(names); more > 0 {
				d.Note(fmt.Sprintf("  … and %d more %s", more, word))
			}
		}
		each(l.Changes.Removed, l.Changes.NRemoved, th.Error.S("−"), "not offered")
		each(l.Changes.Added, l.Changes.NAdded, th.OK.S("+"), "only there")
		each(l.Changes.Changed, l.Changes.NChanged, th.Warn.S("~"), "differs")
	}
	if c.Capabilities {
		d.Styled("server", th.Warn.S("~ ")+th.Text.S("advertises other capabilities"))
	}
	if c.Instructions {
		d.Styled("server", th.Warn.S("~ ")+th.Text.S("gives other instructions"))
	}
	d.Note("Asked over protocol " + safe.Line(c.Version, 20) + ".")
	return d.Lines
}

func listName(kind offer.Kind) string {
	if kind == offer.Templates {
		return "templates"
	}
	return kind.String()
}

func (v *personas) plain(c *tui.Ctx, w io.Writer) {
	for i, p := range v.all {
		if !c.Linear { // else they are the numbered list
			fmt.Fprintln(w, v.label(c, i))
		}
		if c.Server == nil {
			continue
		}
		if seen, ok := v.seen[v.key(c.Server.Name(), p.Name)]; ok {
			fmt.Fprintf(w, "%s offers to %s:\n", safe.Line(c.Server.Title(), 60), p.Name)
			for _, l := range seen.Lists {
				fmt.Fprintf(w, "  %s: %d, here %d; %s\n", listName(l.Kind), l.After, l.Before, cmp.Or(safe.Line(plainChanges(l.Changes), 400), "the same"))
			}
		}
	}
}

// label is a row as a line.
func (v *personas) label(c *tui.Ctx, i int) string {
	s := v.all[i].Name + ": " + v.all[i].Called()
	if i == v.current(c.Server) {
		s += ", presented now"
	}
	return s
}

// plainChanges is what a persona is offered otherwise, in a line.
func plainChanges(c offer.Changes) string {
	var out []string
	for _, x := range []struct {
		word  string
		names []string
	}{{"not offered", c.Removed}, {"only there", c.Added}, {"differs", c.Changed}} {
		if len(x.names) > 0 {
			out = append(out, x.word+": "+strings.Join(x.names, ", "))
		}
	}
	return strings.Join(out, "; ")
}
