package agentsrv

import (
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A client that knows nothing but the address logs in: the agent says where, its issuer signs for it, and what a token may not do
// is asked for then.
func TestA9_ClientsLogInAtTheAgent(t *testing.T) {
	t.Parallel()
	file, sign := signer(t)
	issuer := authtest.NewIssuer(t, authtest.Knobs{})
	web := httptest.NewUnstartedServer(nil)
	url := "http://" + web.Listener.Addr().String() + "/mcp"
	agent, err := New(Options{JWKS: file, JWTIssuer: issuer.URL, JWTAudience: url, JWTScopes: []string{"mcp:tools", "mcp:read"}})
	require.NoError(t, err)
	web.Config.Handler = agent.Handler()
	web.Start()
	t.Cleanup(func() {
		web.Close()
		assert.NoError(t, agent.Close(context.Background()))
	})
	granted := "mcp:tools"
	issuer.Set(func(k *authtest.Knobs) {
		k.Token = func(doc map[string]any) {
			if granted != "" {
				doc["scope"] = granted
			}
			doc["access_token"] = sign(map[string]any{"iss": issuer.URL, "aud": url, "sub": "ada", "scope": doc["scope"]})
		}
	})

	m := session.NewManager(session.Options{Auth: &auth.Options{}, HealthInterval: -1, Retry: session.Retry{Max: -1}})
	t.Cleanup(func() { _ = m.Close() })
	s, err := m.Register(config.Server{Name: "agent", Transport: config.HTTP, URL: url})
	require.NoError(t, err)
	person := &authtest.Person{}
	login := func(why string) {
		t.Helper()
		err := m.Connect(t.Context(), "agent")
		var e *failure.Error
		if !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy != failure.LogIn || !strings.Contains(e.Message, why) || s.Status().State != session.NeedsLogin {
			t.Fatalf("before a login: %v, %s; want %q", err, s.Status().State, why)
		}
		require.NoError(t, s.Authorizer().Login(t.Context(), person, auth.LoginOptions{}))
	}
	login("the server wants a login")
	granted = ""
	login("mcp:tools mcp:read")
	require.NoError(t, m.Connect(t.Context(), "agent"))
	reply, err := s.CallTool(t.Context(), "echo", json.RawMessage(`{"message":"hi"}`), session.CallOptions{})
	if err != nil || !strings.Contains(string(reply.Result), "hi") {
		t.Fatalf("after the login: %v %s", err, reply.Result)
	}
	for _, shown := range person.Shown() {
		assert.Contains(t, shown, "scope=mcp%3Atools+mcp%3Aread")
	}
	if scopes := s.Authorizer().Status().Scopes; !slices.Equal(scopes, []string{"mcp:tools", "mcp:read"}) {
		t.Errorf("scopes %q", scopes)
	}
}
