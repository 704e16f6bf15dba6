package views_test

import (
	"context"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// everything is the bundled agent of that profile, over HTTP.
func everything(t *testing.T) config.Server {
	t.Helper()
	a, err := agentsrv.New(agentsrv.Options{Profile: agentsrv.Everything})
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = a.Close(ctx)
	})
	return config.Server{Name: "everything", Transport: config.HTTP, URL: a.URL()}
}

// A call is made again in the other era, over a second connection that is closed again; what only one era has does not count.
func TestSendAgainInAnotherVersion(t *testing.T) {
	t.Parallel()
	app := open(t, everything(t), tuitest.SessionOptions(patient))
	form(app, "echo")
	app.Type("hello").Press("ctrl+g").Pane("result").Has("hello")
	app.Press("o").View("again").Overlay("Send to").Has("everything (as before)", "it is spoken already", "2025-11-25", "a command, a URL or JSON…")
	app.Type("2025-11").Press("enter").View("again")
	app.Pane("before").Has("Before: ", "2026-07-28", "✓ the same but for", "only the modern era has it")
	app.Pane("after").Has("After: ", "2025-11-25", "sent as it was but for")
	app.Press("r").Pane("after").Has("After: ", "2025-11-25") // where it was sent last
	app.Press("q").View("call")
	if st := app.Manager().Servers()[0].Status(); st.State != session.Connected || st.Version != "2026-07-28" {
		t.Errorf("%+v", st)
	}
	intact(t, app)
}

// What goes wrong is said beside the recorded answer, and a server that died is started again for the next try.
func TestSendAgainToABrokenServer(t *testing.T) {
	t.Parallel()
	app := open(t, good(t), tuitest.SessionOptions(patient))
	form(app, "rpc_error")
	app.Press("ctrl+g").Pane("result").Has("✗ good: tools/call rpc_error")
	leave(app).Press("6").View("traffic").Press("r").View("again")
	app.Pane("before").Has("✓ the same", `"error"`)
	app.Press("q").View("traffic")
	form(app, "crash")
	app.Press("ctrl+g").Pane("result").Has("crashed on purpose")
	leave(app).Press("6").View("traffic").Press("/").Type("tool:crash").Press("enter")
	app.Pane("list").Has("crash")
	app.Press("r").View("again").Pane("after").Has("exited with status 2")
	intact(t, app)
}

// TestPeerSendAgain sends a call of a real server again, and to another real one.
func TestPeerSendAgain(t *testing.T) {
	other := everything(t)
	other.Name = "agent" // the real one has the name that it has here
	app := open(t, peertest.Everything(t), tuitest.Target(other))
	form(app, "echo")
	app.Type("hello").Press("ctrl+g").Pane("result").Has("Echo: hello")
	app.Press("o").View("again").Overlay("Send to").Has("agent  Connected")
	app.Type("agent").Press("enter").View("again")
	app.Pane("before").Has("≠ 1 difference, and ", "/content/0/text", `"Echo: hello"`)
	app.Pane("after").Has(`"hello"`)
	intact(t, app)
}
