package views_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// soon makes a server give up waiting within a test's patience.
func soon(s config.Server) config.Server {
	s.Timeout = 3 * time.Second
	return s
}

// refusing is a server over HTTP that answers every POST with a status.
func refusing(status int, header http.Header) func(*testing.T) config.Server {
	return func(t *testing.T) config.Server {
		return faketest.HTTP(t, behave.Good, behave.Fault{Status: status, Header: header, Body: "this is the body"})
	}
}

// TestBadStart shows, for each way in which a server does not come up, its
// name, the stage, what happened and what to do, on the servers screen and on
// every other, and tries again on request.
func TestBadStart(t *testing.T) {
	t.Parallel()
	stdio := func(mode behave.Mode) func(*testing.T) config.Server {
		return func(t *testing.T) config.Server { return soon(faketest.Stdio(t, mode)) }
	}
	url := func(u string) func(*testing.T) config.Server {
		return func(*testing.T) config.Server {
			return config.Server{Name: "far", Transport: config.HTTP, URL: u, ConnectTimeout: 20 * time.Second}
		}
	}
	for name, c := range map[string]struct {
		server func(*testing.T) config.Server
		says   []string
		silent bool // nothing was ever sent or received
	}{
		"command not found": {
			func(*testing.T) config.Server {
				return config.Server{Name: "typo", Transport: config.Stdio, Command: "mcphud-no-such-command"}
			},
			[]string{`typo: starting: command "mcphud-no-such-command" not found`, "extend PATH"},
			true,
		},
		"exit during start": {
			stdio(behave.ExitAtOnce),
			[]string{"exit: ", "exited with status 3 before it answered", "reading configuration", "cannot open /etc/fakemcp.conf", "giving up"},
			false,
		},
		"exit on initialize": {
			stdio(behave.ExitInitialize),
			[]string{"exit-initialize: fakemcp: panic: license expired", "initialize: the server exited with status 4 after it answered server/discover", "license expired", "initialize failed"},
			false,
		},
		"no answer": {
			func(t *testing.T) config.Server {
				s := faketest.Stdio(t, behave.NoAnswer)
				s.ConnectTimeout = 3 * time.Second // of which half go to server/discover
				return s
			},
			[]string{"no-answer: initialize: ", "no answer", "give it more time"},
			false,
		},
		"401": {
			refusing(401, http.Header{"Www-Authenticate": {`Bearer realm="here"`}}),
			[]string{"good-http: ", "401 Unauthorized", "this is the body", `realm="here"`, "Authorization: Bearer"},
			false,
		},
		"403": {refusing(403, nil), []string{"good-http: ", "403 Forbidden", "this is the body", "credentials"}, false},
		"404": {refusing(404, nil), []string{"good-http: ", "404 Not Found", "this is the body", "check the path of the URL"}, false},
		"500": {refusing(500, nil), []string{"good-http: ", "500 Internal Server Error", "this is the body", "server's own log"}, false},
		"no MCP": {
			func(t *testing.T) config.Server { return faketest.HTTP(t, behave.Good, behave.Fault{HTML: true}) },
			[]string{"good-http: ", "text/html", "MCP"},
			false,
		},
		"redirects": {
			func(t *testing.T) config.Server {
				return faketest.HTTP(t, behave.Good, behave.Fault{Redirect: true})
			},
			[]string{"good-http: ", "redirects", "give the final URL itself"},
			false,
		},
		"TLS": {
			func(t *testing.T) config.Server { return faketest.TLS(t) },
			[]string{"tls: ", "signed by an unknown authority", "network.ca"},
			false,
		},
		"nobody listens": {url("http://127.0.0.1:1/mcp"), []string{"far: ", "nothing listens at 127.0.0.1:1", "check host and port", "6 for the traffic"}, false},
		"invalid URL":    {url("http://[::1/mcp"), []string{"far: ", "URL"}, true},
		"no scheme":      {url("localhost:3000/mcp"), []string{"far: connecting: ", "does not start with http:// or https://", "give it like"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := start(t, tuitest.Target(c.server(t)), tuitest.At("servers", nil), tuitest.SessionOptions(patient))
			state(app, session.Failed)
			shows(app, "detail", append([]string{"✗ Error"}, c.says...)...)
			app.View("servers").Pane("list").Has("✗", "Error")
			app.Status().Has("✗ Error")
			app.Press("2").View("tools")
			shows(app, "list", append([]string{"✗"}, c.says...)...)
			shows(app, "list", "Press r to ")
			frames := func() int {
				return len(wire(app, func(e journal.Entry) bool {
					return e.Kind == journal.State && strings.Contains(e.Note, "→ Connecting")
				}))
			}
			before := frames()
			app.Press("1").View("servers")
			app.Press("r").Eventually(func() string {
				if frames() == before {
					return "nothing was tried again"
				}
				return ""
			})
			state(app, session.Failed)
			shows(app, "detail", c.says...)
			if c.silent {
				for _, e := range wire(app, func(e journal.Entry) bool { return e.Kind != journal.State }) {
					t.Errorf("journal: %+v", e)
				}
			}
			intact(t, app)
		})
	}
}

// TestBadOutputOnStdout connects to a server that prints logs between its
// frames, and shows them as what they are.
func TestBadOutputOnStdout(t *testing.T) {
	t.Parallel()
	app := open(t, faketest.Stdio(t, behave.Noise))
	app.View("tools").Pane("list").Has("echo")
	form(app, "add")
	app.Type("1").Press("enter").Type("2").Press("ctrl+g")
	app.Pane("result").Has("✓ ")
	leave(app).Press("6", "[").View("logs").Pane("list").Has("stdout", "[info] handling tools/call", "{not json}")
	bad := wire(app, func(e journal.Entry) bool { return e.Kind == journal.Bad && e.Dir == journal.In })
	if len(bad) == 0 || bad[0].Note == "" {
		t.Errorf("%d bad entries", len(bad))
	}
	intact(t, app)
}

// TestBadStderr connects to a server that floods stderr; what a program wants
// of it is there.
func TestBadStderr(t *testing.T) {
	t.Parallel()
	app := open(t, faketest.Stdio(t, behave.FloodStderr))
	app.View("tools").Pane("list").Has("echo")
	form(app, "add")
	app.Type("1").Press("enter").Type("2").Press("ctrl+g")
	app.Pane("result").Has("✓ ")
}
