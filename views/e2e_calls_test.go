package views_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// long fills in server-everything's long operation.
func long(app *tuitest.App, duration, steps string) {
	form(app, "trigger-long-running-operation").Has("duration", "default 10")
	app.Type(duration).Press("enter").Type(steps).Press("ctrl+g")
}

// TestE2EProgress counts every notification and shows one bar.
func TestE2EProgress(t *testing.T) {
	app := open(t, peertest.Everything(t))
	long(app, "1.5", "30")
	app.Pane("result").Some(tuitest.Matches(`^ *[1-9]\d* notifications$`))
	bars := 0
	for l := range strings.Lines(app.Pane("result").Text()) {
		if strings.Contains(l, "%") {
			bars++
		}
	}
	if bars != 1 {
		t.Errorf("%d bars:\n%s", bars, app.Screen())
	}
	app.Status().Has("%")
	shows(app, "result", "✓ ", "Long running operation completed. Duration: 1.5 seconds, Steps: 30.")
	n := len(wire(app, func(e journal.Entry) bool { return e.Method == "notifications/progress" }))
	assert.Equalf(t, n, 30, "progress notifications")
	intact(t, app)
}

// TestE2ECancel cancels a long call: the server is notified, never answers, and
// takes the next call.
func TestE2ECancel(t *testing.T) {
	for name, server := range map[string]func(*testing.T) config.Server{
		"stdio": func(t *testing.T) config.Server { return peertest.Everything(t) },
		"http":  func(t *testing.T) config.Server { return peertest.EverythingHTTP(t).Server },
		"sse":   func(t *testing.T) config.Server { return peertest.EverythingSSE(t).Server },
	} {
		t.Run(name, func(t *testing.T) {
			app := open(t, server(t))
			long(app, "60", "600")
			app.Pane("result").Has("notifications", "Press x to cancel")
			app.Press("x").Pane("result").Has("⊘ cancelled after", "server notified")
			app.Status().HasNot("trigger-long")
			call := wire(app, func(e journal.Entry) bool { return e.Method == "tools/call" && e.Kind == journal.Request })[0]
			notices := wire(app, func(e journal.Entry) bool {
				return e.Method == "notifications/cancelled" && e.Kind == journal.Notification
			})
			if len(notices) != 1 || !strings.Contains(body(t, app, notices[0]), fmt.Sprintf(`"requestId":%s`, call.ID)) {
				t.Fatalf("%d cancellations of call %s", len(notices), call.ID)
			}
			if call.Status != "cancelled" {
				t.Errorf("the call is %q in the journal", call.Status)
			}
			form(app, "echo")
			app.Type("still here").Press("ctrl+g")
			app.Pane("result").Has("✓ ", "Echo: still here")
			answers := wire(app, func(e journal.Entry) bool {
				return e.Dir == journal.In && e.ID == call.ID && e.Kind == journal.Response
			})
			if len(answers) != 0 {
				t.Errorf("the cancelled call was answered: %s", body(t, app, answers[0]))
			}
			form(app, "trigger-long-running-operation").Has("60", "600")
			leave(app).Press("6").View("traffic")
			app.Press("/").Type("cancelled").Press("enter") // the server goes on telling of progress, which moves it out of sight
			app.View("traffic").Pane("list").Has("trigger-long-running-operation", "⊘ cancelled")
			intact(t, app)
		})
	}
}

// patient never reconnects by itself while a test runs.
func patient(o *session.Options) { o.Retry = session.Retry{Base: time.Hour, Cap: time.Hour} }

// eager reconnects at once.
func eager(o *session.Options) {
	o.Retry = session.Retry{Base: 50 * time.Millisecond, Cap: 200 * time.Millisecond, Max: 100}
}

// killChild ends the server's process without a word.
func killChild(t *testing.T, app *tuitest.App) {
	t.Helper()
	p, err := os.FindProcess(only(app).Status().PID)
	require.NoError(t, err)
	require.NoError(t, p.Kill())
}

