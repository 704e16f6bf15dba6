package pane

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
)

// HopsAction goes to the hops of a call, from a pane that shows an entry of it; at yields its Seq, 0 where there is none.
func HopsAction(view, pane string, at func(*tui.Ctx) uint64) tui.Action {
	return tui.Action{
		ID: view + ".hops", Word: "hops", Title: "hops", Group: "Trace", Pane: pane,
		Help: "Show what a call did at each hop: client, router and agents, with their times.",
		Disabled: func(c *tui.Ctx) string {
			if !traced(c, at(c)) {
				return "this is not part of a call with a trace context"
			}
			return ""
		},
		Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("trace", at(c)) },
	}
}

// traced reports whether an entry is part of a call with a trace context.
func traced(c *tui.Ctx, seq uint64) bool {
	e, ok := c.Sessions.Journal().Get(seq)
	return ok && e.Trace != ""
}
