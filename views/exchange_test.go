package views_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// wired is the traffic screen over a journal that add fills: a message with its body, so many milliseconds after the first.
func wired(t *testing.T, w, h int) (app *tuitest.App, add func(ms int, e journal.Entry, body string)) {
	j, m := filled(t)
	app = tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(w, h), tuitest.Sessions(m))
	at := time.Date(2026, 11, 21, 10, 11, 12, 0, time.UTC)
	return app, func(ms int, e journal.Entry, body string) {
		if e.Server == "" {
			e.Server = "files"
		}
		e.Conn, e.Time = 1, at.Add(time.Duration(ms)*time.Millisecond)
		j.Append(e, []byte(body))
	}
}

// call and answer are a request of a tool and its answer.
func call(id, tool string) (journal.Entry, string) {
	return journal.Entry{Dir: journal.Out, Kind: journal.Request, ID: id, Method: "tools/call"},
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"path":"/tmp/%s"},"_meta":{"progressToken":%s}}}`, id, tool, tool, id)
}

func answer(id, says string) (journal.Entry, string) {
	return journal.Entry{Dir: journal.In, Kind: journal.Response, ID: id},
		fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%q}]}}`, id, says)
}

func progress(id string, n int) (journal.Entry, string) {
	return journal.Entry{Dir: journal.In, Kind: journal.Notification, Method: "notifications/progress"},
		fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, id, n)
}

// One row is a request with its progress and its answer, which changes in place, and opens into its frames.
func TestExchangeIsOneRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, add := wired(t, 80, 24)
		e, body := call("1", "read")
		add(0, e, body)
		for i := range 3 {
			e, body := progress("1", i)
			add(10+i, e, body)
		}
		app.Sleep(time.Second).View("traffic").Pane("list").Rows(tuitest.Matches(`→ files tools/call read .*… pending .* ↑\d+ B`))
		e, body = answer("1", "hello there")
		add(250, e, body)
		app.Sleep(time.Second).Pane("list").Rows(tuitest.Matches(`10:11:12.000 → files tools/call read .*✓ ok +250ms +↑\d+ B +↓\d+ B`))
		app.Pane("list").Has("1 · 5 frames")
		app.Pane("frame").Has("1/5 ← res tools/call")
		app.Press("enter").Pane("list").Has("req    tools/call read", "note   progress read", "res    tools/call read", "frames of tools/call read #1")
		app.Hints().Has("m all frames")
		app.Press("q").View("traffic").Pane("list").Has("1 · 5 frames").HasNot("frames of")
		app.Press("enter", "esc").View("traffic").Pane("list").Has("1 · 5 frames")
		app.Press(":frames").Pane("list").Has("files req", "files note   progress").HasNot("5 frames")
		app.Press(":frames").Pane("list").Has("1 · 5 frames")
	})
}

// What is odd about an exchange is said by glyph and word.
func TestOddExchanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, add := wired(t, 160, 40)
		for _, id := range []string{"1", "2", "3", "4"} {
			e, body := call(id, "tool"+id)
			add(0, e, body)
		}
		add(1, journal.Entry{Dir: journal.Out, Kind: journal.Notification, Method: "notifications/cancelled"}, `{"method":"notifications/cancelled","params":{"requestId":1}}`)
		for _, id := range []string{"1", "2", "2", "9"} { // late, in time and again, and to nothing
			e, body := answer(id, "x")
			add(2, e, body)
		}
		add(3, journal.Entry{Dir: journal.Out, Kind: journal.State, ID: "3", Status: journal.Failed, Note: "timed out"}, "")
		app.Sleep(time.Second).View("traffic").Pane("list").Rows(
			tuitest.Matches("tool1.*⊘ cancelled ◷ late"),
			tuitest.Matches("tool2.*✓ ok ≡ duplicate"),
			tuitest.Matches("tool3.*✗ unanswered"),
			tuitest.Matches("tool4.*… pending"),
			tuitest.Matches(`res #9.*\? unasked`),
		)
	})
}

