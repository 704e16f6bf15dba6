package views_test

import (
	"testing"

	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// TestE2ELogs shows what the server logs, and tells it from which level on to.
func TestE2ELogs(t *testing.T) {
	app := open(t, peertest.Everything(t))
	app.Press("6", "[").View("logs").Pane("list").Has("stderr", "Starting default (STDIO) server")
	app.Press(":level").Overlay("Log level").Has("emergency")
	app.Type("debug\r").Toast("logs at debug and above")
	app.Press(":level").Overlay("Log level").Selected("debug").Has("current")
	app.Press("esc")
	assert.Contains(t, sentTo(t, app, "logging/setLevel"), `"level":"debug"`)
	form(app, "toggle-simulated-logging")
	app.Press("ctrl+g").Pane("result").Has("✓ ", "Started simulated")
	leave(app).Press("6", "[").View("logs").Pane("list").Some(tuitest.Matches(`(?i)(debug|info|notice|warning|error|critical|alert|emergency).*level.message`))
	app.Press("G").Pane("detail").Has("1/2", "2/2 frame", `"method": "notifications/message"`)
	intact(t, app)
}

// TestE2EListChanged refreshes a list by itself when the server says that it
// changed, and keeps the cursor on its row.
func TestE2EListChanged(t *testing.T) {
	app := open(t, peertest.Everything(t))
	app.Press("3").View("resources").Pane("list").Has("architect").Press("down")
	app.Pane("detail").Has("extension.md")
	row := app.State().Crumbs
	form(app, "gzip-file-as-resource")
	app.Press("ctrl+x").Type("new.gz").Press("enter").Press("ctrl+x").Type("data:text/plain,hello").Press("ctrl+g")
	app.Pane("result").Has("✓ ", "resource_link", "new.gz")
	lists := func() int {
		return len(wire(app, func(e journal.Entry) bool { return e.Kind == journal.Request && e.Method == "resources/list" }))
	}
	leave(app).Press("3").View("resources").Pane("list").Has("new.gz", "session/new.gz")
	if n := lists(); n != 2 {
		t.Errorf("resources/list was asked %d times", n)
	}
	if got := app.State().Crumbs; got != row {
		t.Errorf("the cursor went from %q to %q", row, got)
	}
	pick(app, "3", "resources", "new.gz").Press("enter")
	app.Pane("detail").Has("✓ ", "application/gzip", "press s to save")
	intact(t, app)
}

// TestE2ESubscription subscribes to a resource that the server says was updated.
func TestE2ESubscription(t *testing.T) {
	app := open(t, peertest.Everything(t))
	app.Press("3").View("resources").Pane("list").Has("architecture")
	app.Press(":subscribe").Toast("subscribed to demo://")
	app.Pane("list").Some(tuitest.Contains("◉ subscribed"))
	form(app, "toggle-subscriber-updates")
	app.Press("ctrl+g").Pane("result").Has("✓ ")
	leave(app).Press("3").View("resources").Press(":subscriptions").View("subscriptions").Pane("list").Has("● live", "1×")
	app.Pane("detail").Has("update since", "the content is the same")
	app.Press("x").Toast("unsubscribed from demo://").Pane("list").Has("Nothing is subscribed")
	assert.Contains(t, sentTo(t, app, "resources/unsubscribe"), "demo://")
	intact(t, app)
}

// TestE2EDeprecatedTransport: HTTP+SSE is marked where the transport is shown.
func TestE2EDeprecatedTransport(t *testing.T) {
	app := open(t, peertest.EverythingSSE(t).Server)
	app.Press("1").View("servers").Pane("detail").Has("over sse", "! HTTP+SSE is deprecated since 2025-03-26", "✓ logging", "! deprecated since 2026-07-28")
	intact(t, app)
}
