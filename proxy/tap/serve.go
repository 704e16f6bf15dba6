package tap

import (
	"bufio"
	"errors"
	"io"
	"net"
	"time"

	"github.com/mcphud/mcphud/session/wire/unixsocket"
)

// maxReaders is how many readers there may be at a time.
const maxReaders = 32

// reader is one connection.
type reader struct {
	c    *net.UnixConn
	wake chan struct{}
}

func (r *reader) notify() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func (p *Producer) accept() {
	for {
		c, err := p.ln.AcceptUnix()
		switch {
		case err == nil:
			p.admit(c)
		case errors.Is(err, net.ErrClosed):
			return
		default:
			time.Sleep(50 * time.Millisecond) // too many open files: wait until one is closed
		}
	}
}

// admit serves a connection, unless it is another user's or one too many.
func (p *Producer) admit(c *net.UnixConn) {
	r := &reader{c: c, wake: make(chan struct{}, 1)}
	peerErr := unixsocket.CheckPeer(c)
	p.mu.Lock()
	if p.closed || len(p.readers) >= maxReaders || peerErr != nil {
		p.mu.Unlock()
		_ = c.Close()
		return
	}
	p.readers[r] = struct{}{}
	p.watched.Add(1)
	from, live := p.ring.first, p.ring.next
	p.wg.Add(2)
	p.mu.Unlock()
	gone := make(chan struct{})
	go func() { // readers send nothing: it ends when the reader is gone
		defer p.wg.Done()
		defer close(gone)
		_, _ = io.Copy(io.Discard, c)
	}()
	go func() {
		defer p.wg.Done()
		_ = p.serve(r, from, live, gone) // an error means that the reader is gone
		p.mu.Lock()
		delete(p.readers, r)
		if p.watched.Add(-1) == 0 {
			p.ring.makeRoom(0, 0, false)
		}
		p.mu.Unlock()
		_ = c.Close()
	}()
}

// serve sends records from number from on, the history before live among them, until the reader or the producer ends.
func (p *Producer) serve(r *reader, from, live uint64, gone <-chan struct{}) error {
	w := bufio.NewWriterSize(deadlineWriter{r.c, p}, 64<<10)
	_ = write(w, msgHello, p.hello, nil) // a bufio.Writer keeps its first error
	var batch []record
	for replay := true; ; {
		if replay && from >= live {
			replay = false
			_ = write(w, msgLive, struct{}{}, nil)
		}
		p.mu.Lock()
		var lost uint64
		batch, lost = p.ring.take(from, batch[:0])
		closed := p.closed
		p.mu.Unlock()
		if lost > 0 {
			from += lost
			_ = write(w, msgDropped, dropped{lost}, nil)
		}
		for i := range batch {
			for _, e := range complete(&batch[i]) {
				if err := write(w, msgEntry, headOf(from, e.Entry), e.body); err != nil {
					return err
				}
			}
			from++
			batch[i] = record{}
		}
		if len(batch) > 0 && !closed {
			continue // more may fit into the same write
		}
		if err := w.Flush(); err != nil || closed && len(batch) == 0 {
			return err
		}
		if closed {
			continue
		}
		select {
		case <-r.wake:
		case <-gone:
			return nil
		}
	}
}

// deadlineWriter writes to a reader: without a deadline, until the producer is closed.
type deadlineWriter struct {
	c *net.UnixConn
	p *Producer
}

func (h deadlineWriter) Write(b []byte) (int, error) {
	if end := h.p.end.Load(); end != nil {
		by := time.Now().Add(lastWriteTimeout)
		if by.After(*end) {
			by = *end
		}
		_ = h.c.SetWriteDeadline(by)
	}
	return h.c.Write(b)
}
