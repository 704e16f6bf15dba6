package transport

import (
	"context"
	"net"
	"sync"
)

// conns are the connections of an HTTP client. CloseIdleConnections leaves those alone on which HTTP/2 is still tidying up after
// a request, and nobody would ever close them.
type conns struct {
	mu     sync.Mutex            // guards the two below; Close of tracked takes it
	open   map[*tracked]struct{} // nil before the first, and after close
	closed bool                  // what is still being made is closed at once
}

// tracked is a connection that is forgotten when it is closed.
type tracked struct {
	net.Conn
	of *conns
}

// dialer is dial with a record of what it makes.
func (c *conns) dialer(dial Dial) Dial {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		t := &tracked{conn, c}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.closed {
			_ = conn.Close() // nobody waits for anything on it
			return nil, net.ErrClosed
		}
		if c.open == nil {
			c.open = map[*tracked]struct{}{}
		}
		c.open[t] = struct{}{}
		return t, nil
	}
}

// Close closes the connection.
func (t *tracked) Close() error {
	t.of.mu.Lock()
	delete(t.of.open, t)
	t.of.mu.Unlock()
	return t.Conn.Close()
}

// close closes all of them, and those that are still being made.
func (c *conns) close() {
	c.mu.Lock()
	c.closed = true
	all := c.open
	c.open = nil
	c.mu.Unlock()
	for t := range all {
		_ = t.Conn.Close() // nobody waits for anything on it
	}
}
