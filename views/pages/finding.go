package pages

import (
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/tui/page"
)

// SeverityMark is how bad something is.
func SeverityMark(s rules.Severity) page.Mark {
	switch s {
	case rules.Error:
		return page.Mark{Glyph: "✗", Word: s.String(), Tone: page.Bad}
	case rules.Warning:
		return page.Mark{Glyph: "!", Word: s.String(), Tone: page.Warn}
	}
	return page.Mark{Glyph: "·", Word: s.String(), Tone: page.Busy}
}

// Finding is all of a finding.
func Finding(f *check.Finding) page.Page {
	p, mark := page.Page{Title: f.ID}, SeverityMark(f.Severity)
	mark.Word += ": " + f.Rule.Title
	sure := ""
	if f.Sure != check.Certain {
		sure = string(f.Sure)
	}
	head := mark.Text(sure)
	p.Line(head.Tone, head.S).Line(page.Plain, "").Line(page.Plain, text.Clip(f.Message, 2000)).Field("at", f.Place.String()).
		Field("clients", strings.Join(f.Clients, ", ")).Field("ignored", f.Ignored).Field("why", f.Rule.Why).Field("fix", f.Fix)
	if f.Repro != "" {
		p.Heading("Shown by").Text(page.Code, f.Repro)
	}
	if f.Evidence != "" {
		p.Heading("Evidence").Text(page.Plain, strings.TrimRight(f.Evidence, "\r\n"))
	}
	if f.Rule.Source != "" {
		p.Heading("Source").Line(page.Link, f.Rule.Source).Note("read on " + f.Rule.Read)
	}
	return p
}
