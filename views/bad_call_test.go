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
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// good is a server whose misdeeds are tools.
func good(t *testing.T) config.Server { return soon(faketest.Stdio(t, behave.Good)) }

// small is good with a frame limit of 100 kB.
func small(t *testing.T) config.Server {
	s := faketest.Stdio(t, behave.Good)
	s.MaxFrame = 100_000
	return s
}

// later is a server over HTTP that answers every POST with a status once it
// was connected and has listed its tools, resources and prompts.
func later(status int) func(*testing.T) config.Server {
	return func(t *testing.T) config.Server {
		return soon(faketest.HTTP(t, behave.Good, behave.Fault{
			Status: status, Body: "this is the body", After: 6, Times: 1, Header: http.Header{"Content-Type": {"text/plain"}},
		}))
	}
}

// TestBadCall shows, for each way in which a call goes wrong, server, stage,
// reason and next step, never as success; what was typed is still there, and
// the next call works.
func TestBadCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		server func(*testing.T) config.Server
		tool   string
		says   []string
		lost   bool // the connection is lost with it
	}{
		"JSON-RPC error": {
			good, "rpc_error",
			[]string{
				"✗ good: tools/call rpc_error: The flux capacitor is cold (code -32050)",
				`"retryAfter": 30`, `"big": 9007199254740993`, `1.0,`,
			},
			false,
		},
		"isError":    {good, "is_error", []string{"✗ the tool failed (isError)", "the tool failed"}, false},
		"wrong id":   {good, "wrong_id", []string{"✗ good: tools/call wrong_id: no answer within 3s", "raise the timeout"}, false},
		"half frame": {good, "half", []string{"✗ good: tools/call half: no answer within 3s", "raise the timeout"}, true},
		"no answer":  {good, "wait", []string{"✗ good: tools/call wait: no answer within 3s", "raise the timeout"}, false},
		"crash": {
			good, "crash",
			[]string{"✗ good: fakemcp: fatal error: crashed on purpose (tools/call crash: the server exited with status 2)", "reconnect"},
			true,
		},
		"oversize frame": {small, "big", []string{"✗ good: tools/call big: ", "100000 bytes", "raise the limit"}, false},
		"401":            {later(401), "add", []string{"✗ good-http: tools/call add: ", "401 Unauthorized", "this is the body", "Authorization: Bearer"}, false},
		"403":            {later(403), "add", []string{"✗ good-http: tools/call add: ", "403 Forbidden", "this is the body"}, false},
		"500":            {later(500), "add", []string{"✗ good-http: tools/call add: ", "500 Internal Server Error", "this is the body", "try again"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := open(t, c.server(t), tuitest.SessionOptions(patient))
			app.View("tools").Pane("list").Has(c.tool)
			if strings.HasPrefix(name, "4") || strings.HasPrefix(name, "5") {
				app.Whole().Has("Prompts 2") // the last list that is fetched ahead
			}
			form(app, c.tool)
			app.Press("ctrl+r", "ctrl+home").Pane("form").Has("{")
			app.Press("end", "backspace").Type(`"mark": "typed before"}`).Press("ctrl+g")
			shows(app, "result", c.says...)
			app.Pane("result").HasNot("✓ ")
			app.Pane("form").Has(`"mark": "typed before"`)
			if name != "isError" {
				shows(app, "result", "tab, then t frames · r run again")
			}
			if c.lost {
				reconnect(app)
			}
			form(app, "echo")
			app.Type("after it").Press("ctrl+g")
			app.Pane("result").Has("✓ ", "after it")
			form(app, c.tool)
			app.Pane("form").Has("typed before")
			intact(t, app)
		})
	}
}

// reconnect does so by hand, as the message says.
func reconnect(app *tuitest.App) {
	leave(app).Press("1").View("servers")
	app.Press("r")
	state(app, session.Connected)
}

