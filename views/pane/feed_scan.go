package pane

import (
	"context"
	"slices"

	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// tally is what a feed counted of the entries that it looked at.
type tally struct {
	seen   uint64 // entries up to here were looked at
	all    int    // rows, filtered or not
	frames int    // entries that belong
	folded map[string]int
	odd    map[uint64]journal.Mark // what is odd about entries of an exchange, by its request
	heads  []uint64                // newest entries that may become part of an exchange: HTTP heads before their request
	names  map[string]int          // servers, and the cells of their names
}

// Bounds of what a tally keeps.
const (
	maxOdd     = 100_000
	maxHeads   = 64
	maxServers = 1_000
)

// add takes in what was counted after it.
func (t *tally) add(more *tally) {
	t.seen, t.all, t.frames = more.seen, t.all+more.all, t.frames+more.frames
	for what, n := range more.folded {
		count(&t.folded, what, n)
	}
	for root, m := range more.odd {
		t.strange(root, m)
	}
	for name := range more.names {
		t.server(name)
	}
	t.heads = more.heads
}

func count(m *map[string]int, what string, n int) {
	if *m == nil {
		*m = map[string]int{}
	}
	(*m)[what] += n
}

func (t *tally) strange(root uint64, m journal.Mark) {
	if t.odd == nil {
		t.odd = map[uint64]journal.Mark{}
	}
	if len(t.odd) < maxOdd {
		t.odd[root] |= m
	}
}

func (t *tally) head(seq uint64) {
	if len(t.heads) == maxHeads {
		t.heads = t.heads[1:]
	}
	t.heads = append(t.heads, seq)
}

func (t *tally) server(name string) {
	if _, known := t.names[name]; !known && len(t.names) < maxServers {
		count(&t.names, name, paint.Width(safe.Line(name, 64)))
	}
}

// scanned is the outcome of looking through entries.
type scanned struct {
	tally
	rows     []uint64 // to list, ascending
	off      []uint64 // not to list any more
	ended    []uint64 // earlier requests that ended meanwhile
	verdicts map[uint64]verdict
}

// verdict is what a filter says of an exchange: whether its request, and whether its other entries, are found and excluded.
type verdict uint8

const (
	found verdict = 1 << iota
	excluded
	others = 2 // bits by which what is said of other entries is shifted
)

// passes is whether the exchange is listed: an entry is found, and none is excluded.
func (v verdict) passes() bool {
	return v&(found|found<<others) != 0 && v&(excluded|excluded<<others) == 0
}

// judge is what the filter says of one entry.
func (f *Feed) judge(e *journal.Entry) (v verdict) {
	if f.filter.Finds(f.Journal, e) {
		v |= found
	}
	if f.filter.Excludes(f.Journal, e) {
		v |= excluded
	}
	return v
}

// owner is the Seq of the row that an entry is part of.
func (f *Feed) owner(e *journal.Entry) uint64 {
	if f.Exchanges && e.Root >= f.first && e.Root != 0 {
		return e.Root
	}
	return e.Seq
}

// scan picks the entries after those seen that belong and match.
func (f *Feed) scan(ctx context.Context) (s scanned) {
	live := f.seen > 0 // what was looked at before may have changed since
	s.seen, s.verdicts = f.seen, f.verdicts
	name, sorted, n := "", true, 0
	list := func(row uint64) {
		last := len(s.rows) - 1
		if last >= 0 && s.rows[last] == row {
			return
		}
		sorted = sorted && (last < 0 || s.rows[last] < row)
		s.rows = append(s.rows, row)
	}
	f.Journal.Each(f.seen, func(e *journal.Entry) bool {
		s.seen = e.Seq
		if n++; n&1023 == 0 && ctx.Err() != nil {
			return false
		}
		if _, ok := e.Annotation(); ok {
			s.ended = append(s.ended, e.Peer)
			if f.Exchanges && e.Root != 0 && !f.filter.Empty() && f.filter.Finds(f.Journal, e) {
				s.judged(e, f.owner(e), found)
				list(f.owner(e))
			}
			return true
		}
		if e.Server != name && e.Server != "" {
			name = e.Server
			s.server(name)
		}
		if e.Mark != 0 && e.Root != 0 && e.Root != e.Seq {
			s.strange(e.Root, e.Mark)
		}
		if live && e.Peer != 0 && e.Peer < e.Seq {
			s.ended = append(s.ended, e.Peer)
		}
		if !f.Belongs(e) {
			return true
		}
		s.frames++
		if what := f.fold(e); what != "" {
			if e.Kind == journal.Request {
				count(&s.folded, what, 1)
			}
			return true
		}
		row := f.owner(e)
		if row == e.Seq {
			s.all++
			if e.Kind == journal.HTTP && e.Root == 0 && e.ID != "" {
				s.head(e.Seq)
			}
		}
		if f.filter.Empty() {
			list(row)
		} else if v := f.judge(e); f.Exchanges && e.Root != 0 {
			s.judged(e, row, v)
			list(row)
		} else if v.passes() {
			list(row)
		}
		return true
	})
	if !f.filter.Empty() {
		f.again(&s, list)
	}
	if !sorted {
		slices.Sort(s.rows)
		s.rows = slices.Compact(s.rows)
	}
	if !f.filter.Empty() && f.Exchanges {
		s.rows = slices.DeleteFunc(s.rows, func(row uint64) bool {
			v, part := s.verdicts[row]
			off := part && !v.passes()
			if off && live {
				s.off = append(s.off, row)
			}
			return off
		})
	}
	return s
}

// judged notes what the filter says of an entry of an exchange.
func (s *scanned) judged(e *journal.Entry, row uint64, v verdict) {
	if s.verdicts == nil {
		s.verdicts = map[uint64]verdict{}
	}
	if row != e.Seq {
		v <<= others
	}
	s.verdicts[row] |= v
}

// again asks the filter about requests that ended since they were looked at.
func (f *Feed) again(s *scanned, list func(uint64)) {
	for _, seq := range s.ended {
		e, ok := f.Journal.Get(seq)
		if !ok || !f.Belongs(&e) || f.owner(&e) != seq {
			continue
		}
		switch v := f.judge(&e); {
		case f.Exchanges:
			if s.verdicts == nil {
				s.verdicts = map[uint64]verdict{}
			}
			s.verdicts[seq] = s.verdicts[seq]&^(found|excluded) | v
			list(seq)
		case v.passes():
			list(seq)
		default:
			s.off = append(s.off, seq)
		}
	}
}

// joined takes off the rows of entries that became part of an exchange since they were looked at.
func (f *Feed) joined() {
	f.heads = slices.DeleteFunc(f.heads, func(seq uint64) bool {
		e, ok := f.Journal.Get(seq)
		if row := f.owner(&e); !ok || row == seq {
			return !ok
		}
		if i, listed := slices.BinarySearch(f.seqs, seq); listed {
			f.seqs = slices.Delete(f.seqs, i, i+1)
		}
		f.all--
		return true
	})
}

// fold is what an entry is folded away as, "" if it is not. A filter finds everything.
func (f *Feed) fold(e *journal.Entry) string {
	if f.Fold == nil || f.Unfold || !f.filter.Empty() {
		return ""
	}
	return f.Fold(e)
}

// Odd is what is odd about entries of an exchange besides its request.
func (f *Feed) Odd(root uint64) journal.Mark { return f.odd[root] }

// Servers is how many servers the entries are of, and the cells that the longest of their names takes.
func (f *Feed) Servers() (n, cells int) {
	for _, w := range f.names {
		cells = max(cells, w)
	}
	return len(f.names), cells
}
