package session

import (
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// inMemory is a session with a server in this process that is modern and has resources to subscribe to; nothing is connected.
func inMemory(t *testing.T, o Options) *Session {
	t.Helper()
	o.HealthInterval, o.Dial = -1, func(config.Server) (transport.Transport, bool) {
		return transport.NewMemory(server.NewStdioServer(server.NewMCPServer("memory", "1.0", server.WithResourceCapabilities(true, true))).Listen), true
	}
	m := NewManager(o)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	s, err := m.Register(config.Server{Name: "one"})
	require.NoError(t, err)
	return s
}

// TestSubscribeOnAReplacedConnection: a subscription asked for on a connection that is not the session's any more is not
// taken for made.
func TestSubscribeOnAReplacedConnection(t *testing.T) {
	s := inMemory(t, Options{})
	require.NoError(t, s.Connect(t.Context()))
	old, err := s.acquire(t.Context(), "resources/subscribe")
	if err != nil || old.era != Modern {
		t.Fatal(old.era, err)
	}
	require.NoError(t, s.Reconnect(t.Context()))
	if w := s.watch(old, "file:///x"); w != nil || len(s.subs.watches) != 0 {
		t.Error("the connection that is gone has a subscription")
	}
	if err := s.Subscribe(t.Context(), "file:///x"); err != nil || len(s.subs.watches) != 1 {
		t.Error(len(s.subs.watches), err)
	}
	if err := s.Subscribe(t.Context(), "file:///x"); err != nil || len(s.subs.watches) != 1 {
		t.Error("the second time:", len(s.subs.watches), err)
	}
}
