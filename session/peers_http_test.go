package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// peers are one server of each era and transport.
func peers(t *testing.T) map[string]config.Server {
	return map[string]config.Server{
		"stdio":     peertest.Everything(t),
		"http":      peertest.EverythingHTTP(t).Server,
		"sse":       peertest.EverythingSSE(t).Server,
		"modern":    peertest.GoSDKEverything(t),
		"both eras": peertest.GoSDKEverythingHTTP(t).Server,
		"mcp-go":    peertest.MCPGoEverything(t),
	}
}

func TestPeerEras(t *testing.T) {
	modern := map[string]bool{"modern": true, "mcp-go": true}
	for name, s := range peers(t) {
		t.Run(name, func(t *testing.T) {
			sess, _ := open(t, s)
			want := session.Legacy
			if modern[name] {
				want = session.Modern
			}
			if st := sess.Status(); st.Era != want || st.State != session.Connected || st.Version == "" {
				t.Errorf("era %q, state %q, version %q", st.Era, st.State, st.Version)
			}
			if _, err := sess.Ping(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A cancelled call ends in the server's handler: in both eras and on every transport, by the server's own word.
func TestPeerCancelReachesTheServer(t *testing.T) {
	for name, c := range map[string]struct {
		server          func(*testing.T) config.Server
		protocol        string
		era             session.Era
		transport, told string // "notified" or "closed"
	}{
		"modern stdio": {func(t *testing.T) config.Server { return peertest.Patient(t) }, "", session.Modern, config.Stdio, "notified"},
		"legacy stdio": {func(t *testing.T) config.Server { return peertest.Patient(t) }, "2025-06-18", session.Legacy, config.Stdio, "notified"},
		"modern http":  {func(t *testing.T) config.Server { return peertest.PatientHTTP(t, "/modern").Server }, "", session.Modern, config.HTTP, "closed"},
		"legacy http":  {func(t *testing.T) config.Server { return peertest.PatientHTTP(t, "/mcp").Server }, "", session.Legacy, config.HTTP, "notified"},
		"sse":          {func(t *testing.T) config.Server { return peertest.PatientHTTP(t, "/sse").Server }, "", session.Legacy, config.SSE, "notified"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := c.server(t)
			cfg.Protocol = c.protocol
			sess, j := open(t, cfg)
			if st := sess.Status(); st.Era != c.era || st.Transport != c.transport {
				t.Fatalf("era %q over %s", st.Era, st.Transport)
			}
			until := func(want string) {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				for {
					r, err := sess.CallTool(ctx, "count", nil, session.CallOptions{})
					if err != nil {
						t.Fatalf("waiting for %s: %v", want, err)
					}
					if bytes.Contains(r.Result, []byte(want)) {
						return
					}
				}
			}
			for n := range 3 {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					_, err := sess.CallTool(ctx, "wait", nil, session.CallOptions{})
					done <- err
				}()
				until(fmt.Sprintf("1 waiting, %d cancelled", n))
				cancel()
				if err := <-done; failure.KindOf(err) != failure.Interrupted {
					t.Fatal(err)
				}
				until(fmt.Sprintf("0 waiting, %d cancelled", n+1))
			}
			notified := 0
			for _, e := range j.Snapshot(0, nil) {
				if e.Dir == journal.Out && e.Kind == journal.Notification && e.Method == "notifications/cancelled" {
					notified++
				}
			}
			if (notified == 3) != (c.told == "notified") || (notified == 0) != (c.told == "closed") {
				t.Errorf("%d notifications, want it %s", notified, c.told)
			}
		})
	}
}

// A long call of server-everything ends at once when it is cancelled, the server takes the notification, sends no answer
// any more, and the connection is good for the next call.
func TestPeerCancel(t *testing.T) {
	for _, name := range []string{"stdio", "http", "sse"} {
		t.Run(name, func(t *testing.T) {
			sess, j := open(t, peers(t)[name])
			ctx, cancel := context.WithCancel(t.Context())
			_, err := sess.CallTool(ctx, "trigger-long-running-operation", json.RawMessage(`{"duration":1,"steps":10}`),
				session.CallOptions{OnProgress: func(rpc.Progress) { cancel() }})
			cancel()
			if failure.KindOf(err) != failure.Interrupted {
				t.Fatal(err)
			}
			// It would have ended within this one, and answered.
			if _, err := sess.CallTool(t.Context(), "trigger-long-running-operation", json.RawMessage(`{"duration":1.5,"steps":2}`), session.CallOptions{}); err != nil {
				t.Fatal(err)
			}
			reply, err := sess.CallTool(t.Context(), "echo", json.RawMessage(`{"message":"still here"}`), session.CallOptions{})
			if err != nil || !bytes.Contains(reply.Result, []byte("still here")) {
				t.Errorf("%s, %v", reply.Result, err)
			}
			told := false
			for _, e := range j.Snapshot(0, nil) {
				told = told || e.Dir == journal.Out && e.Kind == journal.Notification && e.Method == "notifications/cancelled"
				if e.Dir == journal.In && (e.Kind == journal.Response || e.Kind == journal.ErrorResponse) && e.Note != "" {
					t.Errorf("answered all the same: %+v", e)
				}
			}
			if !told {
				t.Error("the server was not told")
			}
		})
	}
}

// A server that is killed and comes back answers the next call after a
// reconnect by hand.
func TestPeerIsKilledAndComesBack(t *testing.T) {
	for name, start := range map[string]func(testing.TB) *peertest.HTTP{"http": peertest.EverythingHTTP, "sse": peertest.EverythingSSE, "modern": peertest.GoSDKEverythingHTTP} {
		t.Run(name, func(t *testing.T) {
			h := start(t)
			sess, _ := open(t, h.Server)
			before, err := sess.List(t.Context(), offer.Tools)
			require.NoError(t, err)
			h.Kill()
			if _, err := sess.Ping(t.Context()); err == nil {
				t.Error("a dead server answered")
			}
			h.Restart()
			require.NoError(t, sess.Reconnect(t.Context()))
			after, err := sess.Refresh(t.Context(), offer.Tools)
			if err != nil || len(after.Items) != len(before.Items) {
				t.Errorf("%d tools before, %d after, %v", len(before.Items), len(after.Items), err)
			}
		})
	}
}
