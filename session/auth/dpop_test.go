package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// The fake servers check every proof: signature, key, jti, htm, htu, iat, ath and nonce.
func TestDPoP(t *testing.T) {
	for name, k := range map[string]authtest.Knobs{
		"plain":            {},
		"nonce for tokens": {NonceToken: "n-token"},
		"nonce for server": {NonceServer: "n-server"},
		"both":             {NonceToken: "n-token", NonceServer: "n-server"},
	} {
		t.Run(name, func(t *testing.T) {
			k.DPoP = true
			srv, store := authtest.Memory(t, k), credstore.Open(credstore.File, t.TempDir())
			r := at(t, srv, auth.Options{Store: store}, nil).open()
			r.goesOn()
			if st := r.s.Authorizer().Status(); st.Type != "DPoP" {
				t.Errorf("the token is of type %q", st.Type)
			}
			for _, c := range srv.Calls("/mcp")[1:] {
				if !strings.HasPrefix(c.Header.Get("Authorization"), "DPoP ") {
					t.Errorf("sent with %.10s", c.Header.Get("Authorization"))
				}
				assert.NotContains(t, r.journal(), c.Header.Get("DPoP"))
			}
			if jkt := r.Issuer.Calls("/authorize")[0].Query.Get("dpop_jkt"); len(jkt) != 43 {
				t.Errorf("the code is bound to %q", jkt)
			}
			r.Issuer.Expire()
			r.goesOn()
			asked := 1
			if k.NonceToken != "" {
				asked = 2 // without the nonce, and with it
			}
			if r.refreshes() != asked || len(r.p.Shown()) != 1 {
				t.Errorf("%d refreshes, %d logins", r.refreshes(), len(r.p.Shown()))
			}
			// A new nonce is used at once.
			srv.Set(func(k *authtest.Knobs) { k.NonceServer = "another" })
			r.goesOn()
			// Another program has the key as well.
			other := at(t, srv, auth.Options{Store: store}, nil)
			assert.NoError(t, other.s.Connect(t.Context()))
		})
	}
}

// Tokens are bound where the configuration, the metadata or the challenge wants it, and nowhere else.
func TestDPoPWhereItIsWanted(t *testing.T) {
	required := func(doc map[string]any) { doc["dpop_bound_access_tokens_required"] = true }
	for name, c := range map[string]struct {
		k       authtest.Knobs
		configs bool
		says    string
	}{
		"not wanted":                     {authtest.Knobs{}, false, ""},
		"by the resource":                {authtest.Knobs{DPoP: true, Resource: required, Challenges: []string{`Bearer resource_metadata="{metadata}"`}}, false, ""},
		"by the configuration":           {authtest.Knobs{DPoP: true, Challenges: []string{`Bearer resource_metadata="{metadata}"`}}, true, ""},
		"required, and not given":        {authtest.Knobs{Resource: required}, false, "a token that anybody can use"},
		"configured, and not given":      {authtest.Knobs{}, true, "a token that anybody can use"},
		"not wanted, and given":          {authtest.Knobs{Token: func(doc map[string]any) { doc["token_type"] = "DPoP" }}, false, "bound to a key, and was shown none"},
		"by an algorithm not known here": {authtest.Knobs{DPoP: true, Metadata: func(doc map[string]any) { doc["dpop_signing_alg_values_supported"] = []string{"PS512"} }}, false, "PS512"},
	} {
		t.Run(name, func(t *testing.T) {
			r := at(t, authtest.Memory(t, c.k), auth.Options{}, func(s *config.Server) { s.OAuth = &config.OAuth{DPoP: c.configs} })
			err := r.login()
			if c.says != "" {
				var v *auth.Violation
				if !errors.As(err, &v) || !strings.Contains(err.Error(), c.says) || r.s.Authorizer().Status().LoggedIn {
					t.Errorf("got %v", err)
				}
				return
			}
			require.NoError(t, err)
			require.NoError(t, r.s.Connect(t.Context()))
			want := map[bool]string{true: "DPoP", false: "Bearer"}[c.k.DPoP]
			if got := r.s.Authorizer().Status().Type; got != want || r.Issuer.Calls("/token")[0].Header.Get("DPoP") != "" != c.k.DPoP {
				t.Errorf("the token is of type %q", got)
			}
		})
	}
}

// A server that always wants another nonce is not asked for ever.
func TestDPoPNonceThatNeverSuffices(t *testing.T) {
	r := public(t, authtest.Knobs{DPoP: true}).open()
	var n atomic.Int64
	r.Set(func(k *authtest.Knobs) {
		k.Serve = map[string]http.HandlerFunc{"/mcp": func(w http.ResponseWriter, req *http.Request) {
			w.Header().Set("DPoP-Nonce", fmt.Sprint("n", n.Add(1)))
			w.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
			w.WriteHeader(http.StatusUnauthorized)
		}}
	})
	before := len(r.Server.Calls("/mcp"))
	if err := r.call("echo"); err == nil {
		t.Error("the call works")
	}
	if got := len(r.Server.Calls("/mcp")) - before; got > 10 { // of the call, and of what goes on beside it
		t.Errorf("%d requests", got)
	}
}

// A program's tokens are bound as well.
func TestDPoPOfAProgram(t *testing.T) {
	r := program(t, authtest.Knobs{DPoP: true, NonceToken: "n", Other: func(*http.Request) string { return "" }}, config.OAuth{Grant: config.GrantClient, ClientID: "a", ClientSecret: "zqsecretzq"})
	r.works()
	r.Issuer.Expire()
	r.goesOn()
}

// A redirect within the server is a request of its own, which has a proof of its own.
func TestDPoPOfARedirect(t *testing.T) {
	r := public(t, authtest.Knobs{DPoP: true}).open()
	r.Set(func(k *authtest.Knobs) {
		k.Serve = map[string]http.HandlerFunc{
			"/mcp": func(w http.ResponseWriter, req *http.Request) {
				http.Redirect(w, req, "/mcp/", http.StatusTemporaryRedirect)
			},
			"/mcp/": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		}
	})
	if err := r.call("echo"); err == nil {
		t.Error("the call works")
	}
	calls := r.Server.Calls("/mcp/")
	if len(calls) == 0 {
		t.Fatal("not redirected")
	}
	for _, c := range calls {
		claims := auth.ParseClaims(c.Header.Get("DPoP"))
		if claims == nil || !strings.Contains(string(claims.Payload), `"htu":"`+r.URL+`/"`) || !strings.HasPrefix(c.Header.Get("Authorization"), "DPoP ") {
			t.Errorf("the proof is %+v", claims)
		}
	}
}
