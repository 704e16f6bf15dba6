package proxy

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Who may not call an agent may not connect to it either, and the audit log has what a WebSocket and an event stream carry.
func TestP14b_R3b_ConnectionsPassTheRouter(t *testing.T) {
	yes := true
	log := filepath.Join(t.TempDir(), "audit.jsonl")
	a, b := newAgent(t), newAgent(t)
	f := start(t, Options{WebSocket: &yes, SSE: &yes, Audit: audit.Options{File: log}, Tokens: tokens(t, token("alpha", "one", `["a"]`))}, route("a", a.at(), ""), route("b", b.at(), ""))
	ask := func(path, token string, socket bool) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.URL()+path, nil)
		require.NoError(t, err)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		if socket {
			for name, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
				req.Header.Set(name, v)
			}
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		return res.StatusCode
	}
	for _, c := range []struct {
		path, token string
		socket      bool
		want        int
	}{
		{"/mcps/a/mcp", "alpha", true, 101},
		{"/mcps/b/mcp", "alpha", true, 403},
		{"/mcps/none/mcp", "alpha", true, 403}, // which agents there are is not told
		{"/mcps/a/mcp", "", true, 401},
		{"/mcps/a/mcp", "other", true, 401},
		{"/mcp", "", true, 401},
		{"/mcp", "alpha", true, 101},
		{"/mcps/a/task", "alpha", true, 400},
		{"/mcps/a/sse", "alpha", false, 200},
		{"/mcps/b/sse", "alpha", false, 403},
		{"/mcps/a/sse", "", false, 401},
		{"/sse", "", false, 401},
		{"/sse", "alpha", false, 200},
		{"/mcps/a/messages", "alpha", false, 405},
		{"/messages", "alpha", false, 405},
		{"/mcps/a/sse/x", "alpha", false, 404},
	} {
		assert.Equalf(t, ask(c.path, c.token, c.socket), c.want, "%+v", c)
	}
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(f.URL(), "http")+"/mcps/a/mcp", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer alpha"}}})
	require.NoError(t, err)
	require.NoError(t, conn.Write(t.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"audited","arguments":{}}}`)))
	if _, frame, err := conn.Read(t.Context()); err != nil || !strings.Contains(string(frame), `"id":1`) {
		t.Errorf("%s %v", frame, err)
	}
	_ = conn.Close(websocket.StatusNormalClosure, "")
	assert.NoError(t, f.Close(context.Background()))
	raw, err := os.ReadFile(log)
	if text := string(raw); err != nil || !strings.Contains(text, `"tool":"audited"`) || strings.Count(text, `"status":403`) < 3 {
		t.Error(text)
	}
	http.DefaultClient.CloseIdleConnections()
}

// What files of routes say of it counts at once.
func TestP14b_RoutesSwitchWebSockets(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	open := func() bool {
		conn, res, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(f.URL(), "http")+"/mcps/a/mcp", nil)
		if err != nil {
			if res == nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body)
			return false
		}
		_ = conn.CloseNow()
		return true
	}
	if open() {
		t.Error("nobody asked for it")
	}
	f.write(t, strings.Replace(table(route("a", a.at(), "")), "{", `{"websocket":true,`, 1))
	if err := f.Reload(); err != nil || !open() {
		t.Errorf("%v", err)
	}
}