// Each row names its server at every width.
func TestServersAtEveryWidth(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {60, 15}, {80, 24}, {120, 40}, {200, 60}} {
		synctest.Test(t, func(t *testing.T) {
			app, add := wired(t, size[0], size[1])
			for _, server := range []string{"files", "kb"} {
				e, body := call("1", "read")
				e.Server = server
				add(0, e, body)
				e, body = answer("1", "x")
				e.Server = server
				add(5, e, body)
			}
			app.Sleep(time.Second).View("traffic").Pane("list").Rows(tuitest.Contains("→ files tools/call read"), tuitest.Contains("→ kb    tools/call read"))
			app.Pane("list").Has("✓ ok")
		})
	}
}

// A filter lists an exchange when any of its frames matches, also one that is listed only because of what came later.
func TestFilterOfExchanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, add := wired(t, 120, 40)
		for _, id := range []string{"1", "2", "3"} {
			e, body := call(id, "tool"+id)
			add(0, e, body)
		}
		app.Sleep(time.Second).Press("/").Type("error").Press("enter").Pane("list").Has("Nothing matches")
		e, body := answer("3", "x")
		add(1, e, body)
		add(2, journal.Entry{Dir: journal.In, Kind: journal.ErrorResponse, ID: "2"}, `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no"}}`)
		app.Sleep(time.Second).Pane("list").Rows(tuitest.Matches("tool2.*✗ error"))
		app.Pane("list").Has("1 of 3")
	})
}

// Rows of the same call on the same connection, and times relative to one of them.
func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, add := wired(t, 160, 40)
		for i, tool := range []string{"read", "write", "read", "list", "read"} {
			e, body := call(fmt.Sprint(i+1), tool)
			add(100*i, e, body)
		}
		app.Sleep(time.Second).Press("g").View("traffic").Pane("list").Selected("read #1")
		app.Press(":next").Pane("list").Selected("read #3")
		app.Press(":relative").Pane("list").Has("-200ms", "*REF*", "+100ms", "time since 10:11:12.200")
		app.Press(":next").Pane("list").Selected("read #5")
		app.Press(":next").Toast("no other row of tools/call on this connection")
		app.Press(":previous", ":previous").Pane("list").Selected("read #1")
		app.Press(":next", ":relative").Pane("list").Has("10:11:12.200").HasNot("*REF*")
	})
}

// The list that was chosen is remembered.
func TestTrafficListIsRemembered(t *testing.T) {
	file := t.TempDir() + "/preferences.json"
	for _, want := range []string{"1 · 2 frames", "res    tools/call read"} {
		synctest.Test(t, func(t *testing.T) {
			j, m := filled(t)
			app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(120, 40), tuitest.Sessions(m),
				tuitest.Config(func(c *tui.Config) { c.PreferencesFile = file }))
			for _, f := range []func() (journal.Entry, string){func() (journal.Entry, string) { return call("1", "read") }, func() (journal.Entry, string) { return answer("1", "x") }} {
				e, body := f()
				e.Server, e.Conn = "files", 1
				j.Append(e, []byte(body))
			}
			app.Sleep(time.Second).View("traffic").Pane("list").Has(want)
			if strings.Contains(want, "frames") {
				app.Press(":frames").Sleep(time.Second)
			}
		})
	}
}

