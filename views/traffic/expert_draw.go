package traffic

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

type expertRows struct {
	v *experts
	c *tui.Ctx
}

// Len is the number of rules that were broken, and of the findings of those that are unfolded.
func (r expertRows) Len() int { return len(r.v.rows) }

// Row is a rule with its severity and how often it was broken, or where it was and what shows it.
func (r expertRows) Row(i, w int) string {
	th, row := r.c.Theme, r.v.rows[i]
	g := &r.v.report.Groups[row.group]
	if row.finding < 0 {
		glyph, style := severityMark(th, g.Rule.Severity)
		fold := "▸"
		if i+1 < len(r.v.rows) && r.v.rows[i+1].finding >= 0 {
			fold = "▾"
		}
		count := fmt.Sprintf("%d×", g.Count)
		left := th.Muted.S(fold) + " " + style.S(paint.Fit(glyph+" "+live.Word(g.Rule.Severity), 10)) + th.Muted.S(fmt.Sprintf("%5s ", count)) + th.Text.S(g.Rule.Title)
		return paint.Fit(left, w)
	}
	f := &g.Findings[row.finding]
	left := "    " + th.Muted.S(fmt.Sprintf("#%-6d", f.Seq)) + " " + th.Accent.S(paint.Fit(string(f.By), 7))
	if len(r.c.Sessions.Servers()) > 1 || w >= 90 {
		left += th.Muted.S(paint.Fit(safe.Line(r.c.ServerTitle(f.Server), 40), 12)) + " "
	}
	if f.Method != "" {
		left += th.Accent2.S(safe.Line(f.Method, 40)) + " "
	}
	return left + th.Text.S(safe.Line(f.Evidence, max(w-paint.Width(left), 8)))
}

func (v *experts) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "detail" {
		v.drawDetail(c, p)
		return nil
	}
	if p.Same(c, v.Rev, v.List.Selected(), len(c.Sessions.Servers()), v.busy, v.checked, v.report.Frames) {
		return nil
	}
	v.List.SetRows(expertRows{v, c}) // rows carry the theme
	v.DrawList(c, p, func(w int) []string {
		switch {
		case v.Typed != "":
			return pane.NothingMatches(c.Theme, w, v.Typed)
		case v.report.Frames == 0 && v.busy:
			return pane.Message(c.Theme, w, "The traffic is being checked.", "")
		case v.report.Frames == 0:
			return pane.Message(c.Theme, w, "No traffic yet.", "What breaks the protocol appears here as it is said. Press q to go back.")
		}
		return pane.Message(c.Theme, w, "Nothing broken in "+text.Count(v.report.Frames, "frame")+".", "What breaks the protocol appears here as it is said. Press q to go back.")
	})
	p.Foot = ""
	if v.report.Frames > 0 {
		p.Foot = v.summary()
	}
	return nil
}

func (v *experts) drawDetail(c *tui.Ctx, p *tui.Pane) {
	g, f := v.selected()
	key := ""
	p.Title = "Finding"
	if g != nil {
		key, p.Title = g.Rule.ID, g.Rule.ID
	}
	if f != nil {
		key += fmt.Sprint(" ", f.Seq)
	}
	if v.at != key {
		v.at, v.detail.Top = key, 0
	}
	if p.Same(c, v.Rev, key, v.detail.Top) {
		return
	}
	if g == nil {
		p.Lines, p.Scroll = nil, tui.Scroll{}
		return
	}
	v.detail.Draw(p, findingLines(c, p.W, g, f, v.revision(g, f)))
}

// findingLines is a finding, or a rule, with what to do about it.
func findingLines(c *tui.Ctx, w int, g *live.Group, f *live.Finding, revision string) []string {
	d, th := pane.NewDetails(c.Theme, w), c.Theme
	glyph, style := severityMark(th, g.Rule.Severity)
	d.Styled("severity", style.S(glyph+" "+live.Word(g.Rule.Severity)))
	d.Row("wrong", g.Rule.Title)
	d.Row("broken by", brokenBy(g, f))
	if f != nil {
		if e, ok := c.Sessions.Journal().Get(f.Seq); ok {
			d.Row("frame", fmt.Sprintf("#%d %s %s %s", f.Seq, pane.DirGlyph(e.Dir), pane.KindWord(e.Kind), e.Time.Format("15:04:05.000")))
		} else {
			d.Row("frame", fmt.Sprintf("#%d, no longer kept", f.Seq))
		}
		d.Row("server", c.ServerTitle(f.Server))
		if f.Method != "" {
			d.Row("method", f.Method)
		}
		d.Row("evidence", f.Evidence)
	} else {
		d.Row("count", text.Count(g.Count, "finding"))
		if g.Count > len(g.Findings) {
			d.Note(fmt.Sprintf("The first %d are listed.", len(g.Findings)))
		}
	}
	d.Lines = append(d.Lines, "")
	d.Row("fix", g.Rule.Fix)
	if revision != "" {
		d.Row("revision", revision)
	}
	d.Row("section", strings.TrimPrefix(g.Rule.Link(revision), rules.Site))
	d.Note("y p copies its URL.")
	return d.Lines
}

// brokenBy is who broke a rule.
func brokenBy(g *live.Group, f *live.Finding) string {
	by := g.Rule.By
	if f != nil {
		by = f.By
	}
	switch by {
	case rules.Sender:
		return "whoever sent the message"
	case rules.Receiver:
		return "whoever was asked"
	}
	return "the " + string(by)
}
