package views_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// What breaks the protocol is listed by rule while it is said: with evidence, what to change and the section of the
// specification; from a finding to its frame and back.
func TestExpertScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		var over atomic.Bool
		app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{Over: over.Load})...), tuitest.Size(120, 40), tuitest.Sessions(m))
		app.Press(":expert").View("expert").Pane("list").Has("No traffic yet.")
		add := func(d journal.Dir, k journal.Kind, method, id, body string) {
			j.Append(journal.Entry{Server: "files", Conn: 1, Dir: d, Kind: k, Method: method, ID: id}, []byte(body))
		}
		add(journal.Out, journal.Request, "initialize", "1", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
		add(journal.In, journal.Response, "", "1", `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`)
		add(journal.Out, journal.Notification, "notifications/initialized", "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		app.Sleep(2 * time.Second)
		app.View("expert").Pane("list").Has("Nothing broken in 3 frames.")
		add(journal.In, journal.Bad, "", "", "\x1b[2Jstarting up")
		add(journal.Out, journal.Request, "tools/list", "2", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		add(journal.In, journal.Response, "", "2", `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}}`)
		app.Sleep(2 * time.Second)
		app.View("expert").Pane("list").Has("✗ error", "1× output that is not a message", "#4      server", "starting up", "1× result that breaks the schema", "2 errors, 0 warnings, 0 notes in 6 frames")
		app.Pane("list").HasNot("request without an answer")
		app.Press("G").Pane("detail").Has("✗ error", "broken by    the server", "#6 ← res", "/result/tools/0/inputSchema: is", "fix", "2025-06-18/schema")
		app.Press("enter").View("traffic").Pane("frame").Has(`"tools"`)
		app.Pane("list").Has("§ error tools/list", "bad § error")
		app.Press("g").Press(":expert").View("expert").Pane("list").Has("output that is not a message")
		app.Press("g").Press("j").Press("enter").View("traffic").Press("G").Press(":expert").View("expert").Pane("detail").Has("#6 ← res") // the exchange of the finding
		app.Press("/").Type("kind:bad").Press("enter").Pane("list").Has("output that is not a message", "1 error, 0 warnings").HasNot("breaks the schema")
		app.Press("/").Type("tool:=nothing").Press("enter").Pane("list").Has("Nothing matches")
		app.Press("esc").Pane("list").Has("breaks the schema")
		app.Press("g").Press("space").Pane("list").Has("▸ ✗ error", "1× output").HasNot("starting up")
		app.Press("enter").Pane("list").Has("▾ ✗ error", "starting up")

		over.Store(true) // first: only what is added has the screen look
		add(journal.Out, journal.Request, "tools/call", "3", `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a"}}`)
		app.Sleep(2 * time.Second)
		app.View("expert").Pane("list").Has("! warning", "1× request without an answer", "tools/call")
		app.Press("q").View("traffic")
	})
}

// Of many findings of a rule the list shows the rule, and of the ones beyond the bound how many there are.
func TestExpertScreenFolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(80, 24), tuitest.Sessions(m))
		for i := range 700 {
			j.Append(journal.Entry{Server: "files", Conn: 1, Dir: journal.In, Kind: journal.Bad}, fmt.Appendf(nil, "line %d", i))
		}
		app.Sleep(time.Second)
		app.Press(":expert").View("expert").Pane("list").Has("▸ ✗ error", "700×").HasNot("line 0")
		app.Pane("detail").Has("700 findings", "The first 500 are listed.")
		app.Press("enter").Pane("list").Has("▾ ✗ error", `"line 0"`)
	})
}

// Linear mode says each rule and each finding, of those that are folded too.
func TestExpertLinear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		for i := range 2 {
			j.Append(journal.Entry{Server: "files", Conn: 1, Dir: journal.In, Kind: journal.Bad}, fmt.Appendf(nil, "stray %d", i))
		}
		runLinear(t, m, "expert", views.Watch(traffic.Foreign{}), func(c *console) {
			c.enter("")
			out := c.enter("")
			for _, want := range []string{"✗ error", " (2)\n  #", `"stray 0"`, `"stray 1"`, "2 errors"} {
				assert.Contains(t, out, want)
			}
		})
	})
}
