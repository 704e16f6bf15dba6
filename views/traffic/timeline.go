package traffic

import (
	"context"
	"math"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/traffic/stats"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/widget"
	"github.com/mcphud/mcphud/views/pane"
)

// timeline shows the calls of all servers in time, a lane for each, and the numbers of each method and tool. Navigate's Arg may be
// the Seq (uint64) of a request to go to.
type timeline struct {
	foreign *Foreign // whose calls they are; nil for those of the sessions
	j       *journal.Journal
	counted
	busy bool // a count runs beside the event loop
	run  int  // of counts

	mode     follow
	from, to int64  // the window, in Unix nanoseconds
	lane     int    // under the cursor
	call     uint64 // the request under the cursor, 0 before there is one
	columns  int    // of the lanes, as they were drawn last
	label    int    // cells of their names
	top      int    // first lane drawn
	drawn    []drawnLane
	mark     int64    // where a range begins that has no end yet, 0 if none
	brush    [2]int64 // the range that everything is narrowed to; none if both are 0

	table  widget.Table
	rows   []*stats.Row
	order  stats.Order
	sorted uint64 // rev at which rows were sorted

	typed  string // the filter, by which calls are left out
	probes bool   // so are health checks and probes, unless this
	known  filter.Seen

	drawnAt time.Time // when it was last drawn anew
	soon    bool      // it will be drawn anew
	rev     uint64
}

// counted is what was counted of a journal.
type counted struct {
	lanes   *stats.Lanes
	numbers *stats.Numbers // within the range
	run     int
}

// follow is what the window does while calls arrive.
type follow uint8

const (
	fit   follow = iota // it shows all there is
	tail                // it stays at the end
	still               // it stays where it is
)

// NewTimeline is the journal laid out in time; foreign is whose traffic it is, nil for that of the sessions.
func NewTimeline(f *Foreign) *tui.Screen {
	return (&timeline{foreign: f, counted: counted{lanes: &stats.Lanes{}, numbers: &stats.Numbers{}}}).screen()
}

func (v *timeline) screen() *tui.Screen {
	return &tui.Screen{
		ID: "timeline", Title: "Timeline", Aliases: []string{"lanes", "numbers", "stats"}, Tab: "traffic", Peer: true, NoRail: true, AllServers: true,
		Split: 60, StackUnder: 1 << 20,
		Panes:   []tui.PaneSpec{{ID: "lanes", Title: "Timeline"}, {ID: "numbers", Title: "Numbers"}},
		Actions: v.actions, Handle: v.handle, Draw: v.draw, Plain: v.plain,
		Hints: v.hints, CheckFilter: v.checkFilter, CompleteFilter: v.completeFilter,
	}
}

// changed makes everything be drawn again.
func (v *timeline) changed() { v.rev, v.drawnAt = v.rev+1, time.Now() }

func (v *timeline) handle(c *tui.Ctx, msg tea.Msg) (tea.Cmd, bool) {
	switch m := msg.(type) {
	case tui.SessionChanged:
		if c.View != "timeline" {
			return nil, false
		}
		return v.take(c), true
	case timelineDue:
		v.soon = false
		v.changed()
		return nil, true
	case tui.Navigate:
		cmd := v.take(c)
		if v.probes != c.ShowsProbes() {
			v.probes = !v.probes
			cmd = v.recount(c)
		}
		if seq, ok := m.Arg.(uint64); ok {
			v.show(seq)
		}
		return cmd, true
	case tui.FilterChanged:
		if m.Text == v.typed || pane.FilterError(filter.Options{}, m.Text) != nil {
			return nil, true
		}
		v.typed = m.Text
		for _, other := range []string{"lanes", "numbers"} { // it is one filter for both
			c.FilterApplied("timeline", other, m.Text)
		}
		return v.recount(c), true
	case tui.OpDone:
		v.busy = false
		if got, ok := m.Value.(counted); ok && m.Err == nil && got.run == v.run {
			v.counted = got
			v.counted.run = 0
			v.changed()
			v.keep()
		}
		return v.take(c), true
	case tui.PaneMouse:
		if m.Pane == "numbers" {
			if pane.MouseTo(m, v.table.Mouse) == widget.HitOpen && v.row() != nil {
				return c.Navigate("traffic", pane.Filtered(v.condition(v.row()))), true
			}
			v.changed()
			return nil, true
		}
		return v.mouse(c, m), true
	case tea.KeyPressMsg:
		switch {
		case pane.IsBack(msg):
			return c.Back(), true
		case m.String() == "esc" && v.ranged():
			return v.clear(c), true
		}
		if c.Focus == "numbers" {
			v.changed()
			return nil, v.table.Key(m.String())
		}
		return nil, v.key(m.String())
	}
	return nil, false
}

