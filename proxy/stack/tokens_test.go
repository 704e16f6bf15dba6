package stack

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// tokensOf plans a file, and returns what the agents require, what the router sends, and the plan.
func tokensOf(t *testing.T, text string) (required, sent map[string]string, f *File, p *Plan) {
	t.Helper()
	f, err := Source{Lookup: os.LookupEnv, Agent: func(key, _ string) (string, string, error) { return key, "", nil }}.Parse("/p/x.yaml", []byte(text))
	require.NoError(t, err)
	dir := t.TempDir()
	if p, err = f.Plan(t.Context(), Place{Dir: dir, Free: true}); err != nil {
		t.Fatal(err)
	}
	required, sent = map[string]string{}, map[string]string{}
	for _, s := range p.Specs {
		if v := s.Env[tokenEnv]; v != "" {
			required[s.Name] = v
			if strings.Contains(strings.Join(s.Args, " "), v) {
				t.Errorf("%s: the token is in its arguments %v", s.Name, s.Args)
			}
		}
		if got := p.Token(s.Name); got != s.Env[tokenEnv] && s.Kind == Agent {
			t.Errorf("%s requires %q, and is started with %q", s.Name, got, s.Env[tokenEnv])
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "routing.json"))
	if f.Router == nil {
		return required, sent, f, p
	}
	require.NoError(t, err)
	if _, err := routes.Parse(raw); err != nil {
		t.Fatal(err)
	}
	var all struct {
		Routes map[string]struct{ Headers map[string]string }
	}
	require.NoError(t, json.Unmarshal(raw, &all))
	for name, r := range all.Routes {
		if v := r.Headers["Authorization"]; v != "" {
			sent[name] = strings.TrimPrefix(v, "Bearer ")
		}
	}
	return required, sent, f, p
}

func TestX7b_EachAgentHasATokenThatTheRouterSends(t *testing.T) {
	required, sent, f, p := tokensOf(t, `{"agents": {"a": {}, "b": {"route": {"headers": {"X-Team": "us"}}}, "c": {"replicas": 2}, "d": {"env": {"AGENT_TOKEN": "given"}}, "e": {"jwks": "keys.json"}}}`)
	if len(required) != 5 || len(required["a"]) < 26 || required["a"] == required["b"] || required["c-1"] != required["c-2"] || required["c-1"] == "" || required["d"] != "given" {
		t.Errorf("required: %v", required)
	}
	for route, process := range map[string]string{"a": "a", "b": "b", "c": "c-2", "d": "d"} {
		if sent[route] != required[process] {
			t.Errorf("%s gets %q, and requires %q", route, sent[route], required[process])
		}
	}
	if len(p.Notes) != 0 || sent["e"] != "" { // it asks for JWTs
		t.Errorf("%v, %q", p.Notes, sent["e"])
	}
	for _, s := range p.Specs {
		if made := s.Kind == Agent && s.Name != "d" && s.Name != "e"; (s.Env[anonymousEnv] == "true") != made {
			t.Errorf("%s: %v", s.Name, s.Env) // tasks would belong to a token that the next start does not have
		}
	}
	if b := p.table.routes()["b"].(map[string]any)["headers"].(map[string]any); b["X-Team"] != "us" {
		t.Errorf("headers %v", b)
	}
	about := strings.Join(f.Describe(), "\n")
	for _, token := range required {
		assert.NotContains(t, about, token)
	}
	again, _, _, _ := tokensOf(t, `{"agents": {"a": {}}}`)
	if again["a"] == "" || again["a"] == required["a"] {
		t.Errorf("%q and %q", again["a"], required["a"])
	}
}

// Whoever opens the agents to everybody is told so.
func TestX7b_NoTokenIsLoud(t *testing.T) {
	for text, says := range map[string]string{
		`{"agents": {"a": {}, "b": {}}, "auth": "off"}`:                                                                    "auth is off: every program and user of this machine may call a, b;",
		"agents: {a: {}}\nauth: off\n":                                                                                     "auth is off: every program and user of this machine may call a;",
		`{"agents": {"a": {}, "b": {}}, "auth": false}`:                                                                    "auth is off",
		`{"agents": {"a": {}}, "router": false}`:                                                                           "without a router",
		`{"agents": {"a": {"route": {"headers": {"authorization": "Bearer x"}}}}}`:                                         "credentials of its own",
		`{"agents": {"a": {"route": {"headers": {"Authorization": "Bearer x"}}}, "b": {"env": {"AGENT_TOKEN": "given"}}}}`: "may call a;",
	} {
		required, _, f, p := tokensOf(t, text)
		delete(required, "b")
		if len(required) != 0 || len(p.Notes) != 1 || !strings.HasPrefix(p.Notes[0], "warning: ") || !strings.Contains(p.Notes[0], says) {
			t.Errorf("%s: %v, %q", text, required, p.Notes)
		}
		if about := strings.Join(f.Describe(), "\n"); f.Open != strings.Contains(about, "auth: off") {
			t.Errorf("%s: %s", text, about)
		}
	}
	if required, _, _, p := tokensOf(t, `{"agents": {"a": {}}, "auth": "on"}`); len(required) != 1 || len(p.Notes) != 0 {
		t.Errorf("%v %v", required, p.Notes)
	}
	if _, err := settings.Parse("/p/x.yaml", []byte("agents: {a: {}}\nauth: perhaps\n")); err == nil || !strings.Contains(err.Error(), `x.yaml:2:7: auth is "perhaps"; write off`) {
		t.Error(err)
	}
}
