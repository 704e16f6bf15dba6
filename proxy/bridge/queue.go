package bridge

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

const (
	maxWaiting      = 1024    // so many messages, or
	maxWaitingBytes = 4 << 20 // so many bytes may wait for one reader
)

var (
	errLeft     = errors.New("nobody waits for this answer")
	errReplaced = errors.New("stream ended") // which is no failure
)

// message is one message for a client, in pieces.
type message struct {
	pieces [][]byte
	final  bool             // the answer
	env    jsonrpc.Envelope // of the answer, as the process wrote it
	status int              // of the response that consists of it
}

func (m message) size() (n int) {
	for _, p := range m.pieces {
		n += len(p)
	}
	return n
}

// queue holds what is to be sent to one client on one stream. It has one reader.
type queue struct {
	blocking bool          // whoever puts waits for a slow reader; else what is too much is dropped, the oldest first
	sever    func()        // called for a reader that stalls a patient queue
	wake     chan struct{} // has room for one: something is there
	failed   chan struct{} // closed by fail

	mu    sync.Mutex
	items []message
	bytes int
	room  chan struct{} // closed when there is less; nil unless somebody waits
	err   error
	ended bool // the answer is in
}

func newQueue(patient bool) *queue {
	return &queue{blocking: patient, wake: make(chan struct{}, 1), failed: make(chan struct{})}
}

// stall is how long a reader may hold up the process that serves it alone.
const stall = 30 * time.Second

func (q *queue) full() bool { return len(q.items) >= maxWaiting || q.bytes > maxWaitingBytes }

// put adds a message. The answer always has room.
func (q *queue) put(m message) {
	q.mu.Lock()
	for q.blocking && !m.final && q.err == nil && q.full() {
		if q.room == nil {
			q.room = make(chan struct{})
		}
		room := q.room
		q.mu.Unlock()
		t := time.NewTimer(stall)
		select {
		case <-room:
		case <-q.failed:
		case <-t.C:
			if q.sever != nil {
				q.sever()
			}
			q.fail(errLeft)
		}
		t.Stop()
		q.mu.Lock()
	}
	defer q.mu.Unlock()
	if q.err != nil || q.ended {
		return
	}
	for !m.final && len(q.items) > 0 && q.full() {
		q.bytes -= q.items[0].size()
		q.items = append(q.items[:0:0], q.items[1:]...)
	}
	q.ended = m.final
	q.items = append(q.items, m)
	q.bytes += m.size()
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// fail ends the stream without an answer, unless that is in. The first reason counts.
func (q *queue) fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err == nil {
		q.err = err
		close(q.failed)
	}
	q.signal()
}

// errQuiet says that nothing came for a while.
var errQuiet = errors.New("no message in time")

// next waits for a message; for no longer than beat if that is not 0.
func (q *queue) next(ctx context.Context, beat time.Duration) (message, error) {
	var late <-chan time.Time
	for {
		if m, ok, err := q.take(); ok || err != nil {
			return m, err
		}
		if late == nil && beat > 0 {
			t := time.NewTimer(beat)
			defer t.Stop()
			late = t.C
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return message{}, context.Cause(ctx)
		case <-late:
			return message{}, errQuiet
		}
	}
}

func (q *queue) take() (m message, ok bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return m, false, q.err
	}
	m = q.items[0]
	q.items[0] = message{}
	q.items = q.items[1:]
	q.bytes -= m.size()
	if q.room != nil && !q.full() {
		close(q.room)
		q.room = nil
	}
	return m, true, nil
}

// move puts what waits here into another queue.
func (q *queue) move(to *queue) {
	q.mu.Lock()
	items := q.items
	q.items, q.bytes = nil, 0
	q.mu.Unlock()
	for _, m := range items {
		to.put(m)
	}
}
