package front

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Why a message about a request does not reach the client by its stream.
var (
	errNoStream = errors.New("the client does not accept an event stream; only the result can reach it")
	errGone     = errors.New("the client disconnected")
)

const (
	maxUnsent      = 64        // so many messages, or
	maxUnsentBytes = 256 << 10 // so many bytes may wait for a connected client before the sender has to
	maxKept        = 256       // so many messages, or
	maxKeptBytes   = 256 << 10 // so many bytes of one stream are kept for a client that reconnects
	maxKeptTotal   = 32 << 20  // and so many of all streams together
)

// event is one message on a stream. Without data it only gives the client an id to resume from.
type event struct {
	seq  int64
	data []byte
}

// answer ends the response to a request.
type answer struct {
	frame  []byte // nil: the request was cancelled and gets no answer
	status int
	retry  time.Duration // Retry-After, 0 for none

	session string // Mcp-Session-Id, of initialize
}

// stream is what one response carries: that to a POST, or to the GET of a session. Whoever works on the request adds
// messages, the goroutine of the connection writes them. In a session of the legacy era it outlives the connection: what
// was not delivered waits for a GET with Last-Event-ID, within limits.
type stream struct {
	id      int64         // number in the session, 0 for the general stream and until the first message
	general bool          // the one that a GET opens
	session *Session      // nil where nothing can be resumed
	total   *atomic.Int64 // bytes kept by all streams
	sse     bool          // may carry more than one message
	json    bool          // may be a result alone
	wake    chan struct{} // has room for one: something is to be written

	settled atomic.Bool // answered, and no connection has to write it

	mu      sync.Mutex    // guards what follows. The session's is taken while it is held (enroll), never the other way round
	room    chan struct{} // closed when the backlog shrank or the connection went; nil unless somebody waits
	events  []event       // in the order of seq, without gaps: the oldest are forgotten first
	next    int           // index in events of the first one that was not handed to a connection
	unsent  int           // bytes of those
	bytes   int           // of all events
	seq     int64         // of the newest event, 0 before the first
	holder  int           // number of the connection that writes, 0 for none
	conns   int           // how many connections there were: the number of the latest
	lost    chan struct{} // closed when another connection becomes the holder
	begun   bool          // the response is an event stream
	prime   bool          // begin with an event without data
	hang    bool          // end the connection, not the stream
	retry   time.Duration // with hang: after how long the client shall come back
	final   *answer       // nil while the request is worked on
	discard bool          // the session ended
}

// newStream is a stream whose first connection has number 1.
func newStream(sse, json bool) *stream {
	return &stream{sse: sse, json: json, wake: make(chan struct{}, 1), lost: make(chan struct{}), holder: 1, conns: 1}
}

// signal wakes the connection that writes.
func (st *stream) signal() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// send adds a message, and waits while a connected client is too far behind.
func (st *stream) send(frame []byte) error {
	if !st.sse {
		return errNoStream
	}
	st.mu.Lock()
	for st.holder != 0 && (len(st.events)-st.next >= maxUnsent || st.unsent > maxUnsentBytes) {
		if st.room == nil {
			st.room = make(chan struct{})
		}
		room := st.room
		st.mu.Unlock()
		<-room // the connection's deadline for writing bounds this
		st.mu.Lock()
	}
	defer st.mu.Unlock()
	if st.discard || st.holder == 0 && st.session == nil {
		return errGone
	}
	st.add(frame)
	return nil
}

// push adds a message without waiting; the oldest are dropped beyond the limits.
func (st *stream) push(frame []byte) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.discard {
		return errSessionEnded
	}
	st.add(frame)
	return nil
}

// add is called with mu held.
func (st *stream) add(frame []byte) {
	if st.session != nil && st.id == 0 && !st.general {
		st.session.enroll(st)
		st.writePrime()
	}
	st.seq++
	st.events = append(st.events, event{st.seq, frame})
	st.unsent += len(frame)
	st.count(len(frame))
	st.trim()
	st.signal()
}

// writePrime puts the event without data first, by which the client knows where to resume (2025-11-25 on).
func (st *stream) writePrime() {
	if st.prime && st.seq == 0 {
		st.seq = 1
		st.events = append(st.events, event{seq: 1})
		st.signal()
	}
}

