package session_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// A server that took a call, broke off its stream and forgot the session may have done what it was asked: the session is made again, the
// call is not.
func TestACallThatTheServerTookIsNotMadeAgain(t *testing.T) {
	var mu sync.Mutex
	calls, sessions := 0, 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			if r.Header.Get("Last-Event-ID") != "" {
				http.NotFound(w, r)
				return
			}
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(r.Body)
		env, scanErr := jsonrpc.Scan(body)
		if err != nil || scanErr != nil {
			t.Error(err, scanErr)
		}
		mu.Lock()
		defer mu.Unlock()
		switch env.Method {
		case "initialize":
			sessions++
			w.Header().Set("Mcp-Session-Id", fmt.Sprint("s", sessions))
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}`, env.ID)
		case "tools/call":
			calls++
			if calls > 1 {
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, env.ID)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "retry: 1\nid: 1\ndata:\n\n")
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(srv.Close)
	_, s := sessiontest.Open(t, session.Options{HealthInterval: -1}, config.Server{URL: srv.URL, Transport: config.HTTP, Protocol: "2025-11-25"})
	_, err := s.CallTool(t.Context(), "pay", nil, session.CallOptions{})
	if err == nil || !strings.Contains(err.Error(), "the server ended the session") {
		t.Errorf("the error is %v", err)
	}
	mu.Lock()
	assert.Equal(t, calls, 1)
	assert.Equal(t, sessions, 2)
	mu.Unlock()
	_, err = s.CallTool(t.Context(), "pay", nil, session.CallOptions{})
	require.NoError(t, err)
}

// A level that was chosen holds over the connections to come, in the legacy era as well, where a server forgets it.
func TestALevelOutlivesItsConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var levels []string
		m, s := sessiontest.Open(t, session.Options{HealthInterval: -1, Dial: sessiontest.Dial(func(n int, p *sessiontest.Peer) {
			p.Handshake(`{"logging":{}}`)
			p.Serve(func(env jsonrpc.Envelope) {
				if env.Method != "logging/setLevel" {
					return
				}
				level := jsonrpc.GetString(env.Params, "level")
				levels = append(levels, fmt.Sprint(n, " ", level))
				if level == "loud" {
					p.Refuse(env, -32602, "")
					return
				}
				p.Answer(env, "{}")
			})
		})}, config.Server{Name: "srv"})
		require.NoError(t, s.SetLevel(t.Context(), "debug"))
		if err := s.SetLevel(t.Context(), "loud"); err == nil {
			t.Error("a level that the server does not have was taken")
		}
		require.NoError(t, s.Reconnect(t.Context()))
		synctest.Wait()
		cfg := s.Config()
		cfg.Args = []string{"another"}
		s, err := m.Replace(cfg)
		require.NoError(t, err)
		require.NoError(t, s.Connect(t.Context()))
		synctest.Wait()
		assert.Equal(t, strings.Join(levels, ", "), "1 debug, 1 loud, 2 debug, 3 debug")
	})
}
