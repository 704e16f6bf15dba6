package authtest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"testing"
)

// network is hosts in memory. Connections are pipes, and TLS is taken for granted.
type network struct {
	t      testing.TB
	client *client
	mu     sync.Mutex
	hosts  map[string]*host
}

// client reaches the hosts of a network, and nothing else.
type client struct {
	*http.Transport
	network *network
}

func newNetwork(t testing.TB) *network {
	n := &network{t: t, hosts: map[string]*host{}}
	n.client = &client{&http.Transport{DialContext: n.dial, DialTLSContext: n.dial}, n}
	t.Cleanup(n.client.CloseIdleConnections)
	return n
}

func (n *network) host(name string) place {
	return func(h http.Handler) string {
		l := &host{conns: make(chan net.Conn), closed: make(chan struct{})}
		n.mu.Lock()
		n.hosts[name] = l
		n.mu.Unlock()
		srv := &http.Server{Handler: h}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = srv.Serve(l) // until it is closed
		}()
		n.t.Cleanup(func() {
			n.client.CloseIdleConnections()
			_ = srv.Close()
			<-done
		})
		return "https://" + name
	}
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	h := n.hosts[name]
	n.mu.Unlock()
	if h == nil {
		return nil, fmt.Errorf("no such host: %s", name)
	}
	ours, theirs := net.Pipe()
	select {
	case h.conns <- theirs:
		return ours, nil
	case <-h.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// host is a net.Listener.
type host struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (h *host) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

func (h *host) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

func (h *host) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
