package views_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// filled is a journal that others fill, and sessions that have it.
func filled(t *testing.T) (*journal.Journal, *session.Manager) {
	t.Helper()
	j := journal.New(journal.Options{Dir: t.TempDir()})
	m := session.NewManager(session.Options{Journal: j})
	t.Cleanup(func() {
		_ = m.Close()
		_ = j.Close()
	})
	return j, m
}

// A journal that others fill: what to do while it is empty, whose each frame is, and the way from an answer to its request.
func TestTapScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{Empty: func() (what, next string) { return "Nobody is there.", "Start somebody." }})...),
			tuitest.Size(160, 40), tuitest.Sessions(m), tuitest.Config(func(c *tui.Config) { c.Idle = func() string { return "tap" } }))
		app.View("traffic").Pane("list").Has("Nobody is there.", "Start somebody.")
		app.Status().Has("tap")
		app.Whole().HasNot("no server")
		at := time.Date(2026, 11, 21, 10, 11, 12, 0, time.UTC)
		add := func(server string, d journal.Dir, k journal.Kind, after time.Duration, body string) {
			j.Append(journal.Entry{Server: server, Conn: 1, Dir: d, Kind: k, ID: "1", Method: "tools/call", Time: at.Add(after)}, []byte(body))
		}
		add("files", journal.Out, journal.Request, 0, `{"id":1,"method":"tools/call","params":{"name":"read"}}`)
		add("kb", journal.Out, journal.Request, time.Millisecond, `{"id":1,"method":"tools/call","params":{"name":"search"}}`)
		add("files", journal.In, journal.Response, 5*time.Millisecond, `{"id":1,"result":{"of":"files"}}`)
		app.Sleep(time.Second)
		app.View("traffic").Pane("list").Has("files tools/call read", "kb    tools/call search", "10:11:12.000", "5ms", "pending", "✓ ok", "2 · 3 frames")
		app.Press(":frames").Pane("list").Has("files res", "kb    req", "10:11:12.005", "5ms", "pending", "3")
		app.Press("G").Pane("frame").Has(`"of": "files"`)
		app.Press(":pair").Pane("frame").Has(`"name": "read"`)
		app.Press("[", "[").View("logs").Pane("list").Has("No log messages.")
	})
}

// On a small terminal each frame still says whose it is, and a state is told in full.
func TestTapScreenNarrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(80, 24), tuitest.Sessions(m))
		j.Append(journal.Entry{Server: "files", Conn: 1, Dir: journal.Out, Kind: journal.Request, ID: "1", Method: "tools/call"}, []byte(`{"id":1,"method":"tools/call","params":{"name":"read"}}`))
		j.Append(journal.Entry{Server: "kb", Kind: journal.State, Note: "joined: server, process 4242: node /home/somebody/servers/kb.js --verbose"}, nil)
		app.Sleep(time.Second)
		app.View("traffic").Pane("list").Has("files", "tools/call read", "kb")
		app.Pane("frame").Has("4242: node", "--verbose")
		app.Pane("frame").HasNot("Empty")
	})
}
