package bench

import (
	"bufio"
	"cmp"
	"context"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// lines are TCP connections, or those into a socket, to a server of HTTP/1.1 without TLS or a proxy. Whoever sends a request over one also
// reads its answer. net/http has two goroutines for each connection, passes requests and answers between them, and takes half as much
// processor time again, which a server on the same machine then does not have.
type lines struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)

	mu   sync.Mutex
	idle []*line // the one that was used last is used next
}

// line is one of them, with a request at a time.
type line struct {
	net.Conn
	raw  syscall.RawConn
	in   *bufio.Reader
	out  []byte // of the request before, to write the next one into
	left int64  // bytes that may still be read

	ctx         context.Context // that interrupts it
	disarm      func() bool
	interrupted chan struct{} // closed once it has
}

const (
	maxHead  = 1 << 20  // bytes of the head of an answer
	maxSpare = 16 << 10 // bytes of a buffer that is kept
	unending = 1 << 62
)

// Read reads what may still be read.
func (l *line) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLongHead
	}
	n, err := l.Conn.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}

// take is a connection that nobody uses, or else a new one. It ends with ctx, and at the time in until.
func (p *lines) take(ctx context.Context, until time.Time, addr string, s *shot) (*line, error) {
	s.mark(&s.asked)
	for {
		p.mu.Lock()
		last := len(p.idle) - 1
		if last < 0 {
			p.mu.Unlock()
			break
		}
		l := p.idle[last]
		p.idle[last], p.idle = nil, p.idle[:last]
		p.mu.Unlock()
		if err := l.arm(ctx, until); err != nil {
			l.close()
			return nil, err
		}
		if l.raw == nil || !quiet(l.raw) {
			l.close()
			continue
		}
		s.mark(&s.got)
		return l, nil
	}
	limited, cancel := context.WithDeadlineCause(ctx, until, errLate)
	defer cancel()
	s.mark(&s.dial)
	c, err := p.dial(limited, "tcp", addr)
	s.mark(&s.dialled)
	if err != nil {
		if limited.Err() != nil {
			err = context.Cause(limited)
		}
		return nil, err
	}
	l := &line{Conn: c, disarm: func() bool { return true }}
	l.in = bufio.NewReader(l)
	if sys, ok := c.(syscall.Conn); ok {
		l.raw, err = sys.SyscallConn()
	}
	if err == nil {
		err = l.arm(ctx, until)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	s.mark(&s.got)
	return l, nil
}

// arm lets reads and writes end with ctx, and at a time.
func (l *line) arm(ctx context.Context, until time.Time) error {
	if l.ctx != ctx { // of the turn before
		if !l.disarm() {
			<-l.interrupted // and not later on
		}
		done := make(chan struct{})
		l.ctx, l.interrupted = ctx, done
		l.disarm = context.AfterFunc(ctx, func() {
			_ = l.SetDeadline(time.Unix(1, 0)) // of one that is closed there is nothing to interrupt
			close(done)
		})
	}
	if err := l.SetDeadline(until); err != nil {
		return err
	}
	return context.Cause(ctx) // which was done before the deadline was set: the other order is an interruption
}

func (l *line) close() {
	l.disarm()
	_ = l.Conn.Close() // nobody waits for anything on it
}

// put keeps a connection for the next request.
func (p *lines) put(l *line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, l)
}

// close closes those that nobody uses.
func (p *lines) close() {
	p.mu.Lock()
	all := p.idle
	p.idle = nil
	p.mu.Unlock()
	for _, l := range all {
		l.close()
	}
}

// send sends a request, and reads the head of its answer.
func (p *lines) send(ctx context.Context, until time.Time, m *message, id uint64, s *shot) (*answer, error) {
	l, err := p.take(ctx, until, m.addr, s)
	if err != nil {
		return nil, err
	}
	a, err := l.exchange(m, id, s)
	if err != nil {
		l.close()
		return nil, err
	}
	a.body.(*lineBody).of = p
	return a, nil
}

func (l *line) exchange(m *message, id uint64, s *shot) (*answer, error) {
	l.out = m.wire(l.out[:0], id)
	_, unwritten := l.Write(l.out)
	if cap(l.out) > maxSpare {
		l.out = nil
	}
	if unwritten == nil {
		s.mark(&s.written)
	}
	l.left = maxHead
	if _, err := l.in.Peek(1); err != nil {
		return nil, cmp.Or(unwritten, err)
	}
	s.mark(&s.first)
	for {
		a, err := l.answer()
		if err != nil {
			return nil, cmp.Or(unwritten, err)
		}
		if a.status >= 200 || a.status == http.StatusSwitchingProtocols { // else another follows
			a.body.(*lineBody).last = a.body.(*lineBody).last || unwritten != nil // it was refused before all of it was read
			return a, nil
		}
	}
}
