package main

import (
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/peertest"
)

// TestPeerLogin: against authorization servers that others wrote, a script is told to log in, somebody does in a browser, and later
// commands have a token: one that has ended is refreshed, one that is bound to a key comes with proofs. A call that needs more rights says
// which. Logged out, the token is gone.
func TestPeerLogin(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server    func(t testing.TB) config.Server
		call      []string
		wants     string // in the answer
		refreshes bool
	}{
		"oidc-provider": {
			func(t testing.TB) config.Server { return peertest.Login(t) },
			[]string{"whoami"},
			`\"sub\":\"ann\",\"scope\":\"notes:read\"`, true,
		},
		"oidc-provider with DPoP": {
			func(t testing.TB) config.Server { return peertest.Login(t, "--dpop", "--nonce") },
			[]string{"whoami"},
			`\"scheme\":\"DPoP\"`, true,
		},
		"TypeScript SDK": {peertest.LoginExample, []string{"greet", "name=Ann"}, "Hello, Ann!", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, run := c.server(t), sameHome(t)
			call := func() outcome {
				return finish(t, run(append(append([]string{"tools", "call"}, c.call...), "--url", s.URL)...))
			}
			if o := call(); o.code != cli.ExitAuth || !strings.Contains(o.stderr, "mcphud auth login "+s.URL) {
				t.Fatalf("without a login: exit code %d, %s", o.code, o.stderr)
			}
			user := peertest.NewBrowser()
			logIn := func(flags ...string) {
				t.Helper()
				x := startLogin(t, run(append([]string{"auth", "login", "--no-browser", s.URL}, flags...)...))
				page, err := user.Open(x.page)
				if err != nil || !strings.Contains(page, "You can close this page") {
					t.Errorf("the browser ends at %q: %v", page, err)
				}
				if o := x.end(); !strings.Contains(o.ok(t), `"loggedIn":true`) {
					t.Errorf("%s", o.out)
				}
			}
			logIn()
			answers := map[string]bool{}
			for range 3 {
				o := call()
				if !strings.Contains(o.ok(t), c.wants) {
					t.Errorf("%s", o.out)
				}
				answers[o.out] = true
				if c.refreshes {
					peertest.Ask(t, s, "/expire")
				}
			}
			if refreshed := len(answers) == 3; refreshed != c.refreshes { // each token has a name of its own
				t.Errorf("3 commands got %d different answers", len(answers))
			}
			if c.refreshes {
				write := func() outcome { return finish(t, run("tools", "call", "write", "--url", s.URL)) }
				if o := write(); o.code != cli.ExitAuth || !strings.Contains(o.stderr, "--scope notes:write") {
					t.Errorf("without the right to write: exit code %d, %s", o.code, o.stderr)
				}
				logIn("--scope", "notes:read", "--scope", "notes:write")
				if o := write(); !strings.Contains(o.ok(t), "written with notes:read notes:write") {
					t.Errorf("%s", o.out)
				}
			}
			finish(t, run("auth", "logout", s.URL)).ok(t)
			if c.refreshes {
				if n := peertest.Ask(t, s, "/revoked"); n != "1" {
					t.Errorf("%s grants were revoked", n)
				}
			}
			if o := call(); o.code != cli.ExitAuth {
				t.Errorf("logged out: exit code %d, %s", o.code, o.stderr)
			}
		})
	}
}
