package check

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/widget"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
)

func (v *checkScreen) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	x := v.runs[v.server]
	if p.Same(c, v.table.Rev, v.seen, v.detail.Top, v.table.List.Selected(), v.running(), c.Server, pane.Offline(c)) {
		return nil
	}
	p.Badge, p.Foot = "", ""
	if p.ID == "detail" {
		part, f := v.selected()
		p.Title = "Section"
		if f != nil {
			p.Title = f.ID
		} else if part != nil {
			p.Title = part.name
		}
		v.detail.Draw(p, v.lines(c, p.W))
		return nil
	}
	p.Title = "Check"
	if x != nil {
		p.Foot = v.summary(x)
	}
	p.Badge = v.narrowed()
	v.table.List.SetRows(checkRows{v, c})
	v.table.DrawList(c, p, func(w int) []string {
		switch {
		case c.Server == nil:
			return pane.Message(c.Theme, w, "No server is open.", "Press 1 for the servers.")
		case v.with.Sections == nil:
			return pane.Message(c.Theme, w, "There are no sections here.", "mcphud check in a shell has them.")
		case x == nil && c.Server.Status().State == session.Connecting:
			return pane.Message(c.Theme, w, "The server is connecting.", "It is examined as soon as it is connected.")
		case x == nil && pane.Offline(c) != "":
			return pane.Message(c.Theme, w, "The server is not connected.", "Press "+c.KeyOf("check.run")+" to connect and examine it, or 1 for the servers.")
		case x == nil:
			return pane.Message(c.Theme, w, "Nobody examined this server yet.", "Press "+c.KeyOf("check.run")+" to examine it.")
		case v.table.Typed == "":
			return pane.Message(c.Theme, w, "Nothing is listed.", "Press "+c.KeyOf("check.only")+" for another section.")
		}
		return pane.NothingMatches(c.Theme, w, v.table.Typed)
	})
	return nil
}

// firstRows leaves what a short list does not need to the details.
func (v *checkScreen) firstRows(_ *tui.Ctx, _, h int) int {
	return min(max(v.table.List.Len()+1, 5), h*3/5)
}

// narrowed says what is not listed.
func (v *checkScreen) narrowed() string {
	var out []string
	if v.only != "" {
		out = append(out, v.only)
	}
	switch v.least {
	case check.Warning:
		out = append(out, "warnings and errors")
	case check.Error:
		out = append(out, "errors")
	}
	return strings.Join(out, ": ")
}

// counts are the findings of all sections, and how many rules looked for them.
func (v *checkScreen) counts() (n check.Counts, rules int) {
	for _, p := range v.parts {
		n.Error += p.counts.Error
		n.Warning += p.counts.Warning
		n.Info += p.counts.Info
		n.Ignored += p.counts.Ignored
		if p.state == examined {
			rules += p.rules
		}
	}
	return n, rules
}

// summary is an examination in a few words.
func (v *checkScreen) summary(x *examination) string {
	n, rules := v.counts()
	if x.op != 0 {
		for _, p := range v.parts {
			if p.state == underWay {
				return strings.TrimSpace(p.name + "… " + progressText(p.progress) + " " + tui.Elapsed(time.Since(x.began)))
			}
		}
		return strings.TrimSpace("listing… " + tui.Elapsed(time.Since(x.began)))
	}
	switch {
	case x.err != nil:
		return "failed"
	case n == check.Counts{} && x.report != nil:
		return "no findings: " + looked(rules, x.report.Server)
	}
	return n.String() + " · " + text.Duration(x.took)
}

// looked says what rules looked at.
func looked(rules int, s check.ServerReport) string {
	out := text.Count(rules, "rule") + " looked at " + text.Count(s.Tools, "tool")
	if s.Prompts > 0 {
		out += ", " + text.Count(s.Prompts, "prompt")
	}
	if n := s.Resources + s.Templates; n > 0 {
		out += ", " + text.Count(n, "resource")
	}
	return out
}