// slowCount is the number of entries from which on they are counted beside the event loop.
const slowCount = 20_000

// take takes in what was appended.
func (v *timeline) take(c *tui.Ctx) tea.Cmd {
	j := c.Sessions.Journal()
	if j == nil || v.busy {
		return nil
	}
	if j != v.j {
		v.j, v.counted = j, v.uncounted()
		v.changed()
	}
	if last := j.First() + uint64(j.Len()) - 1; last > min(v.lanes.Seen(), v.numbers.Seen())+slowCount {
		return v.count(c)
	}
	was := v.lanes.Seen()
	v.lanes.Update(context.Background(), j)
	v.numbers.Update(context.Background(), j)
	if v.call == 0 {
		v.last()
	}
	switch {
	case v.lanes.Seen() == was || v.soon:
	case time.Since(v.drawnAt) < timelinePause:
		v.soon = true
		return c.After(timelinePause, func() tea.Msg { return timelineDue{} })
	default:
		v.changed()
	}
	return nil
}

// timelinePause is the least time between two drawings of calls that arrive.
const timelinePause = 100 * time.Millisecond

// timelineDue says that it is over.
type timelineDue struct{}

// uncounted is what nothing was counted for yet.
func (v *timeline) uncounted() counted {
	typed := v.typed
	if typed == "" && !v.probes { // a filter finds everything
		typed = "-method:ping -method:server/discover"
	}
	lanes, err := filter.Parse(typed)
	if err != nil { // cannot happen: it was checked
		lanes = nil
	}
	numbers, err := filter.Parse(typed + " " + v.expr())
	if err != nil { // cannot happen either
		numbers = lanes
	}
	return counted{&stats.Lanes{Only: lanes}, &stats.Numbers{Only: numbers}, v.run}
}

// recount counts anew, under another filter or range.
func (v *timeline) recount(c *tui.Ctx) tea.Cmd {
	if v.j == nil {
		return v.take(c)
	}
	return v.count(c)
}

// count counts all from the beginning, beside the event loop; what was counted before is shown meanwhile.
func (v *timeline) count(c *tui.Ctx) tea.Cmd {
	v.busy = true
	v.run++
	j, got := v.j, v.uncounted()
	cmd, _ := c.Replace("timeline", "count", "count calls", func(ctx context.Context) (any, error) {
		got.lanes.Update(ctx, j)
		got.numbers.Update(ctx, j)
		return got, ctx.Err()
	})
	return cmd
}

// selected is the call under the cursor.
func (v *timeline) selected() *stats.Call {
	all := v.lanes.All()
	if v.lane >= len(all) {
		return nil
	}
	if i, ok := index(all[v.lane], v.call); ok {
		return &all[v.lane].Calls[i]
	}
	return nil
}

// index is where the call of a request is, or would be.
func index(l *stats.Lane, seq uint64) (int, bool) {
	return slices.BinarySearchFunc(l.Calls, seq, func(c stats.Call, seq uint64) int {
		switch {
		case c.Seq < seq:
			return -1
		case c.Seq > seq:
			return 1
		}
		return 0
	})
}

// show puts the cursor on the call of a request, and it into the window.
func (v *timeline) show(seq uint64) {
	if e, ok := v.j.Get(seq); ok && e.Root != 0 {
		seq = e.Root
	}
	for i, l := range v.lanes.All() {
		if k, ok := index(l, seq); ok {
			v.lane = i
			v.put(&l.Calls[k])
			return
		}
	}
}

// keep has the cursor on a call that is left: the one it is on, else the newest.
func (v *timeline) keep() {
	seq := v.call
	if v.selected() != nil || seq == 0 {
		return
	}
	v.call = 0
	if v.show(seq); v.call == 0 {
		v.last()
	}
	if q := v.selected(); q != nil {
		v.put(q)
	}
}

// last puts the cursor on the newest call.
func (v *timeline) last() {
	for i, l := range v.lanes.All() {
		if n := len(l.Calls); n > 0 && l.Calls[n-1].Seq > v.call {
			v.lane, v.call = i, l.Calls[n-1].Seq
			v.changed()
		}
	}
}

