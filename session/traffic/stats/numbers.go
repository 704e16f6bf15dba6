// Package stats counts what a journal has: how many calls of each method and tool there were, how long they took and how many
// failed; and it lays calls out in time. Both take in entries as they are appended, and know nothing of a screen. And it says how
// servers are reached, in the OpenMetrics text format: see [Metrics].
package stats

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Buckets is how many parts of the time a Series has.
const Buckets = 64

const (
	maxRows = 5000    // rows of Numbers; calls of further tools count for their method only
	maxOpen = 100_000 // calls that run, before those are forgotten that the journal dropped
)

// Key is what calls are counted by.
type Key struct {
	Server, Hop, Method, Tool string
}

// Row is the numbers of the calls with one key.
type Row struct {
	Key
	Calls, Failed, Cancelled, Pending int
	Bytes                             int64 // of the frames of the calls
	Series                            [Buckets]Bucket
	times                             histogram
}

// Bucket is a part of the time: how many calls began in it, and how many of those failed.
type Bucket struct {
	Calls, Failed int
}

// Quantile is the time that a share of the answered calls stayed below, within 1.6 %; 0 where none was answered.
func (r *Row) Quantile(q float64) time.Duration { return r.times.quantile(q) }

// ErrorRate is the share of the ended calls that failed.
func (r *Row) ErrorRate() float64 {
	if ended := r.Calls - r.Pending; ended > 0 {
		return float64(r.Failed) / float64(ended)
	}
	return 0
}

// Numbers counts calls. The zero value counts those of a whole journal. It is not safe for concurrent use.
type Numbers struct {
	// Only selects the requests that count; nil is all.
	Only *filter.Filter

	rows  map[Key]*Row
	total Row
	open  map[uint64]begun
	start int64         // of the first bucket
	width time.Duration // of a bucket
	seen  uint64
}

// begun is a call that has not ended.
type begun struct {
	row    *Row
	bucket int
}

// Update takes in what was appended since the last time, until ctx ends; it reports whether that was all.
func (n *Numbers) Update(ctx context.Context, j *journal.Journal) bool {
	done, k := true, 0
	j.Each(n.seen, func(e *journal.Entry) bool {
		if k++; k&1023 == 0 && ctx.Err() != nil {
			done = false
			return false
		}
		n.seen = e.Seq
		n.add(j, e)
		return true
	})
	if first := j.First(); len(n.open) > maxOpen {
		maps.DeleteFunc(n.open, func(seq uint64, _ begun) bool { return seq < first })
	}
	return done
}

// Seen is the Seq of the last entry that was taken in.
func (n *Numbers) Seen() uint64 { return n.seen }

func (n *Numbers) add(j *journal.Journal, e *journal.Entry) {
	switch e.Kind {
	case journal.Request:
		if e.Mark == 0 && n.Only.Match(j, e) {
			n.begin(e)
		}
	case journal.Response, journal.ErrorResponse:
		if b, ok := n.open[e.Peer]; ok && e.Mark == 0 {
			b.row.Bytes += int64(e.Size)
			n.end(e.Peer, b, e.Status, e.Took)
		}
	case journal.Span:
		if n.Only.Match(j, e) {
			b := n.begin(e)
			n.end(e.Seq, b, e.Status, e.Took)
		}
	case journal.Notification, journal.State:
		if b, ok := n.open[e.Root]; ok {
			b.row.Bytes += int64(e.Size)
			n.total.Bytes += int64(e.Size)
		}
		if b, ok := n.open[e.Peer]; ok && e.Peer != 0 {
			if q, ok := j.Get(e.Peer); ok && q.Status != journal.Pending {
				n.end(e.Peer, b, q.Status, 0)
			}
		}
	}
}

func (n *Numbers) begin(e *journal.Entry) begun {
	if n.rows == nil {
		n.rows, n.open = map[Key]*Row{}, map[uint64]begun{}
		n.start, n.width = e.Time.UnixNano(), 10*time.Millisecond
	}
	key := Key{e.Server, e.Hop, e.Method, e.Tool}
	row := n.rows[key]
	if row == nil && len(n.rows) >= maxRows {
		key.Tool = ""
		if row = n.rows[key]; row == nil && len(n.rows) >= 2*maxRows {
			key = Key{}
			row = n.rows[key]
		}
	}
	if row == nil {
		row = &Row{Key: key}
		n.rows[key] = row
	}
	at := n.bucket(e.Time.UnixNano())
	for _, r := range []*Row{row, &n.total} {
		r.Calls++
		r.Pending++
		r.Bytes += int64(e.Size)
		r.Series[at].Calls++
	}
	b := begun{row, at}
	n.open[e.Seq] = b
	return b
}

