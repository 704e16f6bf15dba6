package ingress

import (
	"slices"
	"sync"
	"time"
)

// Buffers are the memory of large messages, which is used again: making it anew for each, and collecting it, costs more than
// all the rest that is done with such a message. What nobody uses for a minute is forgotten. The zero value is ready; a nil
// *Buffers makes all memory anew. A sync.Pool would not do: it forgets at each collection, which large messages bring about.
type Buffers struct {
	mu    sync.Mutex
	idle  [][]byte // the one used last at the end
	bytes int      // of idle
	stale int      // how many of idle, from the first on, were there when sweep ran last
	sweep *time.Timer
}

const (
	bufferUnit = 64 << 10 // sizes are multiples; messages that are smaller get memory of their own
	maxIdle    = 16 << 20 // bytes that nobody uses
	maxBuffers = 64
	staleAfter = time.Minute
)

// Get is an empty buffer with room for n bytes or more, which may be given to Free.
func (b *Buffers) Get(n int) []byte {
	if b == nil || n < bufferUnit {
		return make([]byte, 0, n)
	}
	b.mu.Lock()
	best := -1
	for i, have := range b.idle {
		if c := cap(have); c >= n && c <= 4*n && (best < 0 || c <= cap(b.idle[best])) {
			best = i
		}
	}
	if best < 0 {
		b.mu.Unlock()
		return make([]byte, 0, (n+bufferUnit-1)/bufferUnit*bufferUnit)
	}
	defer b.mu.Unlock()
	found := b.idle[best]
	b.remove(best, best+1)
	return found
}

// remove takes some of idle out; b.mu is held.
func (b *Buffers) remove(from, to int) {
	for _, gone := range b.idle[from:to] {
		b.bytes -= cap(gone)
	}
	b.stale -= max(0, min(to, b.stale)-from)
	b.idle = slices.Delete(b.idle, from, to)
}

// Free says that nobody looks at a buffer any more, or at a body that Limits.Read returned, so that its memory can be another's.
func (b *Buffers) Free(body []byte) {
	n := cap(body)
	if b == nil || n < bufferUnit {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bytes+n > maxIdle || len(b.idle) == maxBuffers {
		return
	}
	b.idle = append(b.idle, body[:0])
	b.bytes += n
	if b.sweep == nil {
		b.sweep = time.AfterFunc(staleAfter, b.expire)
	}
}

// expire forgets what was not used since it ran last.
func (b *Buffers) expire() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(0, b.stale)
	b.stale = len(b.idle)
	if b.stale == 0 {
		b.sweep = nil
		return
	}
	b.sweep.Reset(staleAfter)
}
