package agentsrv

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// Over the wire: who may read the metadata, and what a refused caller is told.
func TestA9_TheAgentIsAProtectedResource(t *testing.T) {
	file, sign := signer(t)
	agent, err := New(Options{JWKS: file, JWTIssuer: "https://id.example", JWTAudience: "https://agent.example/mcp", JWTScopes: []string{"mcp:tools"}})
	require.NoError(t, err)
	defer func() { _ = agent.Close(context.Background()) }()
	ask := func(method, path, host, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		agent.Handler().ServeHTTP(w, r)
		return w
	}
	const at = "/.well-known/oauth-protected-resource"
	for _, path := range []string{at, at + "/mcp"} {
		if w := ask(http.MethodGet, path, "127.0.0.1", ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"resource":"https://agent.example/mcp"`) {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if w := ask(http.MethodGet, path, "evil.example", ""); w.Code != http.StatusForbidden {
			t.Errorf("%s for a foreign Host: %d %s", path, w.Code, w.Body)
		}
		assert.Equalf(t, ask(http.MethodPost, path, "127.0.0.1", "").Code, http.StatusMethodNotAllowed, "POST %s", path)
	}
	assert.Equalf(t, ask(http.MethodGet, at+"/other", "127.0.0.1", "").Code, http.StatusNotFound, "metadata of what is not there")
	const metadata = `resource_metadata="https://agent.example/.well-known/oauth-protected-resource/mcp"`
	ours := map[string]any{"iss": "https://id.example", "aud": "https://agent.example/mcp"}
	for _, c := range []struct {
		name, token string
		status      int
		want        string
	}{
		{"no token", "", 401, `Bearer ` + metadata + `, scope="mcp:tools"`},
		{"a wrong one", "x", 401, `Bearer ` + metadata + `, error="invalid_token", error_description="the bearer token is not accepted", scope="mcp:tools"`},
		{
			"one for another service", sign(map[string]any{"iss": "https://id.example", "aud": "https://b.example"}), 401,
			`Bearer ` + metadata + `, error="invalid_token", error_description="the token has another issuer or audience", scope="mcp:tools"`,
		},
		{"one without the scope", sign(ours), 403, `Bearer ` + metadata + `, error="insufficient_scope", error_description="the token lacks the scope mcp:tools", scope="mcp:tools"`},
		{"a good one", sign(map[string]any{"iss": ours["iss"], "aud": ours["aud"], "scope": "mcp:tools"}), 200, ""},
	} {
		w := ask(http.MethodPost, "/mcp", "127.0.0.1", c.token)
		if got := w.Header().Get("WWW-Authenticate"); w.Code != c.status || got != c.want {
			t.Errorf("%s: %d %s\nwant %d %s", c.name, w.Code, got, c.status, c.want)
		}
	}
}
