package tap

import (
	"container/heap"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/journal"
)

// label is the name that a producer's entries are shown with.
type label struct {
	name   string
	router bool
	n      int // counts producers of the same name, from 1 on
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
	if l.router && named != "" {
		return clip(named) + l.suffix()
	}
	return l.String()
}

// item converts an entry for the joined journal, in which connections of different producers must differ.
func (p *joined) item(h head, body []byte) item {
	e := h.entry()
	e.Server = p.label.server(h.Server)
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
	var h held
	var n uint64
	newest := map[uint64]time.Time{}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for open := true; open || len(h) > 0; {
		for len(h) > 0 && (!open || len(h) > maxHeld || !time.Now().Before(h[0].due)) {
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
		i.n, i.at, i.due = n, i.entry.Time, time.Now().Add(reorderWindow)
		if i.at.Before(newest[i.from]) {
			i.at = newest[i.from]
		}
		newest[i.from] = i.at
		heap.Push(&h, i)
	}
}

// held is a heap of items, oldest first.
type held []item

func (h held) Len() int { return len(h) }

func (h held) Less(a, b int) bool {
	if h[a].at.Equal(h[b].at) {
		return h[a].n < h[b].n
	}
	return h[a].at.Before(h[b].at)
}

func (h held) Swap(a, b int) { h[a], h[b] = h[b], h[a] }

// Push implements heap.Interface.
func (h *held) Push(x any) { *h = append(*h, x.(item)) }

// Pop implements heap.Interface.
func (h *held) Pop() any {
	old := *h
	i := old[len(old)-1]
	old[len(old)-1] = item{}
	*h = old[:len(old)-1]
	return i
}
