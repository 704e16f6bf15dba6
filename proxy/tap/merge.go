package tap

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/journal"
)

// label is what a producer's entries are shown under.
type label struct {
	name   string
	router bool
	n      int // which one of that name
}

func (l label) suffix() string {
	if l.n > 1 {
		return fmt.Sprintf(" (%d)", l.n)
	}
	return ""
}

func (l label) String() string { return l.name + l.suffix() }

// server is what stands in the column of servers: the agent that a router speaks of, or the wrapped server.
func (l label) server(named string) string {
	if l.router && named != "" {
		return clip(named) + l.suffix()
	}
	return l.String()
}

// item makes an entry fit for the joined journal: connections of different producers do not mix.
func (p *joined) item(h head, body []byte) item {
	e := h.entry()
	e.Server = p.label.server(h.Server)
	if e.Conn != 0 || e.ID != "" {
		e.Conn |= p.id << 32
	}
	return item{entry: e, body: body, from: p.id}
}

// holdBack is how long an entry waits for older ones of other producers.
const holdBack = 30 * time.Millisecond

// mostHeld is how many wait at most.
const mostHeld = 8192

// item is one entry on its way into the journal.
type item struct {
	entry journal.Entry
	body  []byte
	from  uint64 // which producer; 0 is the joiner itself

	at  time.Time // the order: the entry's time, but never before an earlier one of the same producer
	due time.Time
	n   uint64 // order of arrival
}

// merger puts what comes from several producers into the order of time. Everything waits a moment for what is older and
// comes later.
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

// add takes one; it waits where the journal is slow, and then the producer has to drop.
func (m *merger) add(i item) { m.in <- i }

// close appends what waits and returns when it is done. Nothing may be added any more.
func (m *merger) close() {
	close(m.in)
	<-m.done
}

func (m *merger) run() {
	defer close(m.done)
	var h held
	var n uint64
	newest := map[uint64]time.Time{}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for open := true; open || len(h) > 0; {
		for len(h) > 0 && (!open || len(h) > mostHeld || !time.Now().Before(h[0].due)) {
			i := heap.Pop(&h).(item)
			m.j.Append(i.entry, i.body)
		}
		if !open {
			continue
		}
		if len(h) > 0 {
			timer.Reset(time.Until(h[0].due))
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
		i.n, i.at, i.due = n, i.entry.Time, time.Now().Add(holdBack)
		if i.at.Before(newest[i.from]) {
			i.at = newest[i.from]
		}
		newest[i.from] = i.at
		heap.Push(&h, i)
	}
}

// held is a heap, oldest first.
type held []item

func (h held) Len() int { return len(h) }

func (h held) Less(a, b int) bool {
	if h[a].at.Equal(h[b].at) {
		return h[a].n < h[b].n
	}
	return h[a].at.Before(h[b].at)
}

func (h held) Swap(a, b int) { h[a], h[b] = h[b], h[a] }

// Push is heap.Interface's.
func (h *held) Push(x any) { *h = append(*h, x.(item)) }

// Pop is heap.Interface's.
func (h *held) Pop() any {
	old := *h
	i := old[len(old)-1]
	old[len(old)-1] = item{}
	*h = old[:len(old)-1]
	return i
}