// hangup ends the connection but not the stream: the client comes back after retry to resume it.
func (st *stream) hangup(retry time.Duration) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.session == nil || !st.sse || st.holder == 0 || st.final != nil {
		return false
	}
	if st.id == 0 {
		st.session.enroll(st)
		st.writePrime()
	}
	st.hang, st.retry = true, retry
	st.signal()
	return true
}

// count adds bytes that are kept, negative for those that no longer are; mu is held.
func (st *stream) count(n int) {
	st.bytes += n
	if st.total != nil {
		st.total.Add(int64(n))
	}
}

// trim forgets the oldest events beyond the limits; with a connection only those that it was handed.
func (st *stream) trim() {
	n := 0
	for n < len(st.events) && (st.holder == 0 || st.general || n < st.next) && (st.session == nil || len(st.events)-n > maxKept ||
		st.bytes > maxKeptBytes || st.total != nil && st.total.Load() > maxKeptTotal) {
		st.count(-len(st.events[n].data))
		if n >= st.next {
			st.unsent -= len(st.events[n].data)
		}
		st.events[n].data = nil
		n++
	}
	if n > 0 {
		st.events = append(st.events[:0], st.events[n:]...)
		st.next = max(0, st.next-n)
	}
}

// finish gives the answer. The frame becomes the last event if there were others.
func (st *stream) finish(a *answer) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.final != nil {
		return
	}
	st.final = a
	st.settled.Store(st.holder == 0)
	if st.begun && a.frame != nil {
		st.add(a.frame)
	}
	st.signal()
}

// eventBatch is what a connection has to write next.
type eventBatch struct {
	events []event

	session string        // Mcp-Session-Id of its head
	whole   *answer       // answer with this alone
	retry   time.Duration // tell the client to come back after this, and end
	end     bool          // this was the last
}

// take hands out what connection conn has to write, and whether it still is the one to do so.
func (st *stream) take(conn int) (b eventBatch, mine bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.holder != conn {
		return b, false
	}
	if !st.begun {
		switch {
		case len(st.events) > 0 || st.final != nil && !st.json:
			st.begun = true
			if st.final != nil && st.final.frame != nil {
				b.session = st.final.session
				st.add(st.final.frame)
			}
		case st.final != nil:
			st.detach()
			return eventBatch{whole: st.final, end: true}, true
		}
	}
	b.events = append(b.events, st.events[st.next:]...)
	st.next, st.unsent = len(st.events), 0
	st.trim()
	b.end = st.final != nil || st.discard
	if st.hang && !b.end {
		b.retry, b.end, st.hang = st.retry, true, false
	}
	if b.end {
		st.detach()
	}
	st.release()
	return b, true
}

// detach leaves the stream without a connection.
func (st *stream) detach() {
	st.holder = 0
	st.settled.Store(st.final != nil)
}

// release wakes the senders that wait for room.
func (st *stream) release() {
	if st.room != nil {
		close(st.room)
		st.room = nil
	}
}

// leave records that connection conn writes no more.
func (st *stream) leave(conn int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.holder == conn {
		st.detach()
		st.release()
	}
}

// attach makes a new connection the one that writes, beginning after event seq, or with the first that was never handed
// out if seq is negative. It fails when events in between are forgotten.
func (st *stream) attach(seq int64) (conn int, lost <-chan struct{}, ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.discard {
		return 0, nil, false
	}
	if st.general {
		st.writePrime()
	}
	if seq >= 0 {
		first := st.seq + 1
		if len(st.events) > 0 {
			first = st.events[0].seq
		}
		if seq > st.seq || seq+1 < first {
			return 0, nil, false
		}
		st.next, st.unsent = int(seq+1-first), 0
		for _, e := range st.events[st.next:] {
			st.unsent += len(e.data)
		}
	}
	st.conns++
	st.holder, st.begun, st.hang = st.conns, true, false
	st.settled.Store(false)
	close(st.lost)
	st.lost = make(chan struct{})
	st.release()
	st.signal()
	return st.conns, st.lost, true
}

// drop ends the stream for good.
func (st *stream) drop() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.discard = true
	st.count(-st.bytes)
	st.events, st.next, st.unsent = nil, 0, 0
	st.release()
	st.signal()
}
