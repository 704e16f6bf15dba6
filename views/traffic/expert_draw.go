package traffic

import (
	"fmt"
	"io"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
)

// plain is all of it, as mcphud explain prints it.
func (v *experts) plain(c *tui.Ctx, w io.Writer) {
	p := v.page(c)
	if len(v.report.Groups) > 0 {
		p = pages.Broken(&v.report)
	}
	fmt.Fprintln(w, c.Spoken(p, false))
}

// page is the rules that were broken with how often, and where it was and what shows it below those that are unfolded.
func (v *experts) page(c *tui.Ctx) page.Page {
	p := page.Page{None: [2]string{"Nothing broken in " + text.Count(v.report.Frames, "frame") + ".", "What breaks the protocol appears here as it is said. Press q to go back."}}
	switch {
	case v.Typed != "":
		p.None = [2]string{fmt.Sprintf("Nothing matches %q.", text.Clip(v.Typed, 200)), "Press esc to clear the filter, / for another."}
	case v.report.Frames == 0 && v.busy:
		p.None = [2]string{"The traffic is being checked."}
	case v.report.Frames == 0:
		p.None[0] = "No traffic yet."
	}
	if v.report.Frames > 0 {
		p.Foot = pages.BrokenIn(&v.report)
	}
	server := page.Column{Cells: 12, From: 90, On: page.Drawn}
	if len(c.Sessions.Servers()) > 1 {
		server.From = 0
	}
	p.Table = page.Table{
		Columns: []page.Column{{Cells: 11}, {}, server, {}, {}}, Len: len(v.rows), Row: func(i int) page.Row { return v.row(c, i) },
	}
	p.Table.Columns[4].Rest = true
	return p
}

func (v *experts) row(c *tui.Ctx, i int) (r page.Row) {
	g := &v.report.Groups[v.rows[i].group]
	if k := v.rows[i].finding; k >= 0 {
		f := &g.Findings[k]
		r.Cells = []page.Text{
			{S: fmt.Sprintf("    #%d", f.Seq), Tone: page.Quiet},
			{S: string(f.By), Tone: page.Accent},
			{S: c.ServerTitle(f.Server), Tone: page.Quiet},
			{S: f.Method, Tone: page.Accent},
			{S: f.Evidence},
		}
		return r
	}
	mark, fold := pages.ViolationMark(g.Rule.Severity), "▾"
	if i+1 == len(v.rows) || v.rows[i+1].finding < 0 {
		fold = "▸"
	}
	r.Cells = []page.Text{{S: fold + " " + mark.String(), Tone: mark.Tone}, {}, {}, {}, {S: fmt.Sprintf("%d× %s", g.Count, g.Rule.Title)}}
	return r
}

// about is the finding under the cursor, or the rule, with what to do about it.
func (v *experts) about(c *tui.Ctx) page.Page {
	g, f := v.selected()
	p, revision, by := page.Page{Title: g.Rule.ID}, v.revision(g, f), g.Rule.By
	if f != nil {
		by = f.By
	}
	p.Styled("severity", pages.ViolationMark(g.Rule.Severity).Text()).Field("wrong", g.Rule.Title).Field("broken by", pages.BrokenBy(by))
	if f != nil {
		frame := fmt.Sprintf("#%d, no longer kept", f.Seq)
		if e, ok := c.Sessions.Journal().Get(f.Seq); ok {
			frame = fmt.Sprintf("#%d %s %s %s", f.Seq, pane.DirGlyph(e.Dir), pane.KindWord(e.Kind), e.Time.Format("15:04:05.000"))
		}
		p.Field("frame", frame).Field("server", c.ServerTitle(f.Server)).Field("method", f.Method).Field("evidence", f.Evidence)
	} else {
		p.Field("count", text.Count(g.Count, "finding"))
		if g.Count > len(g.Findings) {
			p.Note(fmt.Sprintf("The first %d are listed.", len(g.Findings)))
		}
	}
	return *p.Line(page.Plain, "").Field("fix", g.Rule.Fix).Field("revision", revision).Field("section", strings.TrimPrefix(g.Rule.Link(revision), rules.Site)).
		Note("y p copies its URL.")
}