// What a filter forbids in one frame takes all of an exchange off; what a request was before its answer came counts no more.
func TestFilterExcludesExchanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, add := wired(t, 120, 40)
		ask := func(id string) {
			e, body := call(id, "tool"+id)
			add(0, e, body)
		}
		ask("1")
		ask("2")
		app.Sleep(time.Second).Press("/").Type("-status:pending").Press("enter").Pane("list").Has("Nothing matches")
		e, body := answer("1", "x")
		add(1, e, body)
		app.Sleep(time.Second).Pane("list").Rows(tuitest.Contains("tool1"))
		app.Press("/", "ctrl+u").Type("status:pending").Press("enter").Pane("list").Rows(tuitest.Contains("tool2"))
		e, body = answer("2", "secret")
		add(2, e, body)
		app.Sleep(time.Second).Pane("list").Has("Nothing matches")
		app.Press("/", "ctrl+u").Type("tool:tool -text:secret").Press("enter").Pane("list").Rows(tuitest.Contains("tool1"))
		ask("3")
		app.Sleep(time.Second).Pane("list").Rows(tuitest.Contains("tool1"), tuitest.Contains("tool3"))
		e, body = answer("3", "secret")
		add(3, e, body)
		app.Sleep(time.Second).Pane("list").Rows(tuitest.Contains("tool1"))
	})
}

// The HTTP exchange of a call belongs to its row, whichever of head and frame is recorded first.
func TestHTTPExchangeIsPartOfTheRow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, add := wired(t, 120, 40)
		post := func(id string) {
			add(0, journal.Entry{Dir: journal.Out, Kind: journal.HTTP, ID: id, Method: "tools/call", Note: "POST /mcp"}, "POST /mcp HTTP/1.1\n")
		}
		e, body := call("1", "after")
		add(0, e, body)
		app.Sleep(time.Second)
		post("1")
		app.Sleep(time.Second)
		add(3, journal.Entry{Dir: journal.In, Kind: journal.HTTP, ID: "1", Method: "tools/call", Peer: 2, Note: "200 OK"}, "200 OK\n")
		e, body = answer("1", "x")
		add(4, e, body)
		app.Sleep(time.Second)
		post("2")
		app.Sleep(time.Second).View("traffic").Pane("list").Has("http tools/call #2")
		e, body = call("2", "before")
		add(5, e, body)
		app.Sleep(time.Second).Pane("list").Rows(tuitest.Matches("files tools/call after #1 .*✓ ok"), tuitest.Matches("files tools/call before #2 .*… pending"))
		app.Pane("list").Has("2 · 6 frames")
		app.Press("g", "enter").Pane("list").Has("POST /mcp", "200 OK", "res    tools/call after").HasNot("before")
	})
}

// Where nothing comes any more, what waits for its answer never gets one.
func TestUnansweredWhereNothingComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		var over atomic.Bool
		app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{Over: over.Load})...), tuitest.Size(80, 24), tuitest.Sessions(m))
		e, body := call("1", "read")
		e.Server, e.Conn = "files", 1
		j.Append(e, []byte(body))
		app.Sleep(time.Second).View("traffic").Pane("list").Has("… pending")
		over.Store(true)
		j.Append(journal.Entry{Server: "files", Kind: journal.Stderr}, []byte("bye"))
		app.Sleep(time.Second).Pane("list").Has("✗ unanswered").HasNot("pending")
	})
}

// With several servers on 80 cells a row gives up milliseconds and bytes before the name of what is called.
func TestExchangeKeepsItsTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, add := wired(t, 80, 24)
		for i, tool := range []string{"fail", "search_knowledge_base"} {
			id := fmt.Sprint(i + 1)
			e, body := call(id, tool)
			e.Server = []string{"demo", "everything@router"}[i]
			add(i*10, e, body)
			add(i*10+3, journal.Entry{Server: e.Server, Dir: journal.In, Kind: journal.Response, ID: id},
				`{"jsonrpc":"2.0","id":`+id+`,"result":{"isError":true,"content":[{"type":"text","text":"no"}]}}`)
		}
		app.Sleep(time.Second).View("traffic").Pane("list").Has("10:11:12 → demo", "tools/call fail #1", "tools/call search_knowledge_base", "✗ isError", "3ms")
		app.Press(":frames").Pane("list").Has("tools/call fail #1", "tools/call search_knowledge_base")
		app.Press(":frames")
		app.Press("g", ":note").Prompt("note").Answer("why so slow").Pane("list").Has("fail #1 ✎ why so slow")
		app.Resize(220, 40).Pane("list").Has("10:11:12.000 → demo", "↑")
	})
}
