package auth_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A server that redirects to another one does not take the token along, and what the other one asks for is not answered: no
// refresh, no login.
func TestRedirectedServerGetsNoToken(t *testing.T) {
	t.Run("Bearer", func(t *testing.T) { redirected(t, authtest.Knobs{}) })
	t.Run("DPoP", func(t *testing.T) { redirected(t, authtest.Knobs{DPoP: true}) })
}

func redirected(t *testing.T, k authtest.Knobs) {
	r := public(t, k)
	evil := r.Beside("evil.example.com", authtest.Knobs{Serve: map[string]http.HandlerFunc{"/mcp": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="https://evil.example.com/prm"`)
		w.WriteHeader(http.StatusUnauthorized)
	}}})
	r.open()
	require.NoError(t, r.call("echo"))
	r.Set(func(k *authtest.Knobs) {
		k.Serve = map[string]http.HandlerFunc{"/mcp": func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, evil.URL+"/mcp", http.StatusTemporaryRedirect)
		}}
	})
	err := r.call("echo")
	if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Status != http.StatusUnauthorized || e.Remedy == failure.LogIn {
		t.Errorf("the call ended with %v", err)
	}
	calls := evil.Calls("/mcp")
	if len(calls) != 1 {
		t.Fatalf("%d requests", len(calls))
	}
	for name := range calls[0].Header {
		if strings.Contains(name, "Auth") || name == "Dpop" || name == "Cookie" || strings.HasPrefix(name, "Mcp-Session") {
			t.Errorf("the other server got %s", name)
		}
	}
	assert.Equalf(t, len(r.Issuer.Calls("/token")), 1, "token requests: another server's refusal is about another token")
	if st := r.s.Authorizer().Status(); st.Challenge != nil || !st.LoggedIn {
		t.Errorf("status is %+v", st)
	}
}

// Another port is another server.
func TestRedirectToAnotherPortGetsNoToken(t *testing.T) {
	var got atomic.Pointer[http.Header]
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header.Clone()
		got.Store(&h)
		w.WriteHeader(http.StatusTeapot)
	}))
	defer other.Close()
	r := local(t, authtest.Knobs{}).open()
	r.Set(func(k *authtest.Knobs) {
		k.Serve = map[string]http.HandlerFunc{"/mcp": func(w http.ResponseWriter, req *http.Request) {
			http.Redirect(w, req, other.URL+"/mcp", http.StatusTemporaryRedirect)
		}}
	})
	if err := r.call("echo"); err == nil || got.Load() == nil {
		t.Fatalf("the call ended with %v", err)
	}
	if h := *got.Load(); h.Get("Authorization") != "" || h.Get("Mcp-Session-Id") != "" {
		t.Errorf("the other port got %v", h)
	}
}

// What does not answer is waited for a while, and what answers by drops not longer.
func TestServersThatDoNotAnswer(t *testing.T) {
	drop := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, " ")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(time.Second):
			}
		}
	}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for step, path := range map[string]string{auth.StepResource: prm, auth.StepServer: metadata, auth.StepRegister: "/register", auth.StepToken: "/token"} {
		for _, h := range []http.HandlerFunc{drop, hang} {
			synctest.Test(t, func(t *testing.T) {
				var k authtest.Knobs
				serve(path, h)(&k)
				r, start := public(t, k), time.Now()
				err := r.login()
				if e := (*failure.Error)(nil); !errors.As(err, &e) || e.Kind != failure.OAuth || e.Next == "" || !strings.Contains(e.Message, "20s") {
					t.Errorf("%s: %v", path, err)
				}
				if s := r.last(); s.Name != step || s.State != auth.Failed || time.Since(start) > 21*time.Second {
					t.Errorf("%s: after %s %+v", path, time.Since(start), s)
				}
			})
		}
	}
}

// An address nearer than the server is asked about, once, and not gone to without an answer.
func TestPrivateAddressIsAskedAbout(t *testing.T) {
	for _, agrees := range []bool{false, true} {
		r := public(t, authtest.Knobs{})
		private := r.Beside("10.9.8.7", authtest.Knobs{})
		r.Move(private)
		r.p.Agrees = agrees
		err := r.login()
		if asked := r.p.Asked(); len(asked) != 1 || !strings.Contains(asked[0], "10.9.8.7") || !strings.Contains(asked[0], "mcp.example.com") {
			t.Errorf("asked %q", asked)
		}
		if !agrees {
			if s := r.last(); s.Name != auth.StepServer || s.Broken == nil || s.Broken.By != auth.ByServer || len(private.Calls("")) != 0 {
				t.Errorf("after no: %v, %+v", err, s)
			}
			continue
		}
		require.NoError(t, err)
		if s := r.step(auth.StepServer); !strings.Contains(strings.Join(s.Notes, "\n"), "allowed") {
			t.Errorf("the notes are %q", s.Notes)
		}
		// What was allowed for the login is for its refreshes as well, where nobody can be asked.
		require.NoError(t, r.s.Connect(t.Context()))
		private.Expire()
		if err := r.call("echo"); err != nil || len(private.Calls("/token")) != 2 {
			t.Errorf("%d token requests, %v", len(private.Calls("/token")), err)
		}
	}
}

func TestPrivateAddressWithoutAPerson(t *testing.T) {
	r := public(t, authtest.Knobs{})
	private := r.Beside("10.9.8.7", authtest.Knobs{})
	r.Move(private)
	r.connect()
	if _, err := r.s.Authorizer().Discover(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "10.9.8.7") || len(private.Calls("")) != 0 {
		t.Errorf("discovered with %v", err)
	}
}
