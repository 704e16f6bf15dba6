package traffic

import (
	"context"
	"fmt"
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/views/pane"
)

// traceScreen shows the hops of one call as a tree: client, router, agents and what they called, each with when and how long, and the
// part that nobody accounts for. Navigate's Arg is the Seq (uint64) of an entry of the call; without one it is the newest call.
type traceScreen struct {
	pane.ListPage
	group *trace.Group // nil before the first one
	tree  *trace.Tree
	rows  []trace.Row
	rev   uint64 // of the journal, when the tree was made
	busy  bool   // one is being made
}

// NewTrace is the screen of the hops of one call.
func NewTrace() *tui.Screen {
	v := &traceScreen{}
	v.View, v.Page, v.About, v.Line = "trace", v.page, v.hop, v.line
	v.Inputs = func(*tui.Ctx) any { return v.rev }
	v.Freeze = func() (int, func(int) (name, about string)) {
		rows := v.rows
		return len(rows), func(i int) (name, about string) { return rows[i].Label(), rows[i].Node.Hop + " " + rows[i].Node.Server }
	}
	return v.screen()
}

func (v *traceScreen) screen() *tui.Screen {
	return v.Screen(tui.Screen{
		ID: "trace", Title: "Hops", Aliases: []string{"hops"}, Tab: "traffic", Peer: true, NoRail: true, AllServers: true, Split: 74,
		StackUnder: pane.StackUnder,
		Panes:      []tui.PaneSpec{{ID: "list", Title: "Hops"}, {ID: "detail", Title: "Hop"}},
		Actions:    v.actions, Handle: v.handle, Plain: v.plain, Choices: func(*tui.Ctx) []tui.Choice { return nil }, Breadcrumb: v.breadcrumb,
	})
}

func (v *traceScreen) actions() []tui.Action {
	return []tui.Action{
		{
			ID: "trace.frames", Verb: tui.VerbOpen, Title: "frames", Group: "Trace", Hint: 1, Pane: "list",
			Help:     "Show the frames of this hop, or of the hop that this step is a part of.",
			Disabled: v.noFrames,
			Run:      func(c *tui.Ctx) tea.Cmd { return c.Navigate("traffic", pane.FramesOf(v.framesAt(v.List.Selected()))) },
		},
		{
			ID: "trace.previous", Word: "previous", Title: "call before", Group: "Trace", Hint: 3,
			Help: "Show the trace before this one.", Disabled: v.none, Run: func(c *tui.Ctx) tea.Cmd { return v.step(c, -1) },
		},
		{
			ID: "trace.next", Word: "next", Title: "next call", Group: "Trace", Hint: 2,
			Help: "Show the trace after this one.", Disabled: v.none, Run: func(c *tui.Ctx) tea.Cmd { return v.step(c, 1) },
		},
	}
}

func (v *traceScreen) none(*tui.Ctx) string {
	if v.tree == nil {
		return "there is no trace"
	}
	return ""
}

func (v *traceScreen) noFrames(*tui.Ctx) string {
	if v.framesAt(v.List.Selected()) == 0 {
		return "no frames of this hop were recorded"
	}
	return ""
}

// framesAt is the request whose frames a row is about: its own, or that of the nearest row above it that it is a part of.
func (v *traceScreen) framesAt(i int) uint64 {
	if i < 0 || i >= len(v.rows) {
		return 0
	}
	depth := v.rows[i].Depth + 1
	for ; i >= 0; i-- {
		if r := v.rows[i]; r.Depth < depth {
			if depth = r.Depth; r.Node.Frames != 0 {
				return r.Node.Frames
			}
		}
	}
	return 0
}

// traced is a trace that was read.
type traced struct {
	group *trace.Group
	tree  *trace.Tree // nil if nothing of it is new
	rows  []trace.Row
	rev   uint64
}