// TestE2EKilledMidCall survives a server that dies during a call: what happened
// and what to do is on the screen, what was typed stays, and after reconnecting
// by hand it is sent again.
func TestE2EKilledMidCall(t *testing.T) {
	app := open(t, peertest.Everything(t), tuitest.SessionOptions(patient))
	long(app, "1", "4")
	app.Pane("result").Has("notifications")
	killChild(t, app)
	state(app, session.Failed)
	shows(app, "result", "✗ everything: tools/call trigger-long-running-operation: the server was ended by signal", "then reconnect", "tab, then t frames · r run again")
	app.Status().Has("Error")
	app.Pane("form").Has("1", "4")
	app.Press("ctrl+g").Toast("not connected")
	leave(app).Press("1").View("servers")
	app.Pane("detail").Has("✗ Error", "everything")
	app.Press("r")
	state(app, session.Connected)
	app.Press("5").View("call")
	app.Press("ctrl+g").Pane("result").Has("✓ ")
	shows(app, "result", "Duration: 1 seconds, Steps: 4.")
	intact(t, app)
}

// TestE2EKilledComesBack reconnects by itself, over each transport, and the
// call that is typed goes to the new connection.
func TestE2EKilledComesBack(t *testing.T) {
	killStdio := func(t *testing.T, app *tuitest.App) { killChild(t, app) }
	for name, server := range map[string]func(*testing.T) (config.Server, func(*testing.T, *tuitest.App)){
		"stdio": func(t *testing.T) (config.Server, func(*testing.T, *tuitest.App)) {
			return peertest.Everything(t), killStdio
		},
		"modern": func(t *testing.T) (config.Server, func(*testing.T, *tuitest.App)) {
			return peertest.GoSDKEverything(t), killStdio
		},
		"mcp-go": func(t *testing.T) (config.Server, func(*testing.T, *tuitest.App)) {
			return peertest.MCPGoEverything(t), killStdio
		},
		"http": restarted(peertest.EverythingHTTP),
		"sse":  restarted(peertest.EverythingSSE),
	} {
		t.Run(name, func(t *testing.T) {
			s, kill := server(t)
			app := open(t, s, tuitest.SessionOptions(eager))
			tool, field, want := "echo", "wörld", "Echo: wörld"
			if name == "modern" {
				tool, want = "greet", "Hi wörld"
			}
			form(app, tool)
			app.Type(field)
			before := only(app).Status()
			kill(t, app)
			app.Eventually(func() string {
				if st := only(app).Status(); st.State != session.Connected || st.Rev == before.Rev || st.Since.Equal(before.Since) {
					return fmt.Sprintf("the server is %s since %v, want a new connection", st.State, st.Since)
				}
				return ""
			})
			app.Pane("form").Has(field)
			app.Press("ctrl+g")
			confirm(app)
			app.Pane("result").Has("✓ ", want)
			intact(t, app)
		})
	}
}

// confirm says yes where a tool says that it destroys.
func confirm(app *tuitest.App) {
	if o := app.State().Overlays; len(o) > 0 && strings.HasPrefix(o[0], "Call ") {
		app.Press("y").NoOverlay()
	}
}

// restarted is a server over HTTP that is killed and started again.
func restarted(serve func(testing.TB) *peertest.HTTP) func(*testing.T) (config.Server, func(*testing.T, *tuitest.App)) {
	return func(t *testing.T) (config.Server, func(*testing.T, *tuitest.App)) {
		h := serve(t)
		return h.Server, func(t *testing.T, app *tuitest.App) {
			h.Kill()
			state(app, session.Failed)
			app.Status().Has("Error")
			h.Restart()
			t.Cleanup(func() { // before the UI ends, which looks for what is left over
				_ = only(app).Disconnect()
				h.Kill()
			})
		}
	}
}
