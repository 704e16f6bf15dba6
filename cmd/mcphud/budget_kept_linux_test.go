package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/kept"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// A call by a kept session takes little longer than at the server itself, and the process that keeps it little memory.
func TestBudgetKeptSession(t *testing.T) {
	budget.Skip(t)
	k := newKeeping(t)
	st := k.open("shop", "demo")
	t.Setenv("MCPHUD_TAP_DIR", k.home+"/s")
	shared, err := kept.Server(t.Context(), "shop")
	require.NoError(t, err)
	own := ownAgent(t, "demo")
	bare := config.OfCommand(own[1], own[2:]...)
	bare.Name, bare.Env = "bare", map[string]string{asMain: "1"}
	m := session.NewManager(session.Options{})
	t.Cleanup(func() { _ = m.Close() })
	call := func(cfg config.Server) func() time.Duration {
		s, err := m.Register(cfg)
		require.NoError(t, err)
		require.NoError(t, s.Connect(t.Context()))
		return func() time.Duration {
			return budget.Time(func() {
				_, err := s.CallTool(t.Context(), "echo", json.RawMessage(`{"message":"hi"}`), session.CallOptions{})
				require.NoError(t, err)
			})
		}
	}
	got, base := budget.MedianPair(call(shared), call(bare))
	budget.Beyond(t, "a call by a kept session, beyond one at the server itself", got, base, 15*time.Millisecond)
	memory, ok := budget.Memory(st.PID)
	if !ok {
		t.Fatal("the process that keeps it is gone")
	}
	budget.Size(t, "memory of the process that keeps a session", memory, 30<<20, 1)
}