// progressText is for example "120/5000".
func progressText(p check.Progress) string {
	switch {
	case p.Total > 0:
		return fmt.Sprintf("%d/%d", p.Done, p.Total)
	case p.Done > 0:
		return fmt.Sprint(p.Done)
	}
	return ""
}

// mark is how a section went.
func (part *checkPart) mark() page.Mark {
	n := part.counts
	switch {
	case part.state == awaited:
		return page.Mark{Glyph: "·", Word: "not yet", Tone: page.Quiet}
	case part.state == underWay:
		return page.Mark{Glyph: tui.Changing.Glyph(), Word: strings.TrimSpace("running " + progressText(part.progress)), Tone: page.Warn}
	case part.absent != "":
		return page.Mark{Glyph: "–", Word: part.absent, Tone: page.Quiet}
	case part.state == leftOut || part.report.Error == check.Interrupted:
		return page.Mark{Glyph: "–", Word: "cancelled", Tone: page.Quiet}
	case part.report.Error != "":
		return page.Mark{Glyph: "✗", Word: "not finished", Tone: page.Bad}
	case n.Error > 0:
		return page.Mark{Glyph: "✗", Word: n.String(), Tone: page.Bad}
	case n.Warning > 0:
		return page.Mark{Glyph: "!", Word: n.String(), Tone: page.Warn}
	}
	return page.Mark{Glyph: "✓", Word: n.String(), Tone: page.Good}
}

// checkRows draws sections and findings.
type checkRows struct {
	v *checkScreen
	c *tui.Ctx
}

// Len is the number of rows.
func (r checkRows) Len() int { return len(r.v.rows) }

// Row is a section with its outcome, or a finding: severity, rule, place and message.
func (r checkRows) Row(i, w int) string {
	v, th := r.v, r.c.Theme
	at := v.rows[i]
	p := &v.parts[at.part]
	if at.finding < 0 {
		mark := p.mark()
		style := mark.Tone.Style(th)
		out := style.S(mark.Glyph) + " " + paint.Fit(v.table.Query.Highlight(p.name, th.Heading, th.Match), 9) + style.S(safe.Line(mark.Word, 80))
		if room := w - paint.Width(out) - 2; room > 12 {
			out += "  " + th.Muted.S(safe.Line(p.title, room))
		}
		return paint.Cut(out, w)
	}
	f := &p.findings[at.finding]
	mark := pages.SeverityMark(f.Severity)
	style := mark.Tone.Style(th)
	if f.Ignored != "" {
		style = th.Muted
	}
	rule, wide, most := f.ID, min(34, v.ruleCol), 24
	if w < 100 {
		_, rule, _ = strings.Cut(f.ID, "/")
		wide, most = min(24, v.wordCol), 16
	}
	out := "  " + style.S(paint.Fit(mark.String(), 10)) + pane.Column(v.table.Query.Highlight(rule, th.Text, th.Match), wide, w) + "  "
	place := f.Place.Name
	if place == "" {
		place = f.Place.Kind
	}
	out += pane.Column(v.table.Query.Highlight(safe.Line(place, 40), th.Accent, th.Match), most, w)
	if room := w - paint.Width(out) - 2; room > 8 {
		out += "  " + v.table.Query.Highlight(safe.Line(text.Clip(text.FirstLine(f.Message), 4*room), room), th.Muted, th.Match)
	}
	return paint.Cut(out, w)
}

// lines are the details of the row under the cursor.
func (v *checkScreen) lines(c *tui.Ctx, w int) []string {
	p, f := v.selected()
	x, th := v.runs[v.server], c.Theme
	switch {
	case x != nil && x.err != nil && f == nil:
		return append(pane.ErrorLines(th, w, x.err), "", th.Muted.S(c.KeyOf("check.run")+" tries again"))
	case f != nil:
		p := pages.Finding(f)
		return p.Lines(th, w)
	case p != nil:
		about := v.about(c, w, p, x)
		return about.Lines(th, w)
	}
	return nil
}

