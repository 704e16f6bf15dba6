package session_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/peertest"
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

// A long call ends at once when it is cancelled, and the connection is good for
// the next one.
func TestPeerCancel(t *testing.T) {
	for _, name := range []string{"stdio", "http", "sse"} {
		t.Run(name, func(t *testing.T) {
			sess, _ := open(t, peers(t)[name])
			ctx, cancel := context.WithCancel(t.Context())
			start := time.Now()
			_, err := sess.CallTool(ctx, "trigger-long-running-operation", json.RawMessage(`{"duration":60,"steps":600}`),
				session.CallOptions{OnProgress: func(session.Progress) { cancel() }})
			cancel()
			if session.KindOf(err) != session.Interrupted || time.Since(start) > 30*time.Second {
				t.Fatalf("after %v: %v", time.Since(start), err)
			}
			reply, err := sess.CallTool(t.Context(), "echo", json.RawMessage(`{"message":"still here"}`), session.CallOptions{})
			if err != nil || !bytes.Contains(reply.Result, []byte("still here")) {
				t.Errorf("%s, %v", reply.Result, err)
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
			before, err := sess.List(t.Context(), session.Tools)
			if err != nil {
				t.Fatal(err)
			}
			h.Kill()
			if _, err := sess.Ping(t.Context()); err == nil {
				t.Error("a dead server answered")
			}
			h.Restart()
			if err := sess.Reconnect(t.Context()); err != nil {
				t.Fatal(err)
			}
			after, err := sess.Refresh(t.Context(), session.Tools)
			if err != nil || len(after.Items) != len(before.Items) {
				t.Errorf("%d tools before, %d after, %v", len(before.Items), len(after.Items), err)
			}
		})
	}
}
