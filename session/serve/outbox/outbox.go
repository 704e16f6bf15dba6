// Package outbox holds what is to be sent to a client that reads a stream, within bounds.
package outbox

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrQuiet is returned by [Queue.Next] when no message came in time.
var ErrQuiet = errors.New("no message in time")

// ErrStalled ends a queue whose reader held up the writers for too long.
var ErrStalled = errors.New("the client reads too slowly")

// Options bounds a Queue: it is full once it holds so many messages, or more than so many bytes.
type Options[T any] struct {
	MaxMessages int
	MaxBytes    int
	Size        func(T) int // bytes of a message
	// Last reports that a message ends the queue. There is always room for it. nil: none does.
	Last func(T) bool
	// Stall is how long [Queue.Put] waits for a reader if the queue is full, before it ends the queue. With 0 it does not
	// wait: the oldest messages are dropped.
	Stall time.Duration
}

// Queue holds messages for one reader, in order.
type Queue[T any] struct {
	o      Options[T]
	wake   chan struct{} // has room for one: there is something to read
	failed chan struct{} // closed by Fail

	mu      sync.Mutex
	items   []T
	bytes   int
	room    chan struct{} // closed when there is room; nil unless somebody waits
	err     error
	ended   bool // the last message is in
	stalled func()
}

// New makes an empty queue.
func New[T any](o Options[T]) *Queue[T] {
	return &Queue[T]{o: o, wake: make(chan struct{}, 1), failed: make(chan struct{})}
}

// OnStall sets what is called, once, when a reader stalls the queue.
func (q *Queue[T]) OnStall(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stalled = f
}

func (q *Queue[T]) isFull() bool { return len(q.items) >= q.o.MaxMessages || q.bytes > q.o.MaxBytes }

// Put adds a message, unless the queue has ended.
func (q *Queue[T]) Put(m T) {
	last := q.o.Last != nil && q.o.Last(m)
	q.mu.Lock()
	for q.o.Stall > 0 && !last && q.err == nil && q.isFull() {
		q.wait()
	}
	defer q.mu.Unlock()
	if q.err != nil || q.ended {
		return
	}
	for !last && len(q.items) > 0 && q.isFull() {
		q.pop()
	}
	q.ended = last
	q.items = append(q.items, m)
	q.bytes += q.o.Size(m)
	q.signal()
}

// wait waits for room; q.mu is held before and afterwards.
func (q *Queue[T]) wait() {
	if q.room == nil {
		q.room = make(chan struct{})
	}
	room, stalled := q.room, q.stalled
	q.mu.Unlock()
	t := time.NewTimer(q.o.Stall)
	select {
	case <-room:
	case <-q.failed:
	case <-t.C:
		if stalled != nil {
			stalled()
		}
		q.Fail(ErrStalled)
	}
	t.Stop()
	q.mu.Lock()
}

// Prepend puts a message before those that are there.
func (q *Queue[T]) Prepend(m T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append([]T{m}, q.items...)
	q.bytes += q.o.Size(m)
	q.signal()
}

// Any reports whether a message that waits satisfies f.
func (q *Queue[T]) Any(f func(T) bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.items {
		if f(m) {
			return true
		}
	}
	return false
}

// Held is how much waits for the reader, and whether a writer waits for room.
func (q *Queue[T]) Held() (messages, bytes int, blocked bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items), q.bytes, q.room != nil
}

func (q *Queue[T]) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Fail ends the queue with an error for the reader, after the messages that are in. The first one counts.
func (q *Queue[T]) Fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
		close(q.failed)
	}
	q.signal()
}

// Next waits for a message: until ctx is done, or for quiet if that is not 0, after which it returns [ErrQuiet].
func (q *Queue[T]) Next(ctx context.Context, quiet time.Duration) (T, error) {
	var late <-chan time.Time
	for {
		if m, ok, err := q.take(); ok || err != nil {
			return m, err
		}
		if late == nil && quiet > 0 {
			t := time.NewTimer(quiet)
			defer t.Stop()
			late = t.C
		}
		var none T
		select {
		case <-q.wake:
		case <-ctx.Done():
			return none, context.Cause(ctx)
		case <-late:
			return none, ErrQuiet
		}
	}
}

func (q *Queue[T]) take() (m T, ok bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return m, false, q.err
	}
	m = q.pop()
	if q.room != nil && !q.isFull() {
		close(q.room)
		q.room = nil
	}
	return m, true, nil
}

// pop removes the oldest message; q.mu is held.
func (q *Queue[T]) pop() T {
	var none T
	m := q.items[0]
	q.items[0], q.items = none, q.items[1:]
	q.bytes -= q.o.Size(m)
	return m
}

// MoveTo puts what waits here into another queue.
func (q *Queue[T]) MoveTo(to *Queue[T]) {
	q.mu.Lock()
	items := q.items
	q.items, q.bytes = nil, 0
	q.mu.Unlock()
	for _, m := range items {
		to.Put(m)
	}
}
