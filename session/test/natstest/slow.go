package natstest

import (
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
)

// Link leads to a server over a network that is slow, or carries nothing. It ends with the test.
type Link struct {
	URL string

	to   string
	ln   net.Listener
	all  sync.WaitGroup
	stop chan struct{}

	mu    sync.Mutex
	delay time.Duration
	held  chan struct{} // nil while it carries; closed when it does again
	open  []net.Conn
}

// Slow makes a link to the server at a URL that takes so long for each way.
func Slow(t testing.TB, url string, delay time.Duration) *Link {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	scheme, to, _ := strings.Cut(url, "://")
	l := &Link{URL: scheme + "://" + ln.Addr().String(), to: to, ln: ln, stop: make(chan struct{}), delay: delay}
	l.all.Go(l.accept)
	t.Cleanup(l.close)
	return l
}

// Hold lets nothing through until Release; connections stay open.
func (l *Link) Hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = make(chan struct{})
	}
}

// Release carries what was held, and what comes.
func (l *Link) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held != nil {
		close(l.held)
		l.held = nil
	}
}

func (l *Link) close() {
	close(l.stop)
	_ = l.ln.Close()
	l.mu.Lock()
	for _, c := range l.open {
		_ = c.Close()
	}
	l.mu.Unlock()
	l.all.Wait()
}

func (l *Link) accept() {
	for {
		in, err := l.ln.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", l.to)
		if err != nil { // the server is away
			_ = in.Close()
			continue
		}
		l.mu.Lock()
		l.open = append(l.open, in, out)
		l.mu.Unlock()
		l.all.Go(func() { l.forward(in, out) })
		l.all.Go(func() { l.forward(out, in) })
	}
}

// piece is what was read at once, and when it arrives.
type piece struct {
	data []byte
	at   time.Time
}

// forward reads on while what it read before is on its way.
func (l *Link) forward(from, to net.Conn) {
	pieces := make(chan piece, 1024)
	l.all.Go(func() {
		defer to.Close()
		for p := range pieces {
			if !l.wait(p.at) {
				return
			}
			if _, err := to.Write(p.data); err != nil {
				return
			}
		}
	})
	defer close(pieces)
	for {
		b := make([]byte, 32<<10)
		n, err := from.Read(b)
		if err != nil {
			return
		}
		l.mu.Lock()
		at := time.Now().Add(l.delay)
		l.mu.Unlock()
		select {
		case pieces <- piece{b[:n], at}:
		case <-l.stop:
			return
		}
	}
}

// wait is the way of a piece; false once the test ends.
func (l *Link) wait(at time.Time) bool {
	late := time.NewTimer(time.Until(at))
	defer late.Stop()
	select {
	case <-late.C:
	case <-l.stop:
		return false
	}
	l.mu.Lock()
	held := l.held
	l.mu.Unlock()
	if held == nil {
		return true
	}
	select {
	case <-held:
		return true
	case <-l.stop:
		return false
	}
}
