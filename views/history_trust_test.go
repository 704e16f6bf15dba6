package views_test

import (
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// A call that W writes starts what it was made at without another question, and a file that says something else does not.
func TestSavedCallIsTrusted(t *testing.T) {
	t.Chdir(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		made := session.CallRecord{Method: "tools/call", Target: "sum", Arguments: []byte(`{}`), Version: "2025-11-25", Server: config.OfCommand("/opt/server", "--stdio")}
		made.Reply.Result, made.Reply.Request = []byte(`{"content":[]}`), 1
		trust := config.OpenTrust(t.TempDir())
		app := openHistory(t, past(t, filepath.Join(t.TempDir(), "calls.db"), made), basics.NewServer(""), tuitest.SessionOptions(func(o *session.Options) { o.Trust = trust }))
		app.Press("m", "s").Prompt("save as").Answer("sum")
		app.Overlay("Expected answer")
		app.Press("enter").Toast("saved as")
		f, _, err := calls.Read(filepath.Join(".mcphud", "calls", "sum.yaml"))
		require.NoError(t, err)
		srv, ok := f.Calls[0].Config()
		if !ok || !trust.Trusted(srv) {
			t.Errorf("%+v is not trusted", srv)
		}
		f.Calls[0].Server.Args[0] = "--other"
		if srv, _ := f.Calls[0].Config(); trust.Trusted(srv) {
			t.Error("another command is trusted")
		}
	})
}
