package views

import (
	"fmt"
	"io"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// traffic shows everything that was said on the wire, both ways, for all
// servers. Navigate's Arg may be the Seq (uint64) of an entry to go to.
type traffic struct {
	feed  feed
	doc   document
	shown uint64 // entry that the detail pane shows or loads
	many  bool   // more than one server spoke
}

func newTraffic() *traffic {
	v := &traffic{feed: feed{view: "traffic"}, doc: document{view: "traffic", pane: "frame"}}
	v.feed.belongs = func(*journal.Entry) bool { return true }
	v.feed.text = func(_ *journal.Journal, e *journal.Entry) string { return entryText(e) }
	return v
}

// entryText is what a filter of traffic looks at: every word of the row.
func entryText(e *journal.Entry) string {
	return strings.Join([]string{kindWord(e.Kind), e.Server, e.Method, e.Tool, "#" + e.ID, e.Status, e.Note}, " ")
}

func (v *traffic) Info() tui.Info {
	return tui.Info{ID: "traffic", Title: "Traffic", Aliases: []string{"wire", "frames"}, Panes: []tui.PaneSpec{
		{ID: "list", Title: "Frames"}, {ID: "frame", Title: "Frame"},
	}}
}

func (v *traffic) Actions() []tui.Action {
	none := func(*tui.Ctx) string {
		if v.feed.selected() == 0 {
			return "no frame is selected"
		}
		return ""
	}
	return append([]tui.Action{
		{
			ID: "traffic.open", Keys: []string{"enter"}, Title: "raw frame", Group: "Traffic", Hint: 1, Pane: "list",
			Help: "Show the frame as it was on the wire.", Disabled: none,
			Run: func(c *tui.Ctx) tea.Cmd { return c.FocusPane("frame") },
		},
		{
			ID: "traffic.peer", Keys: []string{"o"}, Title: "other half", Group: "Traffic", Hint: 2,
			Help: "Go from a request to its answer, or back.", Disabled: v.noPeer, Run: v.peer,
		},
		{
			ID: "traffic.follow", Keys: []string{"f"}, Title: "follow", Group: "Traffic", Hint: 3, Pane: "list",
			Help: "Go to the newest frame and stay there.",
			Run: func(c *tui.Ctx) tea.Cmd {
				v.feed.jump(^uint64(0))
				v.feed.away = false
				return v.load(c)
			},
		},
	}, v.doc.actions("traffic", "frame")...)
}

func (v *traffic) noPeer(c *tui.Ctx) string {
	e, ok := v.entry(c)
	if !ok || e.Peer == 0 {
		return "this frame has no other half"
	}
	return ""
}

func (v *traffic) peer(c *tui.Ctx) tea.Cmd {
	e, ok := v.entry(c)
	if !ok {
		return nil
	}
	v.feed.jump(e.Peer)
	return v.load(c)
}

func (v *traffic) entry(c *tui.Ctx) (journal.Entry, bool) {
	return c.Sessions.Journal().Get(v.feed.selected())
}

func (v *traffic) Handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged:
		v.feed.sync(c.Sessions.Journal())
		v.many = len(c.Sessions.Servers()) > 1
		if c.View == "traffic" {
			return v.load(c), true
		}
		return nil, true
	case tui.Navigate:
		v.feed.sync(c.Sessions.Journal())
		if seq, ok := m.Arg.(uint64); ok {
			v.feed.jump(seq)
		}
		return v.load(c), true
	case tui.FilterChanged:
		if c.Focus == "frame" {
			return v.doc.Handle(c, msg)
		}
		return tea.Batch(v.feed.setFilter(c, m.Text), v.load(c)), true
	case tui.OpDone:
		if cmd, ok := savedToast(c, m); ok {
			return cmd, true
		}
		if v.feed.done(m) {
			return v.load(c), true
		}
		return v.doc.Handle(c, msg)
	case tui.PaneMouse:
		if m.Pane == "frame" {
			return v.doc.Handle(c, msg)
		}
	}
	if c.Focus == "frame" {
		return v.doc.Handle(c, msg)
	}
	consumed, opened := v.feed.handle(msg)
	if opened {
		return tea.Batch(v.load(c), c.FocusPane("frame")), true
	}
	if consumed {
		return v.load(c), true
	}
	return nil, false
}

// load brings the selected frame into the detail pane.
func (v *traffic) load(c *tui.Ctx) tea.Cmd {
	seq := v.feed.selected()
	if seq == v.shown {
		return nil
	}
	v.shown = seq
	if seq == 0 {
		v.doc.clear()
		return nil
	}
	j := c.Sessions.Journal()
	e, ok := j.Get(seq)
	if !ok {
		return nil
	}
	return v.doc.load(c, source{
		name: fmt.Sprintf("frame-%d", seq),
		head: frameHead(c.Theme, e),
		read: func() ([]byte, error) { return j.Body(seq) },
	})
}

// frameHead is what the detail pane says above the frame.
func frameHead(th *tui.Theme, e journal.Entry) []string {
	line := fmt.Sprintf("%s %s %s · %s · %s", dirGlyph(e.Dir), kindWord(e.Kind), safe.Line(e.Server, 80),
		e.Time.Format("15:04:05.000000"), size(int64(e.Size)))
	out := []string{kindStyle(th, e).S(line)}
	if e.Note != "" {
		out = append(out, th.Muted.S(safe.Line(e.Note, 400)))
	}
	return out
}

func (v *traffic) Draw(c *tui.Ctx, p *tui.Pane) *tea.Cursor {
	if p.ID == "frame" {
		return v.doc.draw(c, p)
	}
	j := c.Sessions.Journal()
	if p.Same(c, v.feed.rev, j.Rev()) {
		return nil
	}
	v.feed.row = func(e journal.Entry, w int) string { return frameRow(c.Theme, e, w, v.many) }
	v.feed.draw(c, p, func(w int) []string {
		if v.feed.typed != "" && v.feed.all > 0 {
			return nothingMatches(c.Theme, w, v.feed.typed)
		}
		return message(c.Theme, w, "Nothing was said yet.", "Open a server and its frames appear here. Press 1 for the servers.")
	})
	p.Badge = counted(len(v.feed.seqs), v.feed.all)
	return nil
}

func (v *traffic) Breadcrumb(c *tui.Ctx) string {
	if e, ok := v.entry(c); ok {
		return safe.Line(e.Method, 40)
	}
	return ""
}

func (v *traffic) CopyText(c *tui.Ctx, k tui.CopyKind) (string, bool) {
	if k != tui.CopyRaw && k != tui.CopyJSON && k != tui.CopyValue {
		return "", false
	}
	if c.Focus == "frame" && k != tui.CopyRaw {
		return v.doc.copyText(k)
	}
	body, err := c.Sessions.Journal().Body(v.feed.selected())
	return string(body), err == nil && len(body) > 0
}

func (v *traffic) PageText(c *tui.Ctx) (text, ext string, ok bool) { return v.doc.pageText() }

func (v *traffic) Plain(c *tui.Ctx, w io.Writer) {
	j := c.Sessions.Journal()
	v.feed.sync(j)
	for _, seq := range v.feed.seqs {
		if e, ok := j.Get(seq); ok {
			fmt.Fprintf(w, "%s %s %s %s\n", e.Time.Format("15:04:05.000"), dirGlyph(e.Dir), kindWord(e.Kind), safe.Line(entryText(&e), 400))
		}
	}
}
