package servers

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
)

// page is the list of published servers.
func (v *registryScreen) page(*tui.Ctx) page.Page {
	p := page.Page{Title: "Registry", Counted: true, Foot: v.state(), None: [2]string{v.name + " lists no servers.", "Press r to ask again."}}
	kept := "It is kept on this machine, and searched without a network from then on."
	switch {
	case v.syncing && v.got.Load() > 0:
		p.None = [2]string{fmt.Sprintf("Fetching the list of %s: %d servers so far.", v.name, v.got.Load()), kept}
	case v.syncing || !v.loaded:
		p.None = [2]string{"Fetching the list of servers.", kept}
	case v.err != nil:
		p.None = [2]string{"✗ " + v.err.Error(), "Press r to try again. Which registry is asked is registry.url in config.yaml."}
	}
	p.Table = page.Table{
		Columns: []page.Column{{Cells: v.nameCol, Found: true}, {}, {On: page.Drawn}, {On: page.Printed}, {On: page.Printed}}, Len: len(v.list.Servers), Row: func(i int) page.Row {
			s := v.list.Servers[i]
			status := ""
			if s.Status != "" {
				status = "! " + text.Clip(s.Status, 20)
			}
			what := s.Version
			if s.Kinds != "" {
				what += " · " + strings.ReplaceAll(s.Kinds, " ", ", ")
			}
			return page.Row{Cells: []page.Text{{S: s.Name}, {S: status, Tone: page.Warn}, {S: what + " · " + cmp.Or(s.Title, s.Description), Tone: page.Quiet}, {S: s.Version}, {S: s.Description}}}
		},
	}
	return p
}

// about is all that is known of a server.
func (v *registryScreen) about(_ *tui.Ctx, i int) page.Page {
	s, e, p := v.list.Servers[i], v.entry, page.Page{Title: "Server"}
	p.Field("name", s.Name).Field("version", s.Version).Field("title", s.Title)
	if e.Document == nil || e.Name != s.Name {
		p.Field("about", s.Description)
		if v.badOf != nil {
			p.Line(page.Plain, "").Note("✗ " + v.badOf.Error())
		}
		return p
	}
	status := cmp.Or(e.Status, "not said")
	if e.Message != "" {
		status += ": " + e.Message
	}
	if e.Status == "deprecated" || e.Status == "deleted" {
		status = "! " + status
	}
	p.Field("about", e.Description).Field("status", status).Field("publisher", registry.Namespace(e.Name)).
		Field("repository", cmp.Or(e.Repository.URL, "none is named")).Field("website", e.WebsiteURL)
	if !e.Updated.IsZero() {
		p.Field("updated", e.Updated.Local().Format(time.DateOnly))
	}
	for _, way := range e.Candidates(v.from.Look) {
		addWay(&p, way)
	}
	return p
}

// addWay adds one way to reach the server: whether it can be taken here, and what it asks for.
func addWay(p *page.Page, way registry.Candidate) {
	title := "▸ " + way.Title
	if way.Refused != nil || way.Missing != "" {
		title = "✗ " + way.Title
	}
	p.Heading(title)
	switch {
	case way.Refused != nil:
		p.Field("", way.Refused.Error())
	case way.Missing != "":
		p.Field("needs", way.Missing)
	case way.Bundle != nil:
		p.Field("bundle", way.Bundle.URL)
	}
	for _, warning := range way.Warnings {
		p.Field("!!", warning)
	}
	for n, i := range way.Inputs {
		label, what := "", i.Name
		if n == 0 {
			label = "asks for"
		}
		switch {
		case i.Required && i.Default == "":
			what += " (required)"
		case i.Default != "":
			what += " (default " + i.Default + ")"
		}
		if i.Secret {
			what += " (secret)"
		}
		p.Field(label, what)
	}
}
