package servers

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/text"
	doc "github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pages"
	"github.com/mcphud/mcphud/views/pane"
)

// Beside is what other screens know of servers, for their page. What is nil knows nothing.
type Beside struct {
	Diagnoses Diagnoses
	// Process is the process that a server is, in words, "" where this program does not run it.
	Process func(server string) string
}

// verdict is what a diagnosis came to, in a line; "" if there was none.
func (d Diagnoses) verdict(server string) string {
	of := d[server]
	switch {
	case of == nil:
		return ""
	case of.report == nil:
		return "looks at it now"
	}
	warnings, first := 0, (*doc.Step)(nil)
	for i := range of.report.Steps {
		switch s := &of.report.Steps[i]; s.Status {
		case doc.Failed:
			return pages.StageMark(s.Status).Glyph + " " + s.Title
		case doc.Warning:
			if warnings++; first == nil {
				first = s
			}
		case doc.OK, doc.Running, doc.Skipped, doc.Pending:
		}
	}
	took := text.Duration(of.report.Took)
	if first != nil {
		return fmt.Sprintf("%s %s: %s · %s", pages.StageMark(first.Status).Glyph, text.Count(warnings, "warning"), first.Title, took)
	}
	return fmt.Sprintf("✓ %s without a finding · %s", text.Count(len(of.report.Steps), "stage"), took)
}

// mostLogLooked is how many entries are looked through for what a server logged last.
const mostLogLooked = 5000

// lastLogs finds what each server logged last, among what came since the last time.
func (v *servers) lastLogs(j *journal.Journal) {
	end := j.First() + uint64(j.Len())
	from := max(v.logSeen, j.First(), end-min(end, mostLogLooked))
	j.Each(from, func(e *journal.Entry) bool {
		v.logSeen = e.Seq
		if e.Hop == "" && pane.IsLog(e) {
			v.lastLog[e.Server] = e.Seq
		}
		return true
	})
}

// known is what there is to say of a server besides what its session knows.
func (v *servers) known(c *tui.Ctx, s *session.Session) (k pages.Known) {
	k.Doctor = v.beside.Diagnoses.verdict(s.Name())
	if v.beside.Process != nil {
		k.Stack = v.beside.Process(s.Name())
	}
	j := c.Sessions.Journal()
	if e, ok := j.Get(v.lastLog[s.Name()]); ok {
		l := pane.ReadLog(j, e)
		k.Log = e.Time.Format("15:04:05") + " " + l.Level + "  " + text.FirstLine(l.Text)
	}
	return k
}

// drawServer draws the page of the server under the cursor.
func (v *servers) drawServer(c *tui.Ctx, p *tui.Pane, s *session.Session) {
	lines, leads := pane.ServerLines(c, s, p.W, v.place, v.entryKeys(c), v.known(c, s))
	v.about.Draw(c, p, v.cards.draw(c, s.Name(), p.W, lines), leads)
}

// sectionAction opens a section of the server's page.
func (v *servers) sectionAction() tui.Action {
	return tui.Action{
		ID: "servers.section", Verb: tui.VerbOpen, Title: "open", Group: "Server", Hint: 1, Pane: "detail",
		Help: "Go to what the line under the cursor tells of: as whom the server sees this program, its instructions, skills, roots, log and others.",
		Disabled: func(c *tui.Ctx) string {
			if v.about.Chosen() == "" {
				return "this line leads nowhere"
			}
			return v.none(c)
		},
		Run: func(c *tui.Ctx) tea.Cmd {
			name, to := v.selected().Name(), v.about.Chosen()
			switch to {
			case "logs":
				return c.NavigateOn(name, to, pane.Filtered(filter.Term("server", name)))
			case "entry":
				return c.Navigate(to, name)
			case "stack":
				return c.NavigateOn(name, to, name)
			}
			return c.NavigateOn(name, to, nil)
		},
	}
}
