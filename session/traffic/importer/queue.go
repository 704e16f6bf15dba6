package importer

import (
	"container/heap"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// maxQueued bounds the bodies that wait for what happened before them.
const maxQueued = 64 << 20

// queue puts entries into the order of time, for files that have the answer beside the request.
type queue struct {
	items []queued
	n     int // entries that were ever in it
	bytes int
}

type queued struct {
	e    journal.Entry
	body []byte
	n    int
	seq  *uint64 // gets its number
	peer *uint64 // has the number of its peer by then
}

func (q *queue) Len() int { return len(q.items) }

func (q *queue) Less(i, k int) bool {
	a, b := &q.items[i], &q.items[k]
	if !a.e.Time.Equal(b.e.Time) {
		return a.e.Time.Before(b.e.Time)
	}
	return a.n < b.n
}

func (q *queue) Swap(i, k int) { q.items[i], q.items[k] = q.items[k], q.items[i] }

// Push is for container/heap.
func (q *queue) Push(x any) { q.items = append(q.items, x.(queued)) }

// Pop is for container/heap.
func (q *queue) Pop() any {
	last := q.items[len(q.items)-1]
	q.items[len(q.items)-1] = queued{}
	q.items = q.items[:len(q.items)-1]
	return last
}

// add takes an entry; the body is kept.
func (q *queue) add(c *converter, it queued) {
	it.n = q.n
	q.n++
	q.bytes += len(it.body)
	heap.Push(q, it)
	for q.bytes > maxQueued && q.Len() > 1 {
		q.write(c)
	}
}

// flush writes what happened until t, or with the zero time everything.
func (q *queue) flush(c *converter, t time.Time) {
	for q.Len() > 0 && (t.IsZero() || !q.items[0].e.Time.After(t)) {
		q.write(c)
	}
}

func (q *queue) write(c *converter) {
	it := heap.Pop(q).(queued)
	q.bytes -= len(it.body)
	if it.peer != nil {
		it.e.Peer = *it.peer
	}
	if it.e.Kind == 0 {
		c.message(it.e, it.body)
		return
	}
	seq := c.put(it.e, it.body)
	if it.seq != nil {
		*it.seq = seq
	}
}
