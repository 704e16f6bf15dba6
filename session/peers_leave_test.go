package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A call is left while its question waits, by each way there is, at servers that others wrote: the question goes, and the server
// can be called again.
func TestPeerQuestionsCanBeLeft(t *testing.T) {
	for _, c := range []struct {
		name     string
		server   func(*testing.T) config.Server
		protocol string
		tool     string
	}{
		{"everything, stdio", func(t *testing.T) config.Server { return peertest.Everything(t) }, "", "trigger-elicitation-request"},
		{"everything, http", func(t *testing.T) config.Server { return peertest.EverythingHTTP(t).Server }, "", "trigger-elicitation-request"},
		{"everything, sse", func(t *testing.T) config.Server { return peertest.EverythingSSE(t).Server }, "", "trigger-elicitation-request"},
		// A form of its example that is not accepted makes it panic.
		{"go-sdk, legacy stdio", func(t *testing.T) config.Server { return peertest.GoSDKEverything(t) }, "2025-11-25", "sample"},
		{"go-sdk, http", func(t *testing.T) config.Server { return peertest.GoSDKEverythingHTTP(t).Server }, "", "sample"},
		{"rounds, modern stdio", func(t *testing.T) config.Server { return peertest.Patient(t) }, "", "ask"},
		{"rounds, modern http", func(t *testing.T) config.Server { return peertest.PatientHTTP(t, "/modern").Server }, "", "ask"},
		{"rounds, sse", func(t *testing.T) config.Server { return peertest.PatientHTTP(t, "/sse").Server }, "", "ask"},
		{"TypeScript, modern", func(t *testing.T) config.Server { return peertest.Questions(t) }, "", "ask"},
		{"TypeScript, legacy", func(t *testing.T) config.Server { return peertest.Questions(t) }, "2025-11-25", "ask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := c.server(t)
			cfg.Protocol, cfg.Roots = c.protocol, []string{"file:///a/root"}
			q := pending.New(pending.Options{Attended: true})
			m := session.NewManager(session.Options{Pending: q})
			t.Cleanup(func() { assert.NoError(t, m.Close()) })
			s, err := m.Register(cfg)
			require.NoError(t, err)
			require.NoError(t, s.Connect(t.Context()))
			call := func(ctx context.Context, o session.CallOptions) chan error {
				done := make(chan error, 1)
				go func() {
					_, err := s.CallTool(ctx, c.tool, []byte(`{}`), o)
					done <- err
				}()
				return done
			}
			asked := func() bool { return q.Len() > 0 }
			none := func() bool { return q.Len() == 0 }

			ctx, cancel := context.WithCancel(t.Context())
			done := call(ctx, session.CallOptions{})
			require.Eventually(t, "asked", asked)
			cancel()
			if err := <-done; failure.KindOf(err) != failure.Interrupted {
				t.Errorf("cancelled: %v", err)
			}
			require.Eventually(t, "gone after a cancellation", none)

			done = call(t.Context(), session.CallOptions{})
			require.Eventually(t, "asked again", asked)
			if err := s.Disconnect(); err != nil {
				t.Log(err)
			}
			if err := <-done; failure.KindOf(err) != failure.ChannelClosed {
				t.Errorf("disconnected: %v", err)
			}
			require.Eventually(t, "gone after the connection", none)
			require.NoError(t, s.Connect(t.Context()))

			done = call(t.Context(), session.CallOptions{Timeout: 5 * time.Second, MaxTimeout: 5 * time.Second})
			require.Eventually(t, "asked a third time", asked)
			select {
			case err := <-done:
				t.Fatalf("the call did not wait: %v", err)
			case <-time.After(5500 * time.Millisecond):
			}
			stop := make(chan struct{})
			go person(t, q, stop)
			if err := <-done; err != nil {
				t.Errorf("after a wait: %v", err)
			}
			first, second := call(t.Context(), session.CallOptions{}), call(t.Context(), session.CallOptions{})
			for _, done := range []chan error{first, second} {
				if err := <-done; err != nil {
					t.Errorf("two at once: %v", err)
				}
			}
			close(stop)
			require.Eventually(t, "all answered", none)
		})
	}
}
