// Package traffic is the screens of the journal: frames, logs, the timeline, hops of one call, findings about the protocol, and calls
// that were made before, with sending one again.
package traffic

import (
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
	"github.com/mcphud/mcphud/views/shell"
)

// traffic shows everything that was said on the wire, both ways, for all servers: a row for each exchange, or one for each
// frame. Navigate's Arg may be the Seq (uint64) of an entry to go to, or pane.FramesOf a request.
type traffic struct {
	pane.JournalList
	only    journal.Entry // request whose frames are shown; none if its Seq is 0
	inside  bool          // they were opened from the list, to which the way back leads
	waiting bool          // a row that is drawn waits for its answer
	ref     journal.Entry // what times are relative to; none if its Seq is 0
	broken  *Broken       // rows that break the protocol
	foreign *Foreign      // whose traffic it is; nil for that of the sessions
	hops    bool          // what hops recorded is not of requests that the list has already, and stays
}

// NewTraffic is the screen of frames; foreign is whose they are, nil for those of the sessions.
// hops keeps what others recorded in the list.
func NewTraffic(foreign *Foreign, broken *Broken, hops bool) *tui.Screen {
	v := &traffic{foreign: foreign, broken: broken, hops: hops, JournalList: pane.NewJournalList("traffic", "frame")}
	v.Feed.Belongs, v.Feed.Fold, v.Feed.Exchanges = anything, v.routine, true
	v.Feed.Language = func(c *tui.Ctx) filter.Options {
		titles := map[string]string{}
		for _, s := range c.Sessions.Servers() {
			titles[s.Name()] = s.Title()
		}
		return filter.Options{Titles: titles}
	}
	v.Source = func(c *tui.Ctx, e journal.Entry) pane.Source {
		src := pane.Source{Name: fmt.Sprintf("frame-%d", e.Seq), Head: frameHead(c, e), None: safe.Line(frameNone(e), 2000)}
		if n := v.noteOf(c, &e); n.Text != "" {
			src.Note = c.Theme.Info.S("✎ " + safe.Line(n.Text, 0))
			src.Head = append(src.Head, src.Note)
		}
		src.Exchange = v.Feed.Exchanges && e.Kind == journal.Request
		return src
	}
	v.Blocks = pane.ExchangeBlocks
	v.Open = v.frames
	return v.screen()
}

func (v *traffic) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.OpDone:
		if cmd, ok := exported(c, m); ok {
			return cmd, true
		}
	case tui.SessionChanged:
		return tea.Batch(v.arrange(c), v.list(c, msg)), true
	case tui.Navigate:
		of, _ := m.Arg.(pane.FramesOf)
		cmd := v.show(c, uint64(of))
		if v.inside = false; of != 0 {
			m.Arg = uint64(of)
		}
		return tea.Batch(v.arrange(c), cmd, v.list(c, m)), true
	case tea.KeyPressMsg:
		if v.only.Seq == 0 {
			break
		}
		back := pane.IsBack(msg)
		if v.inside && (back || m.String() == "esc" && c.Focus == "list" && c.Filter() == "") {
			return v.leave(c), true
		}
		if back {
			return c.Back(), true
		}
	}
	return v.JournalList.Handle(c, msg)
}

// list gives a message to the list.
func (v *traffic) list(c *tui.Ctx, msg tea.Msg) tea.Cmd {
	cmd, _ := v.JournalList.Handle(c, msg)
	return cmd
}

// hints say that the frames of a call are a screen below another.
func (v *traffic) hints(*tui.Ctx) []tui.Hint { return pane.BackHint(v.only.Seq != 0) }

func (v *traffic) screen() *tui.Screen {
	return &tui.Screen{
		ID: "traffic", Title: "Traffic", Aliases: []string{"wire", "frames"}, Split: 60, StackUnder: pane.StackUnder,
		NoRail:  v.foreign != nil,
		Panes:   []tui.PaneSpec{{ID: "list", Title: "Traffic"}, {ID: "frame", Title: "Frame"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		PageText: v.PageText, CopyText: v.copyText, Hints: v.hints, Breadcrumb: v.breadcrumb, CheckFilter: v.CheckFilter,
		CompleteFilter: v.CompleteFilter,
	}
}

func (v *traffic) draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "frame" {
		p.Title = "Frame"
		if e, ok := v.Entry(c); ok && v.Feed.Exchanges && e.Kind == journal.Request {
			p.Title = "Exchange"
		}
		return v.Doc.Draw(c, p)
	}
	what, next := "No traffic yet.", "Open a server and its frames appear here. Press 1 for the servers."
	if v.foreign != nil {
		what, next = "", ""
		if v.foreign.Empty != nil {
			what, next = v.foreign.Empty()
		}
	}
	var beat any
	if v.waiting {
		beat = pane.Tick()
	}
	again := true
	v.DrawList(c, p, what, next,
		func(e journal.Entry, w int) string {
			if again {
				v.waiting, again = false, false
			}
			return v.row(c, e).Draw(c.Theme, w)
		},
		len(c.Sessions.Servers()) > 1, c.Sessions.Journal().Rev(), v.only.Seq, v.ref.Seq, v.Feed.Exchanges, beat, what, next, v.broken.rev)
	switch {
	case v.only.Seq != 0:
		what := fmt.Sprintf("frames of %s %s #%s", v.only.Method, v.only.Tool, v.only.ID)
		if room := p.W - 40; paint.Width(what) > room && v.only.Tool != "" { // the rows have the method
			what = fmt.Sprintf("frames of %s #%s", v.only.Tool, v.only.ID)
		}
		p.Foot = safe.Line(what, max(p.W-27, 10)) + " · m all frames"
	case v.ref.Seq != 0 && p.Foot == "":
		p.Foot = "time since " + v.ref.Time.Format("15:04:05.000")
	}
	return nil
}

func (v *traffic) breadcrumb(c *tui.Ctx) string {
	if e, ok := v.Entry(c); ok {
		return safe.Line(e.Method, 40)
	}
	return ""
}

func (v *traffic) copyText(c *tui.Ctx, k tui.CopyKind) tui.CopyFunc {
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

func (v *traffic) plain(c *tui.Ctx, w io.Writer) {
	v.Each(c, func(_ *journal.Journal, e journal.Entry) {
		row := filter.Row(&e)
		if e.Kind == journal.Stderr || e.Kind == journal.Bad { // which have nothing but their text
			row += " " + v.Preview(c, e)
		}
		fmt.Fprintf(w, "%s %s %s\n", e.Time.Format("15:04:05.000"), pane.DirGlyph(e.Dir), safe.Line(row, 400))
	})
}
