package servers

import (
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	doc "github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

func (v *doctor) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	d := v.runs[v.server]
	if p.Same(c, v.Rev, v.seen, v.detail.Top, v.List.Selected(), v.running()) {
		return nil
	}
	p.Badge, p.Foot = "", ""
	if p.ID == "detail" {
		p.Title = "Stage"
		if s := v.selected(); s != nil {
			p.Title = s.Title
		}
		v.detail.Draw(p, v.lines(c, p.W))
		return nil
	}
	p.Title = "Doctor"
	if c.Server != nil {
		p.Title += " of " + safe.Line(c.Server.Title(), 60)
	}
	if d != nil {
		p.Foot = v.summary(d)
	}
	v.List.SetRows(doctorRows{v, c})
	v.DrawList(c, p, func(w int) []string {
		switch {
		case c.Server == nil:
			return pane.Message(c.Theme, w, "No server is open.", "Press 1 for the servers.")
		case d == nil:
			return pane.Message(c.Theme, w, "Nobody looked at this server yet.", "Press "+c.KeyOf("doctor.run")+" to look at it.")
		}
		return pane.NothingMatches(c.Theme, w, v.Typed)
	})
	return nil
}

// summary is a diagnosis in a few words.
func (v *doctor) summary(d *diagnosis) string {
	count := map[doc.Status]int{}
	for _, s := range v.steps {
		count[s.Status]++
	}
	if d.op != 0 {
		return strings.TrimSpace("looking… " + tui.Elapsed(time.Since(d.began)))
	}
	out := fmt.Sprintf("%d ok", count[doc.OK])
	if n := count[doc.Warning]; n > 0 {
		out = text.Count(n, "warning") + " · " + out
	}
	if n := count[doc.Failed]; n > 0 {
		out = fmt.Sprintf("%d failed · ", n) + out
	}
	if d.report != nil {
		out += " · " + text.Duration(d.report.Took)
	}
	return out
}

// lines are the details of the stage under the cursor.
func (v *doctor) lines(c *tui.Ctx, w int) []string {
	s, th := v.selected(), c.Theme
	if s == nil {
		return nil
	}
	l := pane.NewDetails(th, w)
	mark, word, style := stageMark(th, s.Status)
	took := ""
	if s.Took >= time.Millisecond {
		took = " · " + text.Duration(s.Took)
	}
	l.Whole(style, mark+" "+word+took)
	if len(s.Evidence) > 0 {
		l.Paragraph(th.Text, safe.Line(s.Evidence[0], 0))
	}
	if s.Fix != "" {
		l.Heading("What to do")
		l.Bullet(s.Fix)
	}
	switch s.Remedy {
	case failure.LogIn:
		l.Key(c.KeyOf("app.login"), "log in, and see every step of it")
	case failure.TrustServer:
		l.Key("1", "to the servers, where enter asks for trust")
	}
	if len(s.Evidence) > 1 {
		l.Heading("Evidence")
		for _, line := range s.Evidence[1:] {
			l.Bullet(strings.TrimSpace(line))
		}
	}
	return l.Lines
}

// plain is the stages that have begun, with what was seen.
func (v *doctor) plain(c *tui.Ctx, w io.Writer) {
	if len(v.steps) == 0 {
		fmt.Fprintln(w, "Nobody looked at this server yet.")
	}
	for _, s := range v.steps {
		if s.Status != doc.Pending {
			fmt.Fprintln(w, safe.Text(plainStep(s)))
		}
	}
	if d := v.runs[v.server]; d != nil {
		fmt.Fprintln(w, v.summary(d))
	}
}

// choices are the actions that there are now.
func (v *doctor) choices(c *tui.Ctx) (out []tui.Choice) {
	for _, a := range v.actions() {
		if a.Disabled(c) == "" {
			out = append(out, tui.Choice{Label: a.Title, Run: a.Run})
		}
	}
	return out
}

// stageMark is the sign of a stage, a word for it, and its style.
func stageMark(th *tui.Theme, s doc.Status) (sign, word string, style paint.Style) {
	switch s {
	case doc.OK:
		return "✓", "ok", th.OK
	case doc.Warning:
		return "!", "warning", th.Warn
	case doc.Failed:
		return "✗", "failed", th.Error
	case doc.Running:
		return tui.Changing.Glyph(), "running", th.Warn
	case doc.Skipped:
		return "–", "skipped", th.Muted
	}
	return "·", "not yet", th.Muted
}

// plainStep is a stage as text for others.
func plainStep(s doc.Step) string {
	out := fmt.Sprintf("%s: %s", s.Title, s.Status)
	for _, line := range s.Evidence {
		out += "\n  " + line
	}
	if s.Fix != "" {
		out += "\n  fix: " + s.Fix
	}
	return out
}

// doctorRows draws the stages.
type doctorRows struct {
	v *doctor
	c *tui.Ctx
}

// Len is the number of stages.
func (r doctorRows) Len() int { return len(r.v.steps) }

// Row is a stage with its sign and word, its time, and what was seen.
func (r doctorRows) Row(i, w int) string {
	v, th := r.v, r.c.Theme
	s := v.steps[i]
	sign, word, style := stageMark(th, s.Status)
	name := th.Text
	if s.Status == doc.Pending || s.Status == doc.Skipped {
		name = th.Muted
	}
	title := v.Query.Highlight(s.Title, name, th.Match)
	out := " " + style.S(sign) + " " + pane.Column(title, 17, w) + " " + style.S(paint.Fit(word, 7))
	took := ""
	if s.Took >= time.Millisecond && s.Status != doc.Skipped {
		took = text.Duration(s.Took)
	}
	out += th.Muted.S(fmt.Sprintf(" %7s", took))
	about, ink := "", th.Muted
	if len(s.Evidence) > 0 {
		about = s.Evidence[0]
	}
	if s.Status == doc.Failed {
		ink = th.Error
	}
	if room := w - paint.Width(out) - 2; room > 8 {
		out += "  " + ink.S(safe.Line(about, room))
	}
	return paint.Cut(out, w)
}
