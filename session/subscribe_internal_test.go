package session

import (
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// TestSubscribeOnAReplacedConnection: a subscription asked for on a connection that is not the session's any more is not
// taken for made.
func TestSubscribeOnAReplacedConnection(t *testing.T) {
	m := NewManager(Options{HealthInterval: -1, Dial: func(config.Server) (transport.Transport, bool) {
		return transport.NewMemory(server.NewStdioServer(server.NewMCPServer("memory", "1.0", server.WithResourceCapabilities(true, true))).Listen), true
	}})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := m.Register(config.Server{Name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	old, err := s.acquire(t.Context(), "resources/subscribe")
	if err != nil || old.era != Modern {
		t.Fatal(old.era, err)
	}
	if err := s.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w := s.watch(old, "file:///x"); w != nil || len(s.watches) != 0 {
		t.Error("the connection that is gone has a subscription")
	}
	if err := s.Subscribe(t.Context(), "file:///x"); err != nil || len(s.watches) != 1 {
		t.Error(len(s.watches), err)
	}
	if err := s.Subscribe(t.Context(), "file:///x"); err != nil || len(s.watches) != 1 {
		t.Error("the second time:", len(s.watches), err)
	}
}
