package auth_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
)

// A login is kept for the next program, and for no other server: not another path, not another scheme or host.
func TestLoginIsOfOneResource(t *testing.T) {
	store := auth.NewMemory()
	srv := authtest.Memory(t, authtest.Knobs{})
	at(t, srv, auth.Options{Store: store}, nil).open()
	second := at(t, srv, auth.Options{Store: store}, nil)
	if err := second.s.Connect(t.Context()); err != nil {
		t.Errorf("with a login of before: %v", err)
	}
	token := srv.Calls("/mcp")[len(srv.Calls("/mcp"))-1].Header.Get("Authorization")
	if !strings.HasPrefix(token, "Bearer zq") {
		t.Fatalf("the token is %q", token)
	}
	var (
		mu  sync.Mutex
		got []string
	)
	look := func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Header.Get("Authorization"))
	}
	srv.Set(func(k *authtest.Knobs) { k.Serve = map[string]http.HandlerFunc{"/other": look, "/mcp/more": look} })
	srv.Beside("mcp.example.org", authtest.Knobs{Serve: map[string]http.HandlerFunc{"/mcp": look}})
	for _, u := range []string{"https://mcp.example.com/other", "https://mcp.example.com/mcp/more", "https://mcp.example.org/mcp", "https://mcp.example.com/mcp?tenant=2"} {
		r := at(t, srv, auth.Options{Store: store}, func(s *config.Server) { s.URL = u })
		_ = r.s.Connect(t.Context()) // what is there does not answer
		if st := r.s.Authorizer().Status(); st.LoggedIn {
			t.Errorf("%s has the login of another server", u)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, c := range srv.Calls("/mcp") {
		if c.Query.Has("tenant") {
			got = append(got, c.Header.Get("Authorization"))
		}
	}
	if len(got) < 4 || strings.Join(got, "") != "" {
		t.Errorf("other servers got %q", got)
	}
}

// The port of an earlier registration may be taken: another one is registered then, with another redirect.
func TestRedirectThatIsTaken(t *testing.T) {
	r := public(t, authtest.Knobs{}).open()
	if err := r.again(t.Context()); err != nil || len(r.Issuer.Calls("/register")) != 1 {
		t.Fatalf("%d registrations, %v", len(r.Issuer.Calls("/register")), err)
	}
	r.p.Taken, r.p.Redirect = "http://127.0.0.1:7777/callback", "http://127.0.0.1:7778/callback"
	require.NoError(t, r.again(t.Context()))
	if n := len(r.Issuer.Calls("/register")); n != 2 || !strings.Contains(r.p.Shown()[2], "7778") {
		t.Errorf("%d registrations, then %s", n, r.p.Shown()[2])
	}
	if s := r.step(auth.StepRegister); !strings.Contains(strings.Join(s.Notes, "\n"), "7777/callback is not free") {
		t.Errorf("the notes are %q", s.Notes)
	}
	// One that is configured has to be that one.
	c := at(t, authtest.Memory(t, authtest.Knobs{}), auth.Options{}, func(s *config.Server) { s.OAuth = &config.OAuth{RedirectURI: "http://127.0.0.1:7777/callback"} })
	c.p.Taken = "http://127.0.0.1:7777/callback"
	if err := c.login(); err == nil || !strings.Contains(err.Error(), "already in use") || len(c.Issuer.Calls("/register")) != 0 {
		t.Errorf("a taken port that is configured: %v", err)
	}
}