// about is a section, with what it measures or measured last in w cells.
func (v *checkScreen) about(c *tui.Ctx, w int, part *checkPart, x *examination) page.Page {
	var p page.Page
	mark := part.mark()
	p.Line(mark.Tone, mark.String()).Line(page.Plain, part.title)
	if key := c.KeyOf("check.accept"); part.absent != "" && part.name == contractSection && key != "" {
		p.Note(key + " makes one of what the server offers now.")
	}
	if key := c.KeyOf("call.keep"); part.absent != "" && part.name == "cases" && key != "" {
		p.Note(key + " on the result of a call saves it as one.")
	}
	if part.state == examined && x.report != nil {
		p.Note(looked(part.rules, x.report.Server) + " in " + text.Duration(time.Duration(part.report.Millis*float64(time.Millisecond))))
	}
	switch part.report.Error {
	case "":
	case check.Interrupted:
		p.Note("What was found until then is listed.")
	default:
		p.Line(page.Bad, text.Clip(part.report.Error, 2000))
	}
	if g := part.progress; len(g.Plots) > 0 {
		p.Heading(g.What)
		for _, plot := range g.Plots {
			last := safe.Line(plot.Last, 60)
			p.Field(plot.Name, widget.Spark(plot.Values, w-page.LabelWidth-paint.Width(last)-2)+"  "+last)
		}
	}
	if len(part.report.Table) > 0 {
		p.Line(page.Plain, "").Rows(true, part.report.Table)
	}
	for _, n := range part.report.Notes {
		p.Line(page.Plain, "").Note(n)
	}
	part.tried(&p)
	return p
}

// mostTried is how much of what a section tried is listed.
const mostTried = 500

// tried adds what a section tried, one thing after the other: what did not hold with the first that it found, then what did.
func (part *checkPart) tried(p *page.Page) {
	if part.absent != "" || len(part.report.Outcomes) == 0 && part.name != "cases" {
		return
	}
	p.Heading("Tried")
	failed := map[check.Place]bool{}
	for i := range part.findings {
		f := &part.findings[i]
		if at := f.Place; at.Kind == check.OfCall && !failed[at] && len(failed) < mostTried {
			failed[at] = true
			mark := pages.SeverityMark(f.Severity)
			p.Line(mark.Tone, mark.Glyph+" "+at.Name+": "+text.FirstLine(f.Message))
		}
	}
	for i, o := range part.report.Outcomes {
		what := o.Place.Name
		if o.Place.Kind != check.OfCall { // many rules at one place
			what = strings.TrimSpace(o.Rule + " " + what)
		}
		switch {
		case i == mostTried:
			p.Note(fmt.Sprintf("… and %d more", len(part.report.Outcomes)-i))
			return
		case o.Verdict == check.Skipped:
			p.Line(page.Quiet, "– "+what+": "+o.Why)
		case o.Millis > 0:
			p.Line(page.Good, "✓ "+what+" "+text.Duration(time.Duration(o.Millis*float64(time.Millisecond))))
		default:
			p.Line(page.Good, "✓ "+what)
		}
	}
}

// page is how the sections went, and once the examination is over what they report.
func (v *checkScreen) page(c *tui.Ctx) page.Page {
	p, x := page.Page{}, v.runs[v.server]
	if x == nil {
		return *p.Line(page.Plain, "Nobody examined this server yet.")
	}
	if x.err != nil {
		p.Line(page.Bad, x.err.Error())
	}
	if x.op == 0 && x.report != nil {
		return *p.Text(page.Plain, v.report())
	}
	for i := range v.parts {
		p.Line(page.Plain, v.parts[i].name+": "+v.parts[i].mark().Word)
	}
	p.Foot = v.summary(x)
	return p
}
