package auth_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/credstore"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A program that is killed while its refresh token is exchanged never gets the new one. The old one is kept until then, and the next program tries
// it once more: a server that exchanges it again, or had not yet, goes on; of one that takes it once the login has ended, which is said
// with what the server says, and logging in helps. Nothing is tried a second time by itself after that.
func TestRefreshWhoseAnswerIsLost(t *testing.T) {
	for name, exchanged := range map[string]bool{"before the exchange": false, "after it": true} {
		t.Run(name, func(t *testing.T) {
			srv, dir := authtest.Memory(t, authtest.Knobs{}), t.TempDir()
			program := func() *rig { return at(t, srv, auth.Options{Store: credstore.Open(credstore.File, dir)}, nil) }
			killed := program().open()
			srv.Issuer.Set(func(k *authtest.Knobs) {
				if exchanged {
					k.Token = func(map[string]any) { panic(http.ErrAbortHandler) }
				} else {
					k.Serve = map[string]http.HandlerFunc{"/token": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}
				}
			})
			srv.Issuer.Expire() // not before: something that asks meanwhile would get new ones
			file := filepath.Join(dir, "credentials.json")
			kept, err := os.ReadFile(file)
			require.NoError(t, err)
			if err := killed.call("echo"); err == nil {
				t.Fatal("it has an answer")
			}
			if err := os.WriteFile(file, kept, 0o600); err != nil { // a program that is killed learns nothing more, and keeps nothing
				t.Fatal(err)
			}
			srv.Issuer.Set(func(k *authtest.Knobs) { k.Token, k.Serve = nil, nil })
			next, before := program(), killed.refreshes()
			err = next.s.Connect(t.Context())
			assert.Equalf(t, killed.refreshes()-before, 1, "exchanges were tried")
			if !exchanged {
				if err != nil || len(next.p.Shown()) != 0 {
					t.Errorf("after %d logins: %v", len(next.p.Shown()), err)
				}
				return
			}
			e := (*failure.Error)(nil)
			if !errors.As(err, &e) || e.Kind != failure.OAuth || e.Remedy != failure.LogIn || e.Message != "the login has ended" || !strings.Contains(e.Detail, "invalid_grant") {
				t.Errorf("it says %v", err)
			}
			next.keep(err)
			require.NoError(t, next.again(t.Context()))
			require.NoError(t, next.s.Connect(t.Context()))
			assert.NoError(t, next.call("echo"))
		})
	}
}
