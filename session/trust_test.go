package session

import (
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/failure"
)

// Nothing starts a server of a project file before it is trusted, whichever way it is asked to.
func TestUntrustedProjectServersAreNeverStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := script("x")
		trust := config.OpenTrust(t.TempDir())
		for _, o := range []Options{{}, {Trust: trust}} {
			o.HealthInterval = -1
			o.Dial = func(config.Server) (Transport, bool) { return NewMemory(f.serve), true }
			m := NewManager(o)
			b := NewBridge(m, config.Settings{})
			cfg := config.Server{Name: "a", Command: "x", Protocol: "2025-11-25", Source: config.Source{File: "/p/.mcp.json", Project: true}}
			s, err := m.Register(cfg)
			if err != nil {
				t.Fatal(err)
			}
			_, _, got := b.Pool().Get(t.Context(), "a")
			_, called := b.CallTool(t.Context(), "mcp__a__x", nil, CallOptions{})
			for what, err := range map[string]error{
				"Connect": s.Connect(t.Context()), "Reconnect": s.Reconnect(t.Context()), "Get": got, "CallTool": called,
				"ConnectAll": b.ConnectAll(t.Context())["a"],
			} {
				if failure.KindOf(err) != failure.Usage {
					t.Errorf("%s: %v", what, err)
				}
			}
			if starts, _ := f.state(); starts != 0 {
				t.Fatalf("it was started %d times", starts)
			}
			if o.Trust != nil {
				if err := trust.Trust(cfg); err != nil {
					t.Fatal(err)
				}
				if err := s.Connect(t.Context()); err != nil {
					t.Errorf("after it was trusted: %v", err)
				}
			}
			closeAll(t, m, b)
		}
	})
}
