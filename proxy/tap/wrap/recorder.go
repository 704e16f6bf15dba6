package wrap

import (
	"fmt"
	"sync"
	"time"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// stream is one of the standard streams.
type stream uint8

const (
	streamIn stream = iota
	streamOut
	streamErr
	streams
)

// maxQueued is how many bytes may wait to be split into entries.
const maxQueued = 16 << 20

// chunk is data or an event of a stream.
type chunk struct {
	of   stream
	at   time.Time
	data []byte
	lost int    // bytes before data that did not fit
	end  bool   // the stream ended
	note string // an event of the server
}

// recorder copies the traffic, and makes entries of it in another goroutine, in the same order.
type recorder struct {
	p    *tap.Producer
	cuts [streams]splitter
	done chan struct{}

	mu       sync.Mutex
	notEmpty *sync.Cond
	chunks   []chunk
	bytes    int
	lost     [streams]int
	free     [][]byte // buffers of full size
	closed   bool
}

func newRecorder(p *tap.Producer) *recorder {
	s := &recorder{p: p, done: make(chan struct{})}
	s.notEmpty = sync.NewCond(&s.mu)
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

// record queues a copy of b, if it fits.
func (s *recorder) record(of stream, b []byte) {
	if s.p == nil {
		return
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes+len(b) > maxQueued {
		s.lost[of] += len(b)
		return
	}
	c := chunk{of: of, at: now, lost: s.lost[of]}
	s.lost[of] = 0
	if n := len(s.free); n > 0 && len(b) > readSize/8 {
		c.data, s.free = s.free[n-1], s.free[:n-1]
	}
	c.data = append(c.data[:0], b...)
	s.bytes += len(b)
	s.put(c)
}

// end records the end of a stream.
func (s *recorder) end(of stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := chunk{of: of, at: time.Now(), lost: s.lost[of], end: true}
	s.lost[of] = 0
	s.put(c)
}

// note records an event of the server.
func (s *recorder) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(chunk{at: time.Now(), note: what})
}

func (s *recorder) put(c chunk) {
	if s.p != nil && !s.closed {
		s.chunks = append(s.chunks, c)
		s.notEmpty.Signal()
	}
}

// close returns when everything that was queued is in the tap.
func (s *recorder) close() {
	s.mu.Lock()
	s.closed = true
	s.notEmpty.Signal()
	s.mu.Unlock()
	<-s.done
}

func (s *recorder) run() {
	defer close(s.done)
	var work []chunk
	for {
		s.mu.Lock()
		for len(s.chunks) == 0 && !s.closed {
			s.notEmpty.Wait()
		}
		work, s.chunks = s.chunks, work[:0]
		s.mu.Unlock()
		if len(work) == 0 {
			return
		}
		for i := range work {
			c := &work[i]
			s.process(c)
			s.mu.Lock()
			s.bytes -= len(c.data)
			if cap(c.data) >= readSize && len(s.free) < 16 {
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

func (s *recorder) process(c *chunk) {
	cut := &s.cuts[c.of]
	if c.note != "" {
		e := entry(journal.None, journal.State)
		e.Time, e.Note = c.at, c.note
		s.p.Append(e, nil)
		return
	}
	if c.lost > 0 {
		cut.skip()
		e := entry(cut.entry.Dir, journal.State)
		e.Time, e.Note = c.at, fmt.Sprintf("%d bytes were not recorded: too fast", c.lost)
		s.p.Append(e, nil)
	}
	cut.feed(c.data, c.at)
	if c.end {
		cut.end(c.at)
	}
}
