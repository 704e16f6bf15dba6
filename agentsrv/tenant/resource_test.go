package tenant

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// What a refused caller is told leads to metadata that is about the very resource for which tokens are made out.
func TestA9_MetadataOfTheProtectedResource(t *testing.T) {
	t.Parallel()
	k, path := newKeys(t), filepath.Join(t.TempDir(), "jwks.json")
	write(t, path, k.set(t))
	const issuer = "https://id.example/realms/a"
	for _, c := range []struct {
		name     string
		o        JWT
		resource string // "" for none
		metadata string
		at       []string
	}{
		{"audience", JWT{Issuer: issuer, Audience: "https://agent.example/mcp"}, "https://agent.example/mcp", "https://agent.example/.well-known/oauth-protected-resource/mcp", []string{"", "/mcp"}},
		{"behind a path", JWT{Issuer: issuer, Audience: "https://h.example/agents/a/"}, "https://h.example/agents/a/", "https://h.example/.well-known/oauth-protected-resource/agents/a", []string{"", "/mcp", "/agents/a"}},
		{"no audience", JWT{Issuer: issuer}, "http://127.0.0.1:7000/mcp", "http://127.0.0.1:7000/.well-known/oauth-protected-resource/mcp", []string{"", "/mcp"}},
		{"audience that is no URL", JWT{Issuer: issuer, Audience: "api://agent"}, "http://127.0.0.1:7000/mcp", "http://127.0.0.1:7000/.well-known/oauth-protected-resource/mcp", []string{"", "/mcp"}},
		{"audience with a pattern", JWT{Issuer: issuer, Audience: "https://h.example/{x}"}, "https://h.example/{x}", "https://h.example/.well-known/oauth-protected-resource/%7Bx%7D", []string{"", "/mcp"}},
		{"no issuer", JWT{Audience: "https://agent.example/mcp"}, "", "", nil},
		{"issuer that is no URL", JWT{Issuer: "us"}, "", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.o.JWKS, c.o.Scopes = path, []string{"mcp:tools", "mcp:read"}
			a := authenticator(t, Auth{JWT: c.o})
			mux := http.NewServeMux()
			for pattern, h := range a.Pages("agent") {
				mux.Handle(pattern, h)
			}
			get := func(at string) (*httptest.ResponseRecorder, map[string]any) {
				w, v := httptest.NewRecorder(), map[string]any{}
				mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:7000"+at, nil))
				_ = json.Unmarshal(w.Body.Bytes(), &v)
				return w, v
			}
			r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:7000/mcp", nil)
			if got := a.Resource(r); got.Metadata != c.metadata || c.metadata != "" && got.Scope != "mcp:tools mcp:read" {
				t.Errorf("refused callers are told %+v, want %s", got, c.metadata)
			}
			if w, _ := get(wellKnown); c.resource == "" && w.Code != http.StatusNotFound {
				t.Errorf("metadata without an authorization server: %d %s", w.Code, w.Body)
			}
			for _, at := range c.at {
				w, v := get(wellKnown + at)
				servers, _ := v["authorization_servers"].([]any)
				methods, _ := v["bearer_methods_supported"].([]any)
				if w.Code != http.StatusOK || v["resource"] != c.resource || len(servers) != 1 || servers[0] != issuer || len(methods) != 1 || methods[0] != "header" {
					t.Errorf("%s: %d %s", at, w.Code, w.Body)
				}
				if scopes, _ := v["scopes_supported"].([]any); len(scopes) != 2 || w.Header().Get("Content-Type") != "application/json" {
					t.Errorf("%s: %s", at, w.Body)
				}
			}
		})
	}
}

// A token that is good and covers too little is another matter than one that is not good.
func TestA9_TokensNeedTheirScopes(t *testing.T) {
	t.Parallel()
	k, path := newKeys(t), filepath.Join(t.TempDir(), "jwks.json")
	write(t, path, k.set(t))
	a := authenticator(t, Auth{JWT: JWT{JWKS: path, Scopes: []string{"mcp:tools", "mcp:read"}}})
	for _, c := range []struct {
		claims jwt.MapClaims
		want   string
	}{
		{jwt.MapClaims{"scope": "mcp:read x mcp:tools"}, ""},
		{jwt.MapClaims{"scp": []string{"mcp:tools", "mcp:read"}}, ""},
		{jwt.MapClaims{"scope": "mcp:tools", "scp": "mcp:read"}, ""},
		{jwt.MapClaims{"scope": "mcp:tools"}, "the token lacks the scope mcp:read"},
		{jwt.MapClaims{"scope": "mcp:toolsmcp:read"}, "the token lacks the scope mcp:tools"},
		{jwt.MapClaims{"scope": 7}, "the token lacks the scope mcp:tools"},
		{jwt.MapClaims{}, "the token lacks the scope mcp:tools"},
	} {
		c.claims["exp"] = time.Now().Add(time.Hour).Unix()
		_, err := a.Identify(request("Bearer " + sign(t, jwt.SigningMethodEdDSA, "d", k.ed, c.claims)))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v: %v", c.claims, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v: %v, want %s", c.claims, err, c.want)
		}
	}
}
