package traffic

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/traffic/stats"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/pane"
)

func (v *timeline) actions() []tui.Action {
	lanes := func(id string, verb tui.Verb, title, help string, hint int, run func(*tui.Ctx) tea.Cmd) tui.Action {
		return tui.Action{ID: "timeline." + id, Verb: verb, Title: title, Group: "Timeline", Pane: "lanes", Help: help, Hint: hint, Disabled: v.none, Run: run}
	}
	named := func(a tui.Action) tui.Action {
		a.Word = strings.TrimPrefix(a.ID, "timeline.")
		return a
	}
	plus := lanes("in", tui.VerbZoomIn, "zoom in", "Show half as much time, around the call under the cursor.", 3, func(*tui.Ctx) tea.Cmd { v.zoom(0.5); return nil })
	return []tui.Action{
		lanes("open", tui.VerbOpen, "frames", "Show the frames of the call under the cursor.", 1, func(c *tui.Ctx) tea.Cmd {
			if v.call == 0 {
				return nil
			}
			return c.Navigate("traffic", pane.FramesOf(v.call))
		}),
		lanes("range", tui.VerbFold, "range", "Begin a range at the call under the cursor, or end it there: traffic, logs and numbers show that time only.", 2, v.space),
		plus,
		lanes("out", tui.VerbZoomOut, "zoom out", "Show twice as much time.", 4, func(*tui.Ctx) tea.Cmd { v.zoom(2); return nil }),
		named(lanes("fit", "", "all", "Show the whole time, also while more calls arrive.", 5, func(*tui.Ctx) tea.Cmd { v.mode = fit; v.changed(); return nil })),
		named(lanes("follow", "", "follow", "Stay at the newest calls without showing more time.", 6, func(*tui.Ctx) tea.Cmd { v.mode = tail; v.changed(); return nil })),
		lanes("earlier", tui.VerbEarlier, "earlier", "Move the window half its width towards the past.", 0, func(*tui.Ctx) tea.Cmd { v.pan(-0.5); return nil }),
		lanes("later", tui.VerbLater, "later", "Move the window half its width towards the present.", 0, func(*tui.Ctx) tea.Cmd { v.pan(0.5); return nil }),
		{
			ID: "timeline.probes", Word: "probes", Title: "probes", Group: "Timeline", Help: "Show or hide health checks and probes, here, in the traffic and in the ticker.",
			Run: func(c *tui.Ctx) tea.Cmd {
				keep := c.FlipProbes()
				v.probes = c.ShowsProbes()
				return tea.Batch(keep, v.recount(c))
			},
		},
		{
			ID: "timeline.clear", Word: "clear", Title: "all the time", Group: "Timeline",
			Help: "Take the range away, here and on the other screens.",
			Disabled: func(*tui.Ctx) string {
				if !v.ranged() {
					return "there is no range"
				}
				return ""
			},
			Run: v.clear,
		},
		{
			ID: "timeline.sort", Word: "sort", Title: "sort", Group: "Numbers", Pane: "numbers", Hint: 2, Help: "Sort the numbers by the next column.",
			Run: func(*tui.Ctx) tea.Cmd {
				v.order = (v.order + 1) % stats.NumOrders
				v.changed()
				return nil
			},
		},
		{
			ID: "timeline.calls", Verb: tui.VerbOpen, Title: "its traffic", Group: "Numbers", Pane: "numbers", Hint: 1,
			Help: "List the frames of this method and tool.",
			Disabled: func(*tui.Ctx) string {
				if v.row() == nil {
					return "nothing is selected"
				}
				return ""
			},
			Run: func(c *tui.Ctx) tea.Cmd { return c.Navigate("traffic", pane.Filtered(v.condition(v.row()))) },
		},
	}
}

func (v *timeline) none(*tui.Ctx) string {
	if len(v.lanes.All()) == 0 {
		return "there are no calls"
	}
	return ""
}

func (v *timeline) ranged() bool { return v.mark != 0 || v.brush != [2]int64{} }

// condition is the filter that finds the frames of a row, within the range.
func (v *timeline) condition(r *stats.Row) string {
	out := filter.Term("method", r.Method)
	if r.Method == "" { // of all that had no row of their own
		return v.expr()
	}
	if r.Tool != "" {
		out = filter.Term("tool", r.Tool) + " " + out
	}
	if len(v.lanes.All()) > 1 {
		out += " " + filter.Term("server", r.Server)
	}
	if e := v.expr(); e != "" {
		out += " " + e
	}
	return out
}

// expr is the range as a condition, "" without one.
func (v *timeline) expr() string {
	if v.brush == [2]int64{} {
		return ""
	}
	const day, clock = "2006-01-02", "15:04:05.000"
	first, last := v.lanes.Range()
	at := func(ns int64, layout string) string { return time.Unix(0, ns).Format(layout) }
	from, to := clock, clock
	switch {
	case at(first, day) == at(last, day):
	case at(v.brush[0], day) == at(v.brush[1], day):
		from = day + "T" + clock
	default:
		from, to = day+"T"+clock, day+"T"+clock
	}
	return "at:" + at(v.brush[0], from) + ".." + at(v.brush[1], to)
}

// space begins a range, or ends it and narrows everything to it.
func (v *timeline) space(c *tui.Ctx) tea.Cmd {
	q := v.selected()
	if q == nil {
		return nil
	}
	end := q.End
	if q.State == stats.Running {
		_, end = v.lanes.Range()
	}
	v.changed()
	if v.mark == 0 {
		v.mark = q.Start
		return c.Toast(tui.Note, "the range begins here: move to its other end and press space again")
	}
	from, to := min(v.mark, q.Start), max(v.mark, end)
	v.mark, v.brush = 0, [2]int64{from, max(to, from)}
	return v.narrow(c)
}

func (v *timeline) clear(c *tui.Ctx) tea.Cmd {
	had := v.brush != [2]int64{}
	v.mark, v.brush = 0, [2]int64{}
	v.changed()
	if !had {
		return nil
	}
	return v.narrow(c)
}

// hints say how to take the range away, and how to leave the screen, which has no number.
func (v *timeline) hints(*tui.Ctx) []tui.Hint {
	if v.ranged() {
		return append([]tui.Hint{{Key: "esc", Title: "all the time"}}, pane.BackHint(true)...)
	}
	return pane.BackHint(true)
}

// narrow makes the range that of the numbers, and of all other screens.
func (v *timeline) narrow(c *tui.Ctx) tea.Cmd {
	expr := v.expr()
	return tea.Batch(func() tea.Msg { return pane.Range(expr) }, v.recount(c))
}

// checkFilter says what is wrong with a text as a filter of the calls.
func (v *timeline) checkFilter(_ *tui.Ctx, text string) *tui.FilterError {
	return pane.FilterError(filter.Options{}, text)
}

// completeFilter completes keys, and values of the journal.
func (v *timeline) completeFilter(c *tui.Ctx, text string, cursor int) []tui.Completion {
	return pane.Completions(&v.known, c, text, cursor)
}
