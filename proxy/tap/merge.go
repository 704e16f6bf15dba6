package tap

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// label is the name that a producer's entries are shown with.
type label struct {
	name string
	hop  string
	n    int // counts producers of the same name, from 1 on
}

func (l label) suffix() string {
	if l.n > 1 {
		return fmt.Sprintf(" (%d)", l.n)
	}
	return ""
}

func (l label) String() string { return l.name + l.suffix() }

// server is the Server of an entry: the agent that a router names, or the wrapped server.
func (l label) server(named string) string {
	if l.hop == Router && named != "" {
		return clip(named) + l.suffix()
	}
	return l.String()
}

// item converts an entry for the joined journal, in which connections of different producers must differ.
func (p *joined) item(h head, body []byte) item {
	e := h.entry()
	e.Server, e.Hop = p.label.server(h.Server), p.label.hop
	if e.Conn != 0 || e.ID != "" {
		e.Conn |= p.id << 32
	}
	return item{entry: e, body: body, from: p.id}
}

// reorderWindow is how long an entry is held for older ones of other producers.
const reorderWindow = 30 * time.Millisecond

// maxHeld is how many entries are held at most.
const maxHeld = 8192

// item is one entry on its way into the journal.
type item struct {
	entry journal.Entry
	body  []byte
	from  uint64 // id of the producer; 0 is the joiner itself

	at  time.Time // to order by: the entry's time, but not before an earlier one of the same producer
	due time.Time
	n   uint64 // order of arrival
}

// merger orders entries of several producers by time. Each is held for a moment, since older ones may arrive later.
type merger struct {
	j    *journal.Journal
	in   chan item
	done chan struct{}
}

func newMerger(j *journal.Journal) *merger {
	m := &merger{j: j, in: make(chan item, 256), done: make(chan struct{})}
	go m.run()
	return m
}

// add queues an item. It blocks while the journal is slow, which makes the producer drop entries.
func (m *merger) add(i item) { m.in <- i }

// close appends what is held and returns when it is done. add must not be called any more.
func (m *merger) close() {
	close(m.in)
	<-m.done
}

func (m *merger) run() {
	defer close(m.done)
	var held []item // oldest first
	var n uint64
	newest := map[uint64]time.Time{}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for open := true; open || len(held) > 0; {
		for len(held) > 0 && (!open || len(held) > maxHeld || !time.Now().Before(held[0].due)) {
			m.j.Append(held[0].entry, held[0].body)
			held[0] = item{} // its body
			held = held[1:]
		}
		if !open {
			continue
		}
		if len(held) > 0 {
			timer.Reset(time.Until(held[0].due))
		}
		var i item
		select {
		case i, open = <-m.in:
		case <-timer.C:
			continue
		}
		if !open {
			continue
		}
		n++
		i.n, i.at, i.due = n, i.entry.Time, time.Now().Add(reorderWindow)
		if i.at.Before(newest[i.from]) {
			i.at = newest[i.from]
		}
		newest[i.from] = i.at
		at, _ := slices.BinarySearchFunc(held, i, func(a, b item) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.n, b.n)) })
		held = slices.Insert(held, at, i) // mostly at the end
	}
}