// TestBadTwice shows the first of two answers; the second is in the traffic,
// flagged.
func TestBadTwice(t *testing.T) {
	t.Parallel()
	app := open(t, good(t))
	form(app, "twice")
	app.Press("ctrl+g").Pane("result").Has("✓ ", "once")
	app.Pane("result").HasNot("twice")
	for _, tool := range []string{"twice", "wrong_id"} {
		before := len(wire(app, odd))
		form(app, tool)
		app.Press("ctrl+g").Eventually(func() string {
			if len(wire(app, odd)) == before {
				return tool + ": no answer is flagged"
			}
			return ""
		})
	}
	intact(t, app)
}

// odd picks answers that nobody waits for.
func odd(e journal.Entry) bool {
	return e.Dir == journal.In && e.Note != "" && (e.Kind == journal.Response || e.Kind == journal.Bad)
}

// TestBadList says why there is no list, and asks again.
func TestBadList(t *testing.T) {
	t.Parallel()
	for mode, want := range map[behave.Mode][]string{
		behave.ListError: {"✗ list-error: tools/list: ", "(code ", "Press r to try again"},
		behave.HalfFrame: {"✗ half-frame: tools/list: no answer within 3s", "Press r to try again"},
		behave.WrongID:   {"✗ wrong-id: tools/list: no answer within 3s", "Press r to try again"},
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			app := open(t, soon(faketest.Stdio(t, mode)))
			shows(app, "list", want...)
			asked := func() int {
				return len(wire(app, func(e journal.Entry) bool { return e.Method == "tools/list" && e.Kind == journal.Request }))
			}
			before := asked()
			app.Press("r")
			shows(app, "list", want...)
			if asked() == before {
				t.Error("tools/list was not asked again")
			}
			intact(t, app)
		})
	}
	t.Run("malformed", func(t *testing.T) {
		t.Parallel()
		app := open(t, faketest.Stdio(t, behave.Malformed))
		app.View("tools").Pane("list").Has("first", "last", "✗", "malformed")
		intact(t, app)
	})
	t.Run("half-frame-exit", func(t *testing.T) {
		t.Parallel()
		app := open(t, soon(faketest.Stdio(t, behave.HalfFrameExit)), tuitest.SessionOptions(patient))
		state(app, session.Failed)
		shows(app, "list", "✗ half-frame-exit: ", "the server exited with status 2", "crashed on purpose", "Press r to ")
		intact(t, app)
	})
}

// TestBadArguments sends what the schema forbids only when confirmed, and shows
// what the server says of it.
func TestBadArguments(t *testing.T) {
	t.Parallel()
	app := open(t, good(t))
	form(app, "sleep")
	app.Press("ctrl+x").Type("soon").Press("ctrl+g")
	ask := app.Confirm("1 argument is invalid. Send anyway?").Says("✗ ms must be", "send anyway")
	assert.Equalf(t, len(wire(app, func(e journal.Entry) bool { return e.Method == "tools/call" })), 0, "frames of tools/call")
	ask.Yes()
	app.Eventually(func() string {
		if len(wire(app, func(e journal.Entry) bool { return e.Method == "tools/call" })) == 0 {
			return "nothing was sent"
		}
		return ""
	})
	assert.Contains(t, sentTo(t, app, "tools/call"), `"arguments":{"ms":"soon"}`)
}

// TestBadCancel tells the server of a cancelled call, which then has the
// request's id, also when it answers all the same.
func TestBadCancel(t *testing.T) {
	t.Parallel()
	s := faketest.Stdio(t, behave.Good)
	s.Timeout = time.Minute
	app := open(t, s)
	for _, tool := range []string{"wait", "late"} {
		form(app, tool)
		app.Press("ctrl+g").Pane("result").Has("Press x to cancel")
		app.Press("x").Pane("result").Has("⊘ cancelled", "server notified")
	}
	calls := wire(app, func(e journal.Entry) bool { return e.Kind == journal.Request && e.Method == "tools/call" })
	form(app, "cancelled")
	app.Press("ctrl+g").Pane("result").Has("✓ ", "0: "+calls[0].ID, "1: "+calls[1].ID)
	intact(t, app)
}
