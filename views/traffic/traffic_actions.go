package traffic

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
)

func (v *traffic) actions() []tui.Action {
	return append([]tui.Action{
		{
			ID: "traffic.peer", Word: "pair", Title: "pair", Group: "Traffic", Hint: 3,
			Help: "Go from a request to its answer, or back.", Disabled: v.noPeer, Run: v.peer,
		},
		{
			ID: "traffic.pings", Word: "probes", Title: "pings", Group: "Traffic", Hint: 5, Pane: "list",
			Help: "Show or hide health checks and probes.", Run: v.pings,
		},
		{
			ID: "traffic.frames", Verb: tui.VerbShow, Word: "frames", Title: "frames", Group: "Traffic", Hint: 3, Pane: "list",
			Help: "List every frame, or a row for each exchange: a request with its answer and all between; it is remembered. Leaves the frames of one call.",
			Now: func(*tui.Ctx) string {
				if v.only.Seq != 0 {
					return "all frames"
				}
				if !v.Feed.Exchanges {
					return "exchanges"
				}
				return ""
			},
			Run: v.flip,
		},
		{
			ID: "traffic.call", Verb: tui.VerbFrames, Title: "frames of the call", Group: "Traffic", Hint: 2, Hinted: v.whole, Pane: "list",
			Help:     "Follow the call: show its frames, and what the server asked and reported meanwhile.",
			Disabled: v.noCall,
			Run: func(c *tui.Ctx) tea.Cmd {
				e, _ := v.Entry(c)
				return v.follow(c, v.request(c, e))
			},
		},
		pane.HopsAction("traffic", "list", func(*tui.Ctx) uint64 { return v.Feed.Selected() }),
		{
			ID: "traffic.timeline", Word: "timeline", Title: "timeline", Group: "Traffic", Help: "Show the calls in time, a lane for each server, and the numbers of each tool.",
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("timeline", v.Feed.Selected()) },
		},
		{
			ID: "traffic.export", Verb: tui.VerbSave, Word: "export", Title: "export", Group: "Traffic", Hint: 8, Pane: "list",
			Help: "Write what the filter leaves as an HTML page, HAR or JSONL, without secrets: what was taken out is shown first.",
			Run:  v.export,
		},
		{
			ID: "traffic.next", Word: "next", Title: "next of the conversation", Group: "Traffic", Pane: "list",
			Help:     "Go to the next row with the same method and target on the same connection.",
			Disabled: v.Nothing, Run: func(c *tui.Ctx) tea.Cmd { return v.conversation(c, false) },
		},
		{
			ID: "traffic.previous", Word: "previous", Title: "previous of the conversation", Group: "Traffic", Pane: "list",
			Help:     "Go to the previous row with the same method and target on the same connection.",
			Disabled: v.Nothing, Run: func(c *tui.Ctx) tea.Cmd { return v.conversation(c, true) },
		},
		{
			ID: "traffic.relative", Word: "relative", Title: "relative time", Group: "Traffic", Pane: "list",
			Help:     "Show times relative to this row; again on the same row shows the time of day.",
			Disabled: v.Nothing, Run: v.relative,
		},
		{
			ID: "traffic.only", Word: "only", Title: "filter on this", Group: "Traffic", Hint: 4, Hinted: v.whole, Pane: "list",
			Help:     "Choose a field of the row, and list only rows that have the same.",
			Disabled: v.Nothing, Run: func(c *tui.Ctx) tea.Cmd { return v.filterOn(c, "") },
		},
		{
			ID: "traffic.without", Word: "exclude", Title: "filter out this", Group: "Traffic", Pane: "list",
			Help:     "Choose a field of the row, and list no rows that have the same.",
			Disabled: v.Nothing, Run: func(c *tui.Ctx) tea.Cmd { return v.filterOn(c, "-") },
		},
		{
			ID: "traffic.mark", Verb: tui.VerbFold, Title: "mark", Group: "Traffic", Pane: "list",
			Help: "Mark the row, or take its mark away; marks and notes are kept in the journal file.",
			Now: func(c *tui.Ctx) string {
				if c.Sessions.Journal().Note(v.Feed.Selected()).Marked {
					return "unmark"
				}
				return ""
			},
			Disabled: v.Nothing, Run: v.mark,
		},
		{
			ID: "traffic.note", Word: "note", Title: "note", Group: "Traffic", Pane: "list",
			Help: "Put a line of text on the row, or take it away.", Disabled: v.Nothing, Run: v.note,
		},
		{
			ID: "traffic.nextmark", Word: "nextmark", Title: "next mark", Group: "Traffic", Pane: "list",
			Help: "Go to the next row with a mark or a note.", Disabled: v.noMarks, Run: func(c *tui.Ctx) tea.Cmd { return v.toMark(c, false) },
		},
		{
			ID: "traffic.previousmark", Word: "previousmark", Title: "previous mark", Group: "Traffic", Pane: "list",
			Help: "Go to the previous row with a mark or a note.", Disabled: v.noMarks, Run: func(c *tui.Ctx) tea.Cmd { return v.toMark(c, true) },
		},
		expertAction("traffic", v.Feed.Selected),
	}, append(pane.AgainActions("traffic", "", true, func(*tui.Ctx) uint64 { return v.Feed.Selected() }), v.ListActions("frame", "Open an exchange into its frames, a frame as it was on the wire.", func(*tui.Ctx) string {
		if v.Feed.Exchanges {
			return "open"
		}
		return ""
	})...)...)
}

