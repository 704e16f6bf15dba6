package views

import (
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/journal/filter"
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
	only    journal.Entry // request whose frames are shown; none if its Seq is 0
	foreign *Foreign      // whose traffic it is; nil for that of the sessions
}

func newTraffic() *traffic {
	v := &traffic{JournalList: pane.NewJournalList("traffic", "frame")}
	v.Feed.Belongs, v.Feed.Fold = func(*journal.Entry) bool { return true }, v.routine
	v.Feed.Language = func(c *tui.Ctx) filter.Options {
		titles := map[string]string{}
		for _, s := range c.Sessions.Servers() {
			titles[s.Name()] = s.Title()
		}
		return filter.Options{Titles: titles}
	}
	v.Source = func(c *tui.Ctx, e journal.Entry) pane.Source {
		return pane.Source{Name: fmt.Sprintf("frame-%d", e.Seq), Head: frameHead(c, e), None: safe.Line(frameNone(e), 2000)}
	}
	return v
}

// routine is what an entry is folded away as: what hops recorded of the requests that the list has, and spans, which have a screen of
// their own.
func (v *traffic) routine(e *journal.Entry) string {
	switch {
	case e.Kind == journal.Span:
		return "span"
	case e.Hop != "" && v.foreign == nil:
		return "hop"
	}
	return routine(e)
}

// routine is what an entry is folded away as: health checks that found nothing, and questions for what a server speaks.
func routine(e *journal.Entry) string {
	switch {
	case e.Method == "ping" && e.Status != journal.Failed && e.Status != journal.Cancelled:
		return "ping"
	case pane.Probe(e):
		return "probe"
	}
	return ""
}

// framesOf is whether an entry is part of what was said while a request waited for its answer: its own frames, what the
// server asked, reported and logged meanwhile, and the answers to that.
func framesOf(q journal.Entry, e *journal.Entry) bool {
	switch {
	case e.Server != q.Server || e.Conn != q.Conn || e.Seq < q.Seq && e.Kind != journal.HTTP:
		return false
	case e.Seq == q.Seq || e.Peer == q.Seq:
		return true
	case e.Kind == journal.HTTP && e.ID != "":
		return e.ID == q.ID && e.Method == q.Method
	case e.Seq < q.Seq || q.Peer != 0 && e.Seq > q.Peer || e.Method == "ping":
		return false
	case e.Kind == journal.Request && e.Dir == q.Dir, e.Kind == journal.State && e.ID != "":
		return false
	case e.Kind == journal.Response || e.Kind == journal.ErrorResponse:
		return e.Dir == q.Dir
	}
	return true
}

// show restricts the list to the frames of a request, or with 0 lifts that.
func (v *traffic) show(c *tui.Ctx, request uint64) tea.Cmd {
	if request == v.only.Seq {
		return nil
	}
	j := c.Sessions.Journal()
	v.only, _ = j.Get(request)
	v.Feed.Belongs, v.Feed.Fold = func(*journal.Entry) bool { return true }, v.routine
	if v.only.Seq != 0 {
		v.Feed.Fold = nil
		v.Feed.Belongs = func(e *journal.Entry) bool {
			q, _ := j.Get(request) // its answer may have come
			return framesOf(q, e)
		}
	}
	return v.Feed.Refilter(c)
}

func (v *traffic) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	if m, ok := msg.(tui.Navigate); ok {
		of, _ := m.Arg.(pane.FramesOf)
		cmd := v.show(c, uint64(of))
		if of != 0 {
			m.Arg = uint64(of)
		}
		more, _ := v.JournalList.Handle(c, m)
		return tea.Batch(cmd, more), true
	}
	if v.only.Seq != 0 && isBack(msg) {
		return c.Back(), true
	}
	return v.JournalList.Handle(c, msg)
}

// Hints say that the frames of a call are a screen below another.
func (v *traffic) Hints(*tui.Ctx) []tui.Hint { return backHint(v.only.Seq != 0) }

func (v *traffic) Info() tui.Info {
	return tui.Info{ID: "traffic", Title: "Traffic", Aliases: []string{"wire", "frames"}, Split: 60, StackUnder: stackUnder, NoRail: v.foreign != nil, Panes: []tui.PaneSpec{
		{ID: "list", Title: "Traffic"}, {ID: "frame", Title: "Frame"},
	}}
}

func (v *traffic) Actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "traffic.peer", Keys: []string{"o"}, Title: "pair", Group: "Traffic", Hint: 2,
			Help: "Go from a request to its answer, or back.", Disabled: v.noPeer, Run: v.peer,
		},
		{
			ID: "traffic.pings", Keys: []string{"p"}, Title: "pings", Group: "Traffic", Hint: 4, Pane: "list",
			Help: "Show or hide health checks and probes; leaves the frames of one call.",
			Now: func(*tui.Ctx) string {
				if v.only.Seq != 0 {
					return "all frames"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd {
				if v.only.Seq != 0 {
					return tea.Batch(v.show(c, 0), v.Load(c))
				}
				v.Feed.Unfold = !v.Feed.Unfold
				return tea.Batch(v.Feed.Refilter(c), v.Load(c))
			},
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
	many, what, next := len(c.Sessions.Servers()) > 1, "No traffic yet.", "Open a server and its frames appear here. Press 1 for the servers."
	if v.foreign != nil {
		many, what, next = true, "", ""
		if v.foreign.Empty != nil {
			what, next = v.foreign.Empty()
		}
	}
	v.DrawList(c, p, what, next,
		func(e journal.Entry, w int) string { return pane.FrameRow(c.Theme, e, v.Preview(c, e), w, many) },
		many, c.Sessions.Journal().Rev(), v.only.Seq, what, next)
	if v.only.Seq != 0 {
		p.Foot = safe.Line(fmt.Sprintf("frames of %s %s #%s", v.only.Method, v.only.Tool, v.only.ID), max(p.W-27, 10)) + " · p all frames"
	}
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
		row := filter.Row(&e)
		if e.Kind == journal.Stderr || e.Kind == journal.Bad { // which have nothing but their text
			row += " " + v.Preview(c, e)
		}
		fmt.Fprintf(w, "%s %s %s\n", e.Time.Format("15:04:05.000"), pane.DirGlyph(e.Dir), safe.Line(row, 400))
	})
}
