package wrap

import (
	"fmt"
	"sync"
	"time"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/journal"
)

// stream is one of the three.
type stream uint8

const (
	streamIn stream = iota
	streamOut
	streamErr
	streams
)

// queued is how many bytes may wait to be taken apart.
const queued = 16 << 20

// chunk is bytes of one stream, or what happened to it.
type chunk struct {
	of   stream
	at   time.Time
	data []byte
	lost int    // bytes before data that did not fit
	end  bool   // the stream ended
	say  string // something to say about the server
}

// side takes copies of what passes, and makes entries of them beside the traffic, in the order in which it passed.
type side struct {
	p    *tap.Producer
	cuts [streams]splitter
	done chan struct{}

	mu     sync.Mutex
	some   *sync.Cond
	chunks []chunk
	bytes  int
	lost   [streams]int
	free   [][]byte // buffers of full size
	closed bool
}

func newSide(p *tap.Producer) *side {
	s := &side{p: p, done: make(chan struct{})}
	s.some = sync.NewCond(&s.mu)
	s.cuts[streamIn] = splitter{entry: entry(journal.Out, 0)}
	s.cuts[streamOut] = splitter{entry: entry(journal.In, 0)}
	s.cuts[streamErr] = splitter{entry: entry(journal.In, journal.Stderr)}
	for i := range s.cuts {
		s.cuts[i].p = p
	}
	if p == nil {
		close(s.done)
		return s
	}
	go s.run()
	return s
}

// offer copies b if there is room.
func (s *side) offer(of stream, b []byte) {
	if s.p == nil {
		return
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+len(b) > queued {
		s.lost[of] += len(b)
		return
	}
	c := chunk{of: of, at: now, lost: s.lost[of]}
	s.lost[of] = 0
	if n := len(s.free); n > 0 && len(b) > pieces/8 {
		c.data, s.free = s.free[n-1], s.free[:n-1]
	}
	c.data = append(c.data[:0], b...)
	s.bytes += len(b)
	s.put(c)
}

// end tells that a stream is over.
func (s *side) end(of stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := chunk{of: of, at: time.Now(), lost: s.lost[of], end: true}
	s.lost[of] = 0
	s.put(c)
}

// say adds something that happened to the server.
func (s *side) say(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(chunk{at: time.Now(), say: what})
}

func (s *side) put(c chunk) {
	if s.p != nil && !s.closed {
		s.chunks = append(s.chunks, c)
		s.some.Signal()
	}
}

// close returns when everything that was offered is handed over.
func (s *side) close() {
	s.mu.Lock()
	s.closed = true
	s.some.Signal()
	s.mu.Unlock()
	<-s.done
}

func (s *side) run() {
	defer close(s.done)
	var work []chunk
	for {
		s.mu.Lock()
		for len(s.chunks) == 0 && !s.closed {
			s.some.Wait()
		}
		work, s.chunks = s.chunks, work[:0]
		s.mu.Unlock()
		if len(work) == 0 {
			return
		}
		for i := range work {
			c := &work[i]
			s.take(c)
			s.mu.Lock()
			s.bytes -= len(c.data)
			if cap(c.data) >= pieces && len(s.free) < 16 {
				s.free = append(s.free, c.data)
			}
			s.mu.Unlock()
			*c = chunk{}
		}
		if cap(work) > 4096 {
			work = nil
		}
	}
}

func (s *side) take(c *chunk) {
	cut := &s.cuts[c.of]
	if c.say != "" {
		e := entry(journal.None, journal.State)
		e.Time, e.Note = c.at, c.say
		s.p.Append(e, nil)
		return
	}
	if c.lost > 0 {
		cut.gap()
		e := entry(cut.entry.Dir, journal.State)
		e.Time, e.Note = c.at, fmt.Sprintf("%d bytes passed and were not recorded: they came faster than they could be", c.lost)
		s.p.Append(e, nil)
	}
	cut.feed(c.data, c.at)
	if c.end {
		cut.end(c.at)
	}
}