// read makes the tree of the trace that pick finds, beside the event loop: "" is the newest one.
func (v *traceScreen) read(c *tui.Ctx, pick func(j *journal.Journal) string) tea.Cmd {
	j, rev, old := c.Sessions.Journal(), c.Sessions.Journal().Rev(), v.group
	v.busy = true
	cmd, _ := c.Replace(v.View, "tree", "read the trace", func(ctx context.Context) (any, error) {
		var g *trace.Group
		if pick != nil {
			if id := pick(j); id != "" {
				g = trace.Find(j, id)
			}
		} else if old != nil {
			more := *old
			more.Seqs = slices.Clone(old.Seqs)
			if !more.Update(j) {
				return traced{group: &more, rev: rev}, ctx.Err()
			}
			g = &more
		}
		if g == nil {
			return traced{rev: rev}, ctx.Err()
		}
		t := trace.Of(j, g)
		return traced{g, t, t.Rows(), rev}, ctx.Err()
	})
	return cmd
}

// of finds the trace of an entry, or the newest one for 0.
func of(seq uint64) func(j *journal.Journal) string {
	return func(j *journal.Journal) (id string) {
		if seq != 0 {
			e, _ := j.Get(seq)
			return e.Trace
		}
		j.Each(0, func(e *journal.Entry) bool {
			if e.Trace != "" && e.Kind == journal.Request {
				id = e.Trace
			}
			return true
		})
		return id
	}
}

// step goes to a neighbour in the order in which traces began.
func (v *traceScreen) step(c *tui.Ctx, by int) tea.Cmd {
	here := v.group.ID
	return v.read(c, func(j *journal.Journal) string {
		all := trace.Groups(j, nil)
		i := slices.IndexFunc(all, func(g *trace.Group) bool { return g.ID == here })
		return all[min(max(i+by, 0), len(all)-1)].ID
	})
}

func (v *traceScreen) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.Navigate:
		seq, given := m.Arg.(uint64)
		if v.tree != nil && !given {
			return v.read(c, nil), true
		}
		return v.read(c, of(seq)), true
	case tui.SessionChanged:
		if c.View == v.View && !v.busy && c.Sessions.Journal().Rev() != v.rev {
			if v.group == nil {
				return v.read(c, of(0)), true
			}
			return v.read(c, nil), true
		}
		return nil, true
	case tui.OpDone:
		if cmd, ok := v.Filtered(c, m); ok {
			return cmd, true
		}
		return v.take(c, m), true
	}
	return v.Handle(c, msg, func() tea.Cmd {
		if seq := v.framesAt(v.List.Selected()); seq != 0 {
			return c.Navigate("traffic", pane.FramesOf(seq))
		}
		return nil
	})
}

// take shows what was read.
func (v *traceScreen) take(c *tui.Ctx, m tui.OpDone) tea.Cmd {
	got, ok := m.Value.(traced)
	if m.Slot != "tree" {
		return nil
	}
	v.busy = false
	if m.Err != nil || !ok {
		return nil
	}
	v.rev = got.rev
	switch {
	case got.tree != nil:
		another := v.tree == nil || v.tree.ID != got.tree.ID
		v.group, v.tree, v.rows = got.group, got.tree, got.rows
		cmd := v.Changed(c)
		if another {
			v.List.First()
			v.Detail.Top = 0
		}
		return cmd
	case got.group != nil: // as it was
		v.group = got.group
	}
	return nil
}

// page is the hops of the call.
func (v *traceScreen) page(*tui.Ctx) page.Page {
	p := page.Page{
		Title: "Hops", Table: page.Table{Len: len(v.rows), Row: func(int) page.Row { return page.Row{} }},
		None: [2]string{"No trace yet.", "A call to an agent through a router, and every call of the demo, carries a trace context. :hops on a call in Traffic."},
	}
	if v.tree != nil {
		p.Badge = "…" + v.tree.ID[max(len(v.tree.ID)-8, 0):] // those of one program begin alike
		if notes := v.tree.Notes(); len(notes) > 0 {
			p.Foot = notes[0]
		}
	}
	return p
}

func (v *traceScreen) breadcrumb(*tui.Ctx) string {
	if len(v.rows) == 0 {
		return ""
	}
	return safe.Line(v.rows[0].Label(), 60)
}

func (v *traceScreen) plain(_ *tui.Ctx, w io.Writer) {
	if v.tree == nil {
		_, _ = fmt.Fprintln(w, "No trace yet.")
		return
	}
	_ = v.tree.Write(w, 100, func(s string) string { return safe.Line(s, 300) })
}