func (n *Numbers) end(seq uint64, b begun, status string, took time.Duration) {
	delete(n.open, seq)
	for _, r := range []*Row{b.row, &n.total} {
		r.Pending--
		switch status {
		case journal.Cancelled:
			r.Cancelled++
		case journal.Failed:
			r.Failed++
			r.Series[min(b.bucket, Buckets-1)].Failed++
		}
		if took > 0 {
			r.times.add(took)
		}
	}
}

// bucket is the one that a time lies in. Where the last one ends before it, buckets become longer until it does not.
func (n *Numbers) bucket(at int64) int {
	i := max(at-n.start, 0) / int64(n.width)
	for ; i >= Buckets; i /= 2 {
		n.width *= 2
		n.total.mergeBuckets()
		for _, r := range n.rows {
			r.mergeBuckets()
		}
		for seq, b := range n.open {
			b.bucket /= 2
			n.open[seq] = b
		}
	}
	return int(i)
}

// mergeBuckets merges each two buckets into one, since the series became longer than Buckets.
func (r *Row) mergeBuckets() {
	for i := range r.Series {
		var b Bucket
		if 2*i < Buckets {
			x, y := r.Series[2*i], r.Series[2*i+1]
			b = Bucket{x.Calls + y.Calls, x.Failed + y.Failed}
		}
		r.Series[i] = b
	}
}

// Span is when the first bucket begins, and how long each of them is.
func (n *Numbers) Span() (start time.Time, bucket time.Duration) {
	return time.Unix(0, n.start), n.width
}

// Used is how many buckets of a Series lie before the end of what was counted.
func (n *Numbers) Used() int {
	used := Buckets
	for used > 1 && n.total.Series[used-1].Calls == 0 {
		used--
	}
	return used
}

// Total is the numbers of all calls.
func (n *Numbers) Total() *Row { return &n.total }

// Order is what rows are sorted by.
type Order uint8

// The orders. All but ByName have the largest first.
const (
	ByCalls Order = iota
	ByErrors
	ByP50
	ByP95
	ByP99
	ByBytes
	ByName
	NumOrders
)

// String is the title of the column.
func (o Order) String() string {
	return [...]string{"calls", "errors", "p50", "p95", "p99", "bytes", "name"}[o%NumOrders]
}

// Rows are the numbers of each key in an order, equal ones by name.
func (n *Numbers) Rows(by Order) []*Row {
	type sortable struct {
		row *Row
		key float64
	}
	all := make([]sortable, 0, len(n.rows))
	for _, r := range n.rows {
		var key float64
		switch by {
		case ByCalls:
			key = float64(r.Calls)
		case ByErrors:
			key = r.ErrorRate()
		case ByP50:
			key = float64(r.Quantile(0.5))
		case ByP95:
			key = float64(r.Quantile(0.95))
		case ByP99:
			key = float64(r.Quantile(0.99))
		case ByBytes:
			key = float64(r.Bytes)
		}
		all = append(all, sortable{r, key})
	}
	slices.SortFunc(all, func(a, b sortable) int {
		return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.row.Server, b.row.Server), cmp.Compare(a.row.Hop, b.row.Hop),
			cmp.Compare(a.row.Method, b.row.Method), cmp.Compare(a.row.Tool, b.row.Tool))
	})
	out := make([]*Row, len(all))
	for i := range all {
		out[i] = all[i].row
	}
	return out
}

// A histogram counts times in steps of 1/64 of a power of two.
type histogram struct {
	octaves  [64]*[64]uint32
	n        int
	min, max time.Duration
}

func (h *histogram) add(d time.Duration) {
	if h.n == 0 || d < h.min {
		h.min = d
	}
	h.max = max(h.max, d)
	h.n++
	octave, step := place(d)
	if h.octaves[octave] == nil {
		h.octaves[octave] = new([64]uint32)
	}
	h.octaves[octave][step]++
}

// place is the power of two below d, and the step in it.
func place(d time.Duration) (octave, step int) {
	octave = bits.Len64(uint64(d)) - 1
	if octave >= 6 {
		return octave, int(uint64(d)>>(octave-6)) & 63
	}
	return octave, int(uint64(d)<<(6-octave)) & 63
}

func (h *histogram) quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	want := max(int(math.Ceil(q*float64(h.n))), 1)
	for octave, steps := range h.octaves {
		if steps == nil {
			continue
		}
		for step, n := range steps {
			if want -= int(n); want <= 0 {
				width := max(uint64(1)<<octave/64, 1)
				mid := uint64(1)<<octave + uint64(step)*(1<<octave)/64 + width/2
				return min(max(time.Duration(mid), h.min), h.max)
			}
		}
	}
	return h.max
}