// whole is whether the list is not that of the frames of one call.
func (v *traffic) whole(*tui.Ctx) bool { return v.only.Seq == 0 }

// pings shows or hides what is routine.
func (v *traffic) pings(c *tui.Ctx) tea.Cmd {
	return tea.Batch(c.FlipProbes(), v.arrange(c), v.Load(c))
}

// flip lists frames in place of exchanges, or exchanges in place of frames.
func (v *traffic) flip(c *tui.Ctx) tea.Cmd {
	if v.only.Seq != 0 {
		return v.leave(c)
	}
	want := listFrames
	if !v.Feed.Exchanges {
		want = "exchanges"
	}
	keep := c.Prefer(listPreference, want)
	return tea.Batch(keep, v.arrange(c), v.Load(c))
}

func (v *traffic) noPeer(c *tui.Ctx) string {
	e, ok := v.Entry(c)
	switch {
	case v.Feed.Exchanges:
		return "a row has both"
	case !ok || e.Peer == 0:
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

// request is the request that an entry belongs to, 0 if none.
func (v *traffic) request(c *tui.Ctx, e journal.Entry) uint64 {
	if q, ok := c.Sessions.Journal().Get(e.Root); ok && q.Kind == journal.Request {
		return q.Seq
	}
	return 0
}

func (v *traffic) noCall(c *tui.Ctx) string {
	e, _ := v.Entry(c)
	if r := v.request(c, e); r == 0 || r == v.only.Seq {
		return "it belongs to no call"
	}
	return ""
}

// conversation goes to the next row, or the one before, that is of the same method and target on the same connection.
func (v *traffic) conversation(c *tui.Ctx, back bool) tea.Cmd {
	type key struct {
		server       string
		conn         uint64
		method, tool string
	}
	j := c.Sessions.Journal()
	of := func(e *journal.Entry) key {
		k := key{e.Server, e.Conn, e.Method, e.Tool}
		if q, ok := j.Get(e.Root); ok && e.Root != e.Seq {
			k.method, k.tool = q.Method, q.Tool
		}
		return k
	}
	e, ok := v.Entry(c)
	if !ok {
		return nil
	}
	want := of(&e)
	seq := v.Feed.Seek(back, func(e *journal.Entry) bool { return of(e) == want })
	if seq == 0 {
		return c.Toast(tui.Note, "no other row of "+cmp.Or(e.Method, "this kind")+" on this connection")
	}
	v.Feed.Jump(seq)
	return v.Load(c)
}

// relative makes times relative to the row under the cursor, or shows them as they were.
func (v *traffic) relative(c *tui.Ctx) tea.Cmd {
	e, _ := v.Entry(c)
	if e.Seq == v.ref.Seq {
		e = journal.Entry{}
	}
	v.ref = e
	return nil
}
