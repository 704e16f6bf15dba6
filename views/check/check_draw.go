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
	if c.Server != nil {
		p.Title += " of " + safe.Line(c.Server.Title(), 60)
	}
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
	return min(max(v.table.List.Len()+2, 6), h*3/5)
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

func countsText(n check.Counts) string {
	out := text.Count(n.Error, "error") + " · " + text.Count(n.Warning, "warning") + fmt.Sprintf(" · %d info", n.Info)
	if n.Ignored > 0 {
		out += fmt.Sprintf(" · %d ignored", n.Ignored)
	}
	return out
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
	return countsText(n) + " · " + text.Duration(x.took)
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

// partMark is the sign of a section, a word for it, and its style.
func partMark(th *tui.Theme, p *checkPart) (sign, word string, style paint.Style) {
	n := p.counts
	switch {
	case p.state == awaited:
		return "·", "not yet", th.Muted
	case p.state == underWay:
		return tui.Changing.Glyph(), strings.TrimSpace("running " + progressText(p.progress)), th.Warn
	case p.absent != "":
		return "–", safe.Line(p.absent, 80), th.Muted
	case p.state == leftOut || p.report.Error == check.Interrupted:
		return "–", "cancelled", th.Muted
	case p.report.Error != "":
		return "✗", "not finished", th.Error
	case n.Error > 0:
		return "✗", countsText(n), th.Error
	case n.Warning > 0:
		return "!", countsText(n), th.Warn
	case n.Info > 0:
		return "✓", countsText(n), th.OK
	}
	return "✓", "no findings", th.OK
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
		sign, word, style := partMark(th, p)
		out := style.S(sign) + " " + paint.Fit(v.table.Query.Highlight(p.name, th.Heading, th.Match), 9) + style.S(word)
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
	rule, wide, most := f.ID, 34, 24
	if w < 100 {
		_, rule, _ = strings.Cut(f.ID, "/")
		wide, most = 24, 16
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
		return v.partLines(c, w, p, x)
	}
	return nil
}

func (v *checkScreen) partLines(c *tui.Ctx, w int, p *checkPart, x *examination) []string {
	th := c.Theme
	l := pane.NewDetails(th, w)
	sign, word, style := partMark(th, p)
	l.Whole(style, sign+" "+word)
	l.Paragraph(th.Text, p.title)
	if key := c.KeyOf("check.accept"); p.absent != "" && p.name == contractSection && key != "" {
		l.Note(key + " makes one of what the server offers now.")
	}
	if key := c.KeyOf("call.keep"); p.absent != "" && p.name == "cases" && key != "" {
		l.Note(key + " on the result of a call saves it as one.")
	}
	if p.state == examined {
		took := text.Duration(time.Duration(p.report.Millis * float64(time.Millisecond)))
		if x.report != nil {
			l.Note(looked(p.rules, x.report.Server) + " in " + took)
		}
	}
	switch p.report.Error {
	case "":
	case check.Interrupted:
		l.Note("What was found until then is listed.")
	default:
		l.Paragraph(th.Error, safe.Text(text.Clip(p.report.Error, 2000)))
	}
	plotLines(l, p.progress, w)
	if len(p.report.Table) > 0 {
		l.Lines = append(l.Lines, "")
		l.Lines = append(l.Lines, tableLines(th, w, p.report.Table)...)
	}
	for _, n := range p.report.Notes {
		l.Lines = append(l.Lines, "")
		l.Note(safe.Text(n))
	}
	outcomeLines(l, th, p)
	return l.Lines
}

// plotLines draw what a section measures, or measured last.
func plotLines(l *pane.Details, g check.Progress, w int) {
	if len(g.Plots) == 0 {
		return
	}
	const label = 14
	l.Heading(safe.Line(g.What, 60))
	for _, p := range g.Plots {
		last := safe.Line(p.Last, 60)
		l.Row(p.Name, widget.Spark(p.Values, w-label-paint.Width(last)-2)+"  "+last)
	}
}

// outcomeLines are what a section tried, one thing after the other: what did not hold with the first that it found, then what did.
func outcomeLines(l *pane.Details, th *tui.Theme, p *checkPart) {
	if p.absent != "" || len(p.report.Outcomes) == 0 && p.name != "cases" {
		return
	}
	l.Heading("Tried")
	failed := map[check.Place]bool{}
	for i := range p.findings {
		f := &p.findings[i]
		if at := f.Place; at.Kind == check.OfCall && !failed[at] && len(failed) < maxTable {
			failed[at] = true
			mark := pages.SeverityMark(f.Severity)
			l.Whole(mark.Tone.Style(th), safe.Line(mark.Glyph+" "+at.Name+": "+text.FirstLine(f.Message), 300))
		}
	}
	for i, o := range p.report.Outcomes {
		what := o.Place.Name
		if o.Place.Kind != check.OfCall { // many rules at one place
			what = strings.TrimSpace(o.Rule + " " + what)
		}
		switch {
		case i == maxTable:
			l.Note(fmt.Sprintf("… and %d more", len(p.report.Outcomes)-i))
			return
		case o.Verdict == check.Skipped:
			l.Whole(th.Muted, safe.Line("– "+what+": "+o.Why, 300))
		case o.Millis > 0:
			l.Whole(th.OK, safe.Line("✓ "+what+" "+text.Duration(time.Duration(o.Millis*float64(time.Millisecond))), 300))
		default:
			l.Whole(th.OK, safe.Line("✓ "+what, 300))
		}
	}
}

// maxTable is how many rows of a section's table are drawn.
const maxTable = 500

// tableLines is a table with a heading, its first column as wide as there is room.
func tableLines(th *tui.Theme, w int, rows [][]string) (out []string) {
	rows = rows[:min(len(rows), maxTable)]
	wide := make([]int, len(rows[0]))
	rest := 0
	for i := range wide {
		wide[i] = pane.Widest(len(rows), 60, func(r int) string {
			if i < len(rows[r]) {
				return rows[r][i]
			}
			return ""
		})
		if i > 0 {
			rest += wide[i] + 2
		}
	}
	wide[0] = max(min(wide[0], w-rest), 8)
	for n, row := range rows {
		style, line := th.Text, ""
		if n == 0 {
			style = th.Muted
		}
		for i, cell := range row[:min(len(row), len(wide))] {
			cell = paint.Fit(safe.Line(cell, wide[i]), wide[i])
			if i > 0 {
				cell = "  " + cell
			}
			line += cell
		}
		out = append(out, style.S(paint.Cut(strings.TrimRight(line, " "), w)))
	}
	return out
}

// page is the sections that ended, with their findings.
func (v *checkScreen) page(c *tui.Ctx) page.Page {
	p, x := page.Page{}, v.runs[v.server]
	if x == nil {
		p.Line(page.Plain, "Nobody examined this server yet.")
		return p
	}
	if x.err != nil {
		p.Line(page.Bad, x.err.Error())
	}
	for _, r := range v.rows {
		part := &v.parts[r.part]
		if r.finding >= 0 {
			p.Text(page.Plain, "  "+strings.ReplaceAll(pages.FindingLine(&part.findings[r.finding]), "\n", "\n  "))
			continue
		}
		_, word, _ := partMark(c.Theme, part)
		p.Line(page.Plain, part.name+": "+word)
	}
	p.Foot = v.summary(x)
	return p
}