// put moves the cursor to a call, and the window so that it is seen.
func (v *timeline) put(c *stats.Call) {
	v.call = c.Seq
	v.changed()
	if w := v.window(); c.Start < w.From || c.Start > w.To {
		span := w.To - w.From
		v.mode, v.from = still, c.Start-span/2
		v.to = v.from + span
	}
}

// window is the part of the time that is shown.
func (v *timeline) window() stats.Window {
	from, to := v.lanes.Range()
	now := to
	if !v.over() {
		now = max(to, min(time.Now().UnixNano(), to+int64(time.Minute)))
	}
	w := stats.Window{From: from, To: to, Columns: max(v.columns, 1), Now: now}
	switch span := v.to - v.from; v.mode {
	case fit:
		w.To += max((to-from)/50, int64(time.Millisecond)) // what ends last has an end
	case tail:
		w.To = to + span/50
		w.From = w.To - max(span, 1)
	case still:
		w.From, w.To = v.from, v.to
	}
	v.from, v.to = w.From, w.To
	return w
}

// over is whether nothing comes any more.
func (v *timeline) over() bool { return v.foreign != nil && v.foreign.Over != nil && v.foreign.Over() }

// zoom shows so many times the time, around the call under the cursor, or the middle.
func (v *timeline) zoom(by float64) {
	w := v.window()
	span := float64(w.To - w.From)
	at := w.From + int64(span/2)
	if q := v.selected(); q != nil && q.Start >= w.From && q.Start <= w.To {
		at = q.Start
	}
	first, last := v.lanes.Range()
	most := 2 * math.Max(float64(last-first), 1e6)
	next := math.Min(math.Max(span*by, 1e3*float64(w.Columns)/100), most)
	share := float64(at-w.From) / math.Max(span, 1)
	v.mode, v.from = still, at-int64(next*share)
	v.to = v.from + int64(next)
	v.changed()
}

// pan moves the window by a share of its width.
func (v *timeline) pan(by float64) {
	w := v.window()
	d := int64(float64(w.To-w.From) * by)
	first, last := v.lanes.Range()
	d = min(max(d, first-w.To), last-w.From)
	v.mode, v.from, v.to = still, w.From+d, w.To+d
	v.changed()
}

// key moves the cursor.
func (v *timeline) key(k string) bool {
	all := v.lanes.All()
	if len(all) == 0 {
		return false
	}
	l := all[min(v.lane, len(all)-1)]
	i, _ := index(l, v.call)
	switch k {
	case "left", "h":
		v.step(l, i, -1)
	case "right", "l":
		v.step(l, i, 1)
	case "up", "k":
		v.toLane(v.lane-1, i)
	case "down", "j":
		v.toLane(v.lane+1, i)
	case "home", "g":
		v.put(&l.Calls[0])
	case "end", "G":
		v.put(&l.Calls[len(l.Calls)-1])
	default:
		return false
	}
	return true
}

// step goes to the next call, or the one before; where a column stands for many, to one of another column.
func (v *timeline) step(l *stats.Lane, i, by int) {
	const most = 200_000 // calls that are passed over
	w := v.window()
	w.Columns = max(v.columns, 1)
	dense := false
	for _, d := range v.drawn {
		dense = dense || d.view.Lane == l && d.view.Bins != nil
	}
	at := w.Column(l.Calls[min(i, len(l.Calls)-1)].Start)
	for n := 0; n < most; n++ {
		if i += by; i < 0 || i >= len(l.Calls) {
			return
		}
		if !dense || w.Column(l.Calls[i].Start) != at {
			break
		}
	}
	v.put(&l.Calls[i])
}

// toLane goes to the call of another lane that began next to the one under the cursor.
func (v *timeline) toLane(lane, i int) {
	all := v.lanes.All()
	if lane < 0 || lane >= len(all) || len(all[lane].Calls) == 0 {
		return
	}
	at := int64(0)
	if from := all[v.lane].Calls; i < len(from) {
		at = from[i].Start
	}
	v.toLaneAt(lane, at)
}

// toLaneAt goes to the call of a lane that began next to a time.
func (v *timeline) toLaneAt(lane int, at int64) {
	l := v.lanes.All()[lane]
	k, _ := slices.BinarySearchFunc(l.Calls, at, func(c stats.Call, at int64) int {
		if c.Start < at {
			return -1
		}
		return 1
	})
	if k == len(l.Calls) || k > 0 && at-l.Calls[k-1].Start <= l.Calls[k].Start-at {
		k--
	}
	v.lane = lane
	v.put(&l.Calls[k])
}
