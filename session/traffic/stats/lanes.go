package stats

import (
	"bytes"
	"context"
	"math"
	"time"

	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// State is how a call stands.
type State uint8

// The states.
const (
	Running State = iota
	OK
	Failed
	Cancelled
)

func stateOf(status string) State {
	switch status {
	case journal.Failed:
		return Failed
	case journal.Cancelled:
		return Cancelled
	}
	return OK
}

// Call is a request with its answer, or a span, on its lane.
type Call struct {
	Seq   uint64
	Start int64 // Unix time in nanoseconds
	End   int64 // the same; math.MaxInt64 while it runs
	State State
}

// Tick is something that happened during a call.
type Tick struct {
	Root  uint64 // the call's Seq
	At    int64
	Round bool // the server asked for something; else it reported progress
}

const (
	blockLen = 256
	maxLanes = 100    // lanes; what further servers say is on the last one
	maxTicks = 50_000 // newest ticks of a lane
)

// Lane is the calls of one server, as one hop recorded them.
type Lane struct {
	Server, Hop string
	Calls       []Call // in the order of their requests; the oldest are dropped with the journal's
	Ticks       []Tick // in the order in which they happened
	blocks      []block
	dropped     int // calls, before the first of Calls
}

// A block sums up blockLen calls, so that a journal of a million frames can be laid out without looking at each.
type block struct {
	start, end int64 // of all its calls
	n, running int
	failed     int
}

// Lanes lays calls out in time. The zero value is empty. It is not safe for concurrent use.
type Lanes struct {
	// Only selects the requests that are laid out; nil is all.
	Only *filter.Filter

	all  []*Lane
	by   map[[2]string]*Lane
	open map[uint64]opened
	seen uint64
	from int64 // of the earliest call
	to   int64 // of the latest entry
}

// opened is where a call that runs is.
type opened struct {
	lane *Lane
	i    int // of its calls, those that were dropped included
	conn uint64
}

// All are the lanes in the order in which they began.
func (l *Lanes) All() []*Lane { return l.all }

// Seen is the Seq of the last entry that was taken in.
func (l *Lanes) Seen() uint64 { return l.seen }

// Range is the time from the first call to the last entry, in Unix nanoseconds; equal where there is nothing.
func (l *Lanes) Range() (from, to int64) { return l.from, l.to }

// Update takes in what was appended since the last time, until ctx ends; it reports whether that was all.
func (l *Lanes) Update(ctx context.Context, j *journal.Journal) bool {
	done, k := true, 0
	j.Each(l.seen, func(e *journal.Entry) bool {
		if k++; k&1023 == 0 && ctx.Err() != nil {
			done = false
			return false
		}
		l.seen = e.Seq
		l.add(j, e)
		return true
	})
	l.drop(j.First())
	return done
}

// drop forgets the calls that the journal dropped, when they are many.
func (l *Lanes) drop(first uint64) {
	for _, lane := range l.all {
		n := 0
		for (n+1)*blockLen <= len(lane.Calls) && lane.Calls[(n+1)*blockLen-1].Seq < first {
			n++
		}
		if n == 0 || 4*n < len(lane.blocks) {
			continue
		}
		for i := range lane.Calls[:n*blockLen] {
			delete(l.open, lane.Calls[i].Seq)
		}
		lane.Calls = append([]Call(nil), lane.Calls[n*blockLen:]...)
		lane.blocks = append([]block(nil), lane.blocks[n:]...)
		lane.dropped += n * blockLen
	}
}

func (l *Lanes) add(j *journal.Journal, e *journal.Entry) {
	at := e.Time.UnixNano()
	if len(l.all) > 0 {
		l.to = max(l.to, at)
	}
	switch e.Kind {
	case journal.Request:
		if e.Dir == journal.In {
			l.addQuestion(e, at)
		}
		if e.Method != "subscriptions/listen" && l.Only.Match(j, e) { // which is not a call but a stream: it would cover them
			l.begin(e, at)
		}
	case journal.Span:
		if !l.Only.Match(j, e) {
			return
		}
		l.begin(e, at)
		l.end(e.Seq, at+int64(e.Took), stateOf(e.Status))
	case journal.Response, journal.ErrorResponse:
		if e.Mark != 0 {
			return
		}
		if p, ok := l.open[e.Peer]; ok && asks(j, e) {
			p.lane.addTick(Tick{e.Peer, at, true})
		}
		l.end(e.Peer, at, stateOf(e.Status))
	case journal.Notification, journal.State:
		if p, ok := l.open[e.Root]; ok && e.Method == "notifications/progress" {
			p.lane.addTick(Tick{e.Root, at, false})
		}
		if _, ok := l.open[e.Peer]; ok && e.Peer != 0 {
			if q, ok := j.Get(e.Peer); ok && q.Status != journal.Pending {
				l.end(e.Peer, at, stateOf(q.Status))
			}
		}
	}
}

// asks is whether an answer asks the client for something before there is a result (specification 2026-07-28: multi round-trip
// requests).
func asks(j *journal.Journal, e *journal.Entry) bool {
	const head = 4 << 10
	switch e.Method {
	case "tools/call", "prompts/get", "resources/read":
	default:
		return false
	}
	if e.Kind != journal.Response || e.Size > head {
		return false
	}
	b, err := j.Head(e.Seq, head)
	return err == nil && bytes.Contains(b, []byte(`"input_required"`))
}

// addQuestion marks a request of the server on the call that runs in its lane. Where several run, nothing says which of them it is about.
func (l *Lanes) addQuestion(e *journal.Entry, at int64) {
	lane := l.by[[2]string{e.Server, e.Hop}]
	if lane == nil || len(l.open) > 1000 {
		return
	}
	var root uint64
	for seq, p := range l.open {
		if p.lane == lane && p.conn == e.Conn {
			if root != 0 {
				return
			}
			root = seq
		}
	}
	if root != 0 {
		lane.addTick(Tick{root, at, true})
	}
}

func (n *Lane) addTick(t Tick) {
	if len(n.Ticks) >= 2*maxTicks {
		n.Ticks = append(n.Ticks[:0], n.Ticks[maxTicks:]...)
	}
	n.Ticks = append(n.Ticks, t)
}

func (l *Lanes) begin(e *journal.Entry, at int64) {
	if l.by == nil {
		l.by, l.open = map[[2]string]*Lane{}, map[uint64]opened{}
		l.from, l.to = at, at
	}
	l.from = min(l.from, at)
	key := [2]string{e.Server, e.Hop}
	lane := l.by[key]
	switch {
	case lane == nil && len(l.all) == maxLanes:
		lane = l.all[maxLanes-1]
	case lane == nil:
		lane = &Lane{Server: e.Server, Hop: e.Hop}
		l.by[key] = lane
		l.all = append(l.all, lane)
	}
	i := len(lane.Calls)
	lane.Calls = append(lane.Calls, Call{Seq: e.Seq, Start: at, End: math.MaxInt64})
	if i%blockLen == 0 {
		lane.blocks = append(lane.blocks, block{start: at, end: math.MinInt64})
	}
	b := &lane.blocks[i/blockLen]
	b.start = min(b.start, at)
	b.n++
	b.running++
	l.open[e.Seq] = opened{lane, lane.dropped + i, e.Conn}
}

func (l *Lanes) end(seq uint64, at int64, s State) {
	p, ok := l.open[seq]
	if !ok {
		return
	}
	delete(l.open, seq)
	i := p.i - p.lane.dropped
	c := &p.lane.Calls[i]
	c.End, c.State = max(at, c.Start), s
	l.to = max(l.to, c.End)
	b := &p.lane.blocks[i/blockLen]
	b.running--
	b.end = max(b.end, c.End)
	if s == Failed {
		b.failed++
	}
}

// Bin is a column of a lane: how many calls began in it, and how many of them failed.
type Bin struct {
	Calls, Failed int
}

// Bar is a call on one of the rows of a lane, in columns. Both ends are part of it; one that goes on behind the window ends in the
// column behind the last.
type Bar struct {
	Call     *Call
	Row      int
	From, To int
}

// Mark is a tick on one of the rows of a lane.
type Mark struct {
	Row, Column int
	Round       bool
}

// View is a lane as it looks in a window.
type View struct {
	Lane   *Lane
	Rows   int   // that the bars take, at least 1
	Bars   []Bar // by their start
	Marks  []Mark
	Bins   []Bin // in place of bars where there are too many of them
	Calls  int   // in the window
	Hidden int   // calls that overlap with so many that they have no row
}

// A Window is a part of the time on a number of columns.
type Window struct {
	From, To int64 // Unix time in nanoseconds
	Columns  int
	Now      int64 // where calls end that run
}

// Column is the column of a time, which may lie outside.
func (w Window) Column(at int64) int {
	span := max(w.To-w.From, 1)
	d := float64(at-w.From) / float64(span) * float64(w.Columns)
	return int(math.Floor(min(max(d, -1e6), 1e6)))
}

// Time is the time at which a column begins.
func (w Window) Time(column int) int64 {
	return w.From + int64(float64(w.To-w.From)*float64(column)/float64(max(w.Columns, 1)))
}

// Cell is the time that a column stands for.
func (w Window) Cell() time.Duration {
	return max(time.Duration((w.To-w.From)/int64(max(w.Columns, 1))), 1)
}

// barsPerColumn is how many calls of a lane a column may have on average before only their number is shown.
const barsPerColumn = 8

// View lays a lane out in a window, on no more than so many rows.
func (n *Lane) View(w Window, rows int) View {
	v := View{Lane: n, Rows: 1}
	for i, b := range n.blocks {
		if b.start <= w.To && (b.running > 0 || b.end >= w.From) {
			v.Calls += b.n
			if i == 0 || i == len(n.blocks)-1 || b.start < w.From || b.end > w.To || b.running > 0 { // only some of them may be
				v.Calls -= b.n
				for k := range n.block(i) {
					if c := &n.Calls[i*blockLen+k]; c.Start <= w.To && c.End >= w.From {
						v.Calls++
					}
				}
			}
		}
	}
	if v.Calls > barsPerColumn*w.Columns {
		v.Bins = n.bins(w)
		return v
	}
	var ends []int64 // of the last bar of each row
	row := map[uint64]int{}
	n.each(w, func(c *Call) {
		end := c.End
		if c.State == Running && end == math.MaxInt64 {
			end = max(w.Now, c.Start)
		}
		at := 0
		for at < len(ends) && ends[at] > c.Start {
			at++
		}
		switch {
		case at < len(ends):
			ends[at] = end
		case at < rows:
			ends = append(ends, end)
		default:
			v.Hidden++
			return
		}
		row[c.Seq] = at
		v.Bars = append(v.Bars, Bar{c, at, max(w.Column(c.Start), 0), min(w.Column(end), w.Columns)})
	})
	v.Rows = max(len(ends), 1)
	for i := len(n.Ticks) - 1; i >= 0 && len(v.Marks) < 4*w.Columns*v.Rows; i-- {
		t := n.Ticks[i]
		if at, ok := row[t.Root]; ok && t.At >= w.From && t.At < w.To {
			v.Marks = append(v.Marks, Mark{at, w.Column(t.At), t.Round})
		}
	}
	return v
}

func (n *Lane) block(i int) []Call {
	return n.Calls[i*blockLen : min((i+1)*blockLen, len(n.Calls))]
}

// each calls f for the calls in a window, in order.
func (n *Lane) each(w Window, f func(*Call)) {
	for i, b := range n.blocks {
		if b.start > w.To || b.running == 0 && b.end < w.From {
			continue
		}
		calls := n.block(i)
		for k := range calls {
			if c := &calls[k]; c.Start <= w.To && c.End >= w.From {
				f(c)
			}
		}
	}
}

// bins counts the calls that begin in each column.
func (n *Lane) bins(w Window) []Bin {
	out := make([]Bin, w.Columns)
	for i, b := range n.blocks {
		if b.start > w.To || b.running == 0 && b.end < w.From {
			continue
		}
		if from := w.Column(b.start); b.running == 0 && from >= 0 && from < w.Columns && w.Column(b.end) == from {
			out[from].Calls += b.n
			out[from].Failed += b.failed
			continue
		}
		for _, c := range n.block(i) {
			if at := w.Column(c.Start); at >= 0 && at < w.Columns {
				out[at].Calls++
				if c.State == Failed {
					out[at].Failed++
				}
			}
		}
	}
	return out
}
