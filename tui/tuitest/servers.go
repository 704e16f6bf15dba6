package tuitest

import (
	"context"
	"io"
	"testing"
	"time"

	mcptransport "github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/client/mcpgo"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Serve speaks MCP's stdio framing over in and out until in ends or ctx is done, as an in-memory server.
type Serve = func(ctx context.Context, in io.Reader, out io.Writer) error

// peers are the servers of a test.
type peers struct {
	manager *session.Manager
	given   bool // the test's own manager: it closes it
	options session.Options
	list    []config.Server
	memory  map[string]func() transport.Transport
	idle    bool
	latency time.Duration
}

// Server registers an mcp-go server that runs in this process and connects to
// it. Servers are in the rail in the order of their options.
func Server(name string, s *server.MCPServer) Option { return Memory(nameless(name), s) }

// Memory is Server with a configuration of the test's own, so that the screen
// shows the command line or URL that a user would have.
func Memory(cfg config.Server, s *server.MCPServer) Option {
	return inMemory(cfg, func() transport.Transport { return mcpgo.From(mcptransport.NewInProcessTransport(s)) })
}

// Peer is Server for anything that speaks the framing: a misbehaving server is a function of a few lines.
func Peer(name string, serve Serve) Option { return PeerAs(nameless(name), serve) }

// PeerAs is Peer with a configuration of the test's own.
func PeerAs(cfg config.Server, serve Serve) Option {
	return inMemory(cfg, func() transport.Transport { return transport.NewMemory(serve) })
}

// nameless is the configuration of a server of which only the name matters.
func nameless(name string) config.Server {
	return config.Server{Name: name, Transport: config.Stdio, Command: "memory"}
}

func inMemory(cfg config.Server, dial func() transport.Transport) Option {
	return func(s *settings) {
		s.peers.memory[cfg.Name] = func() transport.Transport { return standIn{dial(), cfg.Transport, s.peers.latency} }
		s.peers.list = append(s.peers.list, cfg)
	}
}

// Target registers a real server, stdio or HTTP, and connects to it: for tests outside of a bubble.
func Target(cfg config.Server) Option {
	return func(s *settings) { s.peers.list = append(s.peers.list, cfg) }
}

// Latency is how long each frame to a server in memory takes. With none a question and its answer have the same fake
// time, and which of two things at one time comes first is chance: pictures of times need some.
func Latency(d time.Duration) Option { return func(s *settings) { s.peers.latency = d } }

// NoConnect leaves the servers registered but not connected.
func NoConnect() Option { return func(s *settings) { s.peers.idle = true } }

// SessionOptions changes how sessions are made (health checks, retries).
func SessionOptions(f func(*session.Options)) Option {
	return func(s *settings) { f(&s.peers.options) }
}

// Sessions uses the test's own manager, which it registers servers with and
// closes after the UI ended (t.Cleanup before Start does that).
func Sessions(m *session.Manager) Option {
	return func(s *settings) { s.peers.manager, s.peers.given = m, true }
}

// open makes the manager and registers the servers.
func (p *peers) open(t testing.TB) *session.Manager {
	t.Helper()
	if p.manager == nil {
		memory, dial := p.memory, p.options.Dial
		p.options.Dial = func(cfg config.Server) (transport.Transport, bool) {
			if in := memory[cfg.Name]; in != nil {
				return in(), true
			}
			if dial != nil {
				return dial(cfg)
			}
			return nil, false
		}
		p.manager = session.NewManager(p.options)
	}
	for _, cfg := range p.list {
		if _, err := p.manager.Register(cfg); err != nil {
			t.Fatal(err)
		}
	}
	return p.manager
}

// standIn is an in-memory transport under the name of the one that a user would have.
type standIn struct {
	transport.Transport
	label   string
	latency time.Duration
}

// Send is slower than memory where the test says so.
func (s standIn) Send(ctx context.Context, m transport.Message) error {
	if s.latency > 0 {
		t := time.NewTimer(s.latency)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.Transport.Send(ctx, m)
}

// Traits are the transport's own under the name that the screen shows.
func (s standIn) Traits() transport.Traits {
	t := s.Transport.Traits()
	t.Kind = s.label
	return t
}

// connect connects every server. A failure is for the UI to show, and does not fail the test.
func (p *peers) connect(ctx context.Context) {
	if p.idle {
		return
	}
	for _, cfg := range p.list {
		_ = p.manager.Connect(ctx, cfg.Name)
	}
}

func (p *peers) close(t testing.TB) {
	t.Helper()
	if p.manager == nil || p.given {
		return
	}
	if err := p.manager.Close(); err != nil {
		t.Errorf("closing the sessions: %v", err)
	}
}

// Manager is the sessions that the UI shows.
func (a *App) Manager() *session.Manager { return a.manager }
