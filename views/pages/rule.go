package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/tui/page"
)

// ViolationMark is how bad it is to break a rule about messages.
func ViolationMark(s rules.Severity) page.Mark {
	mark := SeverityMark(s)
	mark.Word = live.Word(s)
	return mark
}

// ruleMark is how bad what a rule finds is.
func ruleMark(r *rules.Rule) page.Mark {
	if r.By != "" {
		return ViolationMark(r.Severity)
	}
	return SeverityMark(r.Severity)
}

// BrokenBy is who breaks a rule.
func BrokenBy(p rules.Party) string {
	switch p {
	case "":
		return ""
	case rules.Sender:
		return "whoever sent the message"
	case rules.Receiver:
		return "whoever was asked"
	}
	return "the " + string(p)
}

// Rules lists rules.
func Rules(all []*rules.Rule) page.Page {
	return page.Page{Table: page.Table{
		Columns: []page.Column{{Name: "RULE", Found: true}, {Name: "SEVERITY"}, {Name: "BY"}, {Name: "WHAT"}}, Len: len(all),
		Row: func(i int) page.Row {
			r := all[i]
			return page.Row{Cells: []page.Text{{S: r.ID}, {S: ruleMark(r).Word}, {S: string(r.By)}, {S: r.Title}}}
		},
	}}
}

// Rule is all of a rule.
func Rule(r *rules.Rule) page.Page {
	p := page.Page{Title: r.ID}
	p.Field("rule", r.ID).Field("severity", ruleMark(r).Word).Field("broken by", BrokenBy(r.By)).Field("wrong", r.Title).Field("why", r.Why).Field("fix", r.Fix).
		Field("clients", strings.Join(r.Clients, ", "))
	if r.By == "" {
		return *p.Field("source", r.Source).Field("read", r.Read)
	}
	p.Line(page.Plain, "")
	for _, revision := range r.Revisions() {
		p.Line(page.Link, r.Link(revision))
	}
	return p
}

// Broken is what breaks the protocol in recorded traffic, by rule.
func Broken(r *live.Report) page.Page {
	var p page.Page
	more := 0
	for _, g := range r.Groups {
		p.Line(page.Plain, fmt.Sprintf("%s %s: %s (%d)", ViolationMark(g.Rule.Severity), g.Rule.ID, g.Rule.Title, len(g.Findings)))
		var rows [][]string
		var sections []string // one for each revision
		for i := range g.Findings {
			f := &g.Findings[i]
			rows = append(rows, []string{fmt.Sprintf("  #%d", f.Seq), string(f.By), f.Server, f.Method, f.Evidence})
			if s := f.Section(); !slices.Contains(sections, s) {
				sections = append(sections, s)
			}
		}
		p.Rows(false, rows).Item(page.Text{S: " "}, "", g.Rule.Fix)
		for _, s := range sections {
			p.Item(page.Text{S: " ", Tone: page.Code}, "", s)
		}
		p.Line(page.Plain, "")
		more += g.Count - len(g.Findings)
	}
	s := BrokenIn(r)
	if more > 0 {
		s += fmt.Sprintf("; %d more findings of the same rules are not listed", more)
	}
	return *p.Line(page.Plain, s)
}

// BrokenIn is how much was found in how much.
func BrokenIn(r *live.Report) string {
	frames := text.Count(r.Frames, "frame")
	out := "nothing broken in " + frames
	if r.Total() > 0 {
		out = text.Count(r.Count[rules.Error], "error") + ", " + text.Count(r.Count[rules.Warning], "warning") + ", " + text.Count(r.Count[rules.Info], "note") + " in " + frames
	}
	if r.Unchecked > 0 {
		out += "; " + text.Count(r.Unchecked, "frame was", "frames were") + " not validated by the schema"
	}
	return out
}
