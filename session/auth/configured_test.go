package auth_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What the configuration says of a login is what is done: one endpoint takes the place of the discovered one, metadata is read where it says, and
// parameters of its own are sent, of which none replaces one of the protocol's.
func TestConfiguredLogin(t *testing.T) {
	for what, c := range map[string]struct {
		block func(srv *authtest.Server, b *config.OAuth)
		note  string // of the second step
		reads bool   // the server's own metadata
	}{
		"endpoint": {func(srv *authtest.Server, b *config.OAuth) { b.TokenURL = srv.Issuer.URL + "/token?staging=1" }, "replaces an endpoint", true},
		"metadata": {func(srv *authtest.Server, b *config.OAuth) {
			b.MetadataURL = srv.Issuer.URL + "/.well-known/oauth-authorization-server"
		}, "found", false},
		"both": {func(srv *authtest.Server, b *config.OAuth) {
			b.MetadataURL = srv.Issuer.URL + "/.well-known/oauth-authorization-server"
			b.TokenURL = srv.Issuer.URL + "/token?staging=1"
		}, "replaces an endpoint", false},
	} {
		t.Run(what, func(t *testing.T) {
			srv := authtest.Start(t, authtest.Knobs{})
			r := at(t, srv, auth.Options{}, func(cfg *config.Server) {
				cfg.OAuth = &config.OAuth{Params: map[string]string{"login_hint": "me@h", "state": "mine", "scope": "all", "client_id": "mine", "code_challenge": "mine"}}
				c.block(srv, cfg.OAuth)
			}).open()
			assert.Contains(t, strings.Join(r.step(auth.StepServer).Notes, "\n"), c.note)
			if got := len(srv.Calls("/.well-known/oauth-protected-resource/mcp")); got > 0 != c.reads {
				t.Errorf("the server's metadata was read %d times", got)
			}
			for _, call := range srv.Issuer.Calls("/token") {
				if call.Query.Has("staging") != strings.Contains(c.note, "endpoint") {
					t.Errorf("the token came from %v", call.Query)
				}
			}
			u, err := url.Parse(r.p.Shown()[0])
			require.NoError(t, err)
			q := u.Query()
			if q.Get("login_hint") != "me@h" || strings.Contains(q.Get("state")+q.Get("client_id")+q.Get("code_challenge"), "mine") || q.Get("scope") == "all" || len(q["state"]) != 1 {
				t.Errorf("asked with %v", q)
			}
		})
	}
}

// Metadata that is not where the configuration says is its mistake.
func TestConfiguredMetadataIsAbsent(t *testing.T) {
	srv := authtest.Start(t, authtest.Knobs{})
	r := at(t, srv, auth.Options{}, func(cfg *config.Server) {
		cfg.OAuth = &config.OAuth{MetadataURL: srv.Issuer.URL + "/none"}
	})
	assert.ErrorContains(t, r.login(), "there is no authorization-server metadata at")
	if s := r.last(); s.Name != auth.StepServer || s.Broken == nil || s.Broken.By != auth.ByUser {
		t.Errorf("%+v", s)
	}
}
