package session_test

import (
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Nothing starts a server of a project file, or one that was published, before it is trusted, whichever way it is asked to.
func TestUntrustedServersAreNeverStarted(t *testing.T) {
	for _, from := range []config.Source{{File: "/p/.mcp.json", Project: true}, {File: "/p/server.json", Published: &config.Published{Name: "a.b/c"}}} {
		untrusted(t, from)
	}
}

func untrusted(t *testing.T, from config.Source) {
	synctest.Test(t, func(t *testing.T) {
		f := sessiontest.NewServer("x")
		trust := config.OpenTrust(t.TempDir())
		for _, o := range []session.Options{{}, {Trust: trust}} {
			o.HealthInterval = -1
			o.Dial = func(config.Server) (transport.Transport, bool) { return transport.NewMemory(f.Serve), true }
			m := session.NewManager(o)
			b := toolset.NewBridge(m, config.Settings{})
			cfg := config.Server{Name: "a", Command: "x", Protocol: "2025-11-25", Source: from}
			s, err := m.Register(cfg)
			require.NoError(t, err)
			_, _, got := b.Pool().Get(t.Context(), "a")
			_, called := b.CallTool(t.Context(), "mcp__a__x", nil, session.CallOptions{})
			for what, err := range map[string]error{
				"Connect": s.Connect(t.Context()), "Reconnect": s.Reconnect(t.Context()), "Get": got, "CallTool": called,
				"ConnectAll": b.ConnectAll(t.Context(), []string{"a"}, nil),
			} {
				if failure.KindOf(err) != failure.Usage {
					t.Errorf("%s: %v", what, err)
				}
			}
			if starts, _ := f.State(); starts != 0 {
				t.Fatalf("it was started %d times", starts)
			}
			if o.Trust != nil {
				require.NoError(t, trust.Trust(cfg))
				if err := s.Connect(t.Context()); err != nil {
					t.Errorf("after it was trusted: %v", err)
				}
			}
			sessiontest.CloseAll(t, m, b)
		}
	})
}
