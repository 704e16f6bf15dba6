package export

import (
	"context"

	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Query says which entries of a journal are kept. The zero value keeps all.
type Query struct {
	Filter      *filter.Filter
	First, Last int  // only so many exchanges, and entries that stand alone, of what the rest selects; 0 for all
	Handshake   bool // keep also how connections began: what comes after is hard to understand without
}

// Selection is a set of entries. Nil has all.
type Selection struct {
	bits []uint64
	n    int
}

func (s *Selection) has(seq uint64) bool {
	return s == nil || seq/64 < uint64(len(s.bits)) && s.bits[seq/64]>>(seq%64)&1 != 0
}

func (s *Selection) add(seq uint64) {
	for seq/64 >= uint64(len(s.bits)) {
		s.bits = append(s.bits, 0)
	}
	if !s.has(seq) {
		s.bits[seq/64] |= 1 << (seq % 64)
		s.n++
	}
}

func (s *Selection) remove(seq uint64) {
	if s.has(seq) {
		s.bits[seq/64] &^= 1 << (seq % 64)
		s.n--
	}
}

// keepFirst removes all but the first n.
func (s *Selection) keepFirst(n int) {
	for seq := uint64(len(s.bits)) * 64; seq > 0 && s.n > n; seq-- {
		s.remove(seq - 1)
	}
}

// keepLast removes all but the last n.
func (s *Selection) keepLast(n int) {
	for seq := uint64(0); s.n > n; seq++ {
		s.remove(seq)
	}
}

// Has is whether an entry is in it.
func (s *Selection) Has(seq uint64) bool { return s.has(seq) }

// Select finds the entries that a query keeps. Of an exchange it keeps all or nothing: where one of its frames is selected, so are
// the others.
func Select(ctx context.Context, j *journal.Journal, q Query) (*Selection, error) {
	if q.Filter.Empty() && q.First == 0 && q.Last == 0 {
		return nil, nil
	}
	units, excluded, keep := &Selection{}, &Selection{}, &Selection{} // of the first two: roots of exchanges, and what stands alone
	n := 0
	goOn := func() bool {
		n++
		return n&1023 != 0 || ctx.Err() == nil
	}
	j.Each(0, func(e *journal.Entry) bool {
		switch unit := selectionKey(e); {
		case excluded.has(unit):
		case q.Filter.Excludes(j, e):
			excluded.add(unit)
			units.remove(unit)
		case !units.has(unit) && q.Filter.Finds(j, e):
			units.add(unit)
		}
		return goOn()
	})
	if q.First > 0 {
		units.keepFirst(q.First)
	}
	if q.Last > 0 {
		units.keepLast(q.Last)
	}
	j.Each(0, func(e *journal.Entry) bool {
		if units.has(selectionKey(e)) || q.Handshake && handshake(e) {
			keep.add(e.Seq)
		}
		return goOn()
	})
	return keep, ctx.Err()
}

// selectionKey is the entry that e is selected or left out with: its request, or itself.
func selectionKey(e *journal.Entry) uint64 {
	if e.Root != 0 {
		return e.Root
	}
	return e.Seq
}

// handshake is whether an entry is a part of how a connection begins.
func handshake(e *journal.Entry) bool {
	switch e.Method {
	case "initialize", "notifications/initialized", "server/discover":
		return true
	}
	return false
}
