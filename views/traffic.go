package views

import (
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/text"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// traffic shows everything that was said on the wire, both ways, for all
// servers. Navigate's Arg may be the Seq (uint64) of an entry to go to.
type traffic struct {
	pane.JournalList
	foreign *Foreign // whose traffic it is; nil for that of the sessions
}

func newTraffic() *traffic {
	v := &traffic{JournalList: pane.NewJournalList("traffic", "frame")}
	v.Feed.Belongs = func(*journal.Entry) bool { return true }
	v.Feed.Text = func(_ *journal.Journal, e *journal.Entry) string { return entryText(e) }
	v.Source = func(c *tui.Ctx, e journal.Entry) pane.Source {
		return pane.Source{Name: fmt.Sprintf("frame-%d", e.Seq), Head: frameHead(c, e), None: safe.Line(frameNone(e), 2000)}
	}
	return v
}

// entryText is what a filter of traffic looks at: every word of the row.
func entryText(e *journal.Entry) string {
	return strings.Join([]string{pane.KindWord(e.Kind), e.Server, e.Method, e.Tool, "#" + e.ID, e.Status, e.Note}, " ")
}

func (v *traffic) Info() tui.Info {
	return tui.Info{ID: "traffic", Title: "Traffic", Aliases: []string{"wire", "frames"}, Split: 60, NoRail: v.foreign != nil, Panes: []tui.PaneSpec{
		{ID: "list", Title: "Traffic"}, {ID: "frame", Title: "Frame"},
	}}
}

func (v *traffic) Actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "traffic.peer", Keys: []string{"o"}, Title: "pair", Group: "Traffic", Hint: 2,
			Help: "Go from a request to its answer, or back.", Disabled: v.noPeer, Run: v.peer,
		},
	}, v.ListActions("raw frame", "Show the frame as it was on the wire.")...)
}

func (v *traffic) noPeer(c *tui.Ctx) string {
	e, ok := v.Entry(c)
	if !ok || e.Peer == 0 {
		return "this frame has no pair"
	}
	return ""
}

func (v *traffic) peer(c *tui.Ctx) tea.Cmd {
	e, ok := v.Entry(c)
	if !ok {
		return nil
	}
	v.Feed.Jump(e.Peer)
	return v.Load(c)
}

// frameHead is what the detail pane says above the frame.
func frameHead(c *tui.Ctx, e journal.Entry) []string {
	th := c.Theme
	line := fmt.Sprintf("%s %s %s · %s · %s", pane.DirGlyph(e.Dir), pane.KindWord(e.Kind), safe.Line(c.ServerTitle(e.Server), 80),
		e.Time.Format("15:04:05.000000"), text.Bytes(e.Size))
	out := []string{pane.KindStyle(th, e).S(line)}
	if e.Note != "" && frameNone(e) == "" {
		out = append(out, th.Muted.S(safe.Line(e.Note, 400)))
	}
	return out
}

// frameNone is what the detail pane says instead of a frame, "" if there is one.
func frameNone(e journal.Entry) string {
	if e.Size > 0 {
		return ""
	}
	return e.Note
}

func (v *traffic) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "frame" {
		return v.Doc.Draw(c, p)
	}
	many, wide := len(c.Sessions.Servers()) > 1, pane.WideRow+10
	what, next := "No traffic yet.", "Open a server and its frames appear here. Press 1 for the servers."
	if v.foreign != nil {
		many, wide, what, next = true, pane.NarrowRow, v.foreign.What, v.foreign.Next
	}
	v.DrawList(c, p, what, next,
		func(e journal.Entry, w int) string {
			e.Server = c.ServerTitle(e.Server)
			return pane.FrameRow(c.Theme, e, w, many && w >= wide)
		}, many, c.Sessions.Journal().Rev())
	return nil
}

func (v *traffic) Breadcrumb(c *tui.Ctx) string {
	if e, ok := v.Entry(c); ok {
		return safe.Line(e.Method, 40)
	}
	return ""
}

func (v *traffic) CopyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
	if k == tui.CopyCurl {
		return shell.Curl(c.Sessions, v.Feed.Selected())
	}
	if k != tui.CopyRaw && k != tui.CopyJSON && k != tui.CopyValue {
		return nil
	}
	if c.Focus == "frame" && k != tui.CopyRaw {
		return v.Doc.CopyText(k)
	}
	return pane.CopyBody(c.Sessions.Journal(), v.Feed.Selected())
}

func (v *traffic) Plain(c *tui.Ctx, w io.Writer) {
	v.Each(c, func(_ *journal.Journal, e journal.Entry) {
		fmt.Fprintf(w, "%s %s %s %s\n", e.Time.Format("15:04:05.000"), pane.DirGlyph(e.Dir), pane.KindWord(e.Kind), safe.Line(entryText(&e), 400))
	})
}
