package proxy

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Whatever path leads to an agent is the one spelling of it.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"/mcps/a/mcp", "/mcps/a%2fb/mcp", "/mcps/../mcp", "/mcp/a/mcp", "/agent//mcp", "/mcps/a/mcp/mcp", "/mcps/a/task", "/mcps/task/mcp"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		agent, task, ok := agentIn(path)
		if !ok || !config.ValidName(agent) {
			return
		}
		found, page := false, "/mcp"
		if task {
			page = "/task"
		}
		for _, p := range prefixes {
			found = found || path == p+agent+page
		}
		if !found || strings.ContainsAny(agent, "/%\x00") {
			t.Errorf("%q leads to %q", path, agent)
		}
	})
}

// What the ingress lets pass has one reading; what it refuses is answered with a JSON-RPC error.
func FuzzEnvelope(f *testing.F) {
	for _, body := range []string{callEcho, initialize, "[]", "{", `{"jsonrpc":"2.0","id":1,"Method":"x","method":"y"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/mcps/a/mcp", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		c := &flow.Call{Request: flow.Request{W: w, R: r, Agent: "a"}}
		if read(c, ingress.Limits{Body: 1 << 20}) {
			if jsonrpc.Valid(body) != nil || c.Env.Kind == jsonrpc.Invalid {
				t.Errorf("%q passed as %v", body, c.Env.Kind)
			}
			return
		}
		e, err := jsonrpc.Scan(w.Body.Bytes())
		if w.Code < 200 || w.Code == 202 || (err != nil || e.Kind != jsonrpc.ErrorResponse) {
			t.Errorf("%q was answered with %d %s", body, w.Code, w.Body)
		}
	})
}
