package servers

import (
	"cmp"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// registryRows draws the list of published servers.
type registryRows struct {
	v *registryScreen
	c *tui.Ctx
}

// Len is the number of servers.
func (r registryRows) Len() int { return len(r.v.list.Servers) }

// Row is a server's name, version, kinds and what it says of itself.
func (r registryRows) Row(i, w int) string {
	th, s := r.c.Theme, r.v.list.Servers[i]
	name := r.v.Query.Highlight(safe.Line(s.Name, 200), th.Text, th.Match)
	out := pane.Column(name, r.v.nameCol, w)
	what := s.Version
	if s.Kinds != "" {
		what += " · " + strings.ReplaceAll(s.Kinds, " ", ", ")
	}
	if room := w - paint.Width(out) - 2; room > 6 {
		if s.Status != "" {
			out += "  " + th.Warn.S(paint.Cut("! "+safe.Line(s.Status, 20), room))
			room = w - paint.Width(out) - 2
		}
		if room > 6 {
			out += "  " + th.Muted.S(paint.Cut(safe.Line(what+" · "+cmp.Or(s.Title, s.Description), 4*room), room))
		}
	}
	return out
}

// details are all that is known of the server under the cursor.
func (v *registryScreen) details(c *tui.Ctx, w int) []string {
	s := v.selected()
	if s == nil {
		return pane.Message(c.Theme, w, "No server is selected.", "")
	}
	l := pane.NewDetails(c.Theme, w)
	l.Row("name", s.Name)
	l.Row("version", s.Version)
	if s.Title != "" {
		l.Row("title", s.Title)
	}
	if v.entry.Document == nil || v.entry.Name != s.Name {
		l.Row("about", s.Description)
		if v.badOf != nil {
			l.Note("", "✗ "+v.badOf.Error())
		}
		return l.Lines
	}
	e := v.entry
	l.Row("about", e.Description)
	status := cmp.Or(e.Status, "not said")
	if e.Message != "" {
		status += ": " + e.Message
	}
	if e.Status == "deprecated" || e.Status == "deleted" {
		status = "! " + status
	}
	l.Row("status", status)
	l.Row("publisher", registry.Namespace(e.Name))
	l.Row("repository", cmp.Or(e.Repository.URL, "none is named"))
	if e.WebsiteURL != "" {
		l.Row("website", e.WebsiteURL)
	}
	if !e.Updated.IsZero() {
		l.Row("updated", e.Updated.Local().Format(time.DateOnly))
	}
	for _, way := range e.Candidates(v.from.Look) {
		v.wayLines(c, l, way)
	}
	return l.Lines
}

// wayLines add one way to reach the server: whether it can be taken here, and what it asks for.
func (v *registryScreen) wayLines(c *tui.Ctx, l *pane.Details, way registry.Candidate) {
	l.Lines = append(l.Lines, "")
	title := "▸ " + safe.Line(way.Title, 300)
	if way.Refused != nil || way.Missing != "" {
		title = "✗ " + safe.Line(way.Title, 300)
	}
	l.Lines = append(l.Lines, c.Theme.Heading.S(title))
	switch {
	case way.Refused != nil:
		l.Row("", way.Refused.Error())
	case way.Missing != "":
		l.Row("needs", way.Missing)
	case way.Bundle != nil:
		l.Row("bundle", way.Bundle.URL)
	}
	for _, warning := range way.Warnings {
		l.Row("!!", warning)
	}
	for n, i := range way.Inputs {
		label := ""
		if n == 0 {
			label = "asks for"
		}
		what := i.Name
		switch {
		case i.Required && i.Default == "":
			what += " (required)"
		case i.Default != "":
			what += " (default " + i.Default + ")"
		}
		if i.Secret {
			what += " (secret)"
		}
		l.Row(label, what)
	}
}
