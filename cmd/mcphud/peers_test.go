package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// requests are the frames that a run sent, by its journal file.
func requests(t *testing.T, file string) []json.RawMessage {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var frames []json.RawMessage
	for line := range bytes.Lines(text) {
		var e struct {
			Dir, Kind, Method string
			Frame             json.RawMessage
		}
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		if e.Dir == "out" && e.Frame != nil && e.Method != "subscriptions/listen" && e.Method != "notifications/cancelled" {
			frames = append(frames, e.Frame)
		}
	}
	return frames
}

// What tools list prints is what the server sent: a pipe that sends the same
// frames, and so advertises the same capabilities, gets the same bytes. Over
// HTTP the same server sends the same list.
func TestPeerToolsAreWhatTheServerSent(t *testing.T) {
	t.Parallel()
	for _, s := range []config.Server{peertest.Everything(t), peertest.GoSDKEverything(t)} {
		t.Run(s.Name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "journal")
			run := mcphud(t, target(s, "tools", "list", "--format", "json", "--journal", file)...)
			want := answered(t, s, requests(t, file), "tools/list")
			if run.code != 0 || run.out != want+"\n" { // stderr is the server's own to write to
				t.Errorf("exit %d, printed\n%s\nthe server sent\n%s", run.code, run.out, want)
			}
			if s.Name != "everything" {
				return
			}
			for name, url := range map[string]string{"http": peertest.EverythingHTTP(t).Server.URL, "sse": peertest.EverythingSSE(t).Server.URL} {
				if got := mcphud(t, "tools", "list", "--format", "json", "--url", url).ok(t); got != want+"\n" {
					t.Errorf("over %s printed\n%s\nthe server sent\n%s", name, got, want)
				}
			}
		})
	}
}

// answered sends frames through a pipe and returns the result of the last
// request of the given method.
func answered(t *testing.T, s config.Server, frames []json.RawMessage, method string) string {
	t.Helper()
	raw, result := faketest.Open(t, s), ""
	for _, frame := range frames {
		var r struct {
			ID     json.RawMessage
			Method string
		}
		require.NoError(t, json.Unmarshal(frame, &r))
		raw.Send(string(frame))
		if r.ID == nil || r.Method == "" {
			continue
		}
		for {
			line, err := raw.Line()
			if err != nil {
				t.Fatalf("waiting for the answer to %s: %v", frame, err)
			}
			var a struct {
				ID     json.RawMessage
				Method string
				Result json.RawMessage
			}
			require.NoError(t, json.Unmarshal(line, &a))
			if a.Method == "" && bytes.Equal(a.ID, r.ID) {
				if r.Method == method {
					result = string(a.Result)
				}
				break
			}
		}
	}
	if result == "" {
		t.Fatalf("no answer to %s", method)
	}
	return result
}

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
				write().exits(t, cli.ExitAuth, "--scope notes:write")
				logIn("--scope", "notes:read", "--scope", "notes:write")
				if o := write(); !strings.Contains(o.ok(t), "written with notes:read notes:write") {
					t.Errorf("%s", o.out)
				}
			}
			finish(t, run("auth", "logout", s.URL)).ok(t)
			if c.refreshes {
				assert.Equalf(t, peertest.Ask(t, s, "/revoked"), "1", "grants were revoked")
			}
			call().exits(t, cli.ExitAuth)
		})
	}
}
