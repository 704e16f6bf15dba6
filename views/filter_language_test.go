package views_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// said is a journal of two servers: calls of two tools, one of which fails, and a line on stderr.
func said(j *journal.Journal) {
	at := time.Date(2026, 11, 22, 10, 31, 0, 0, time.Local)
	add := func(after time.Duration, server string, d journal.Dir, k journal.Kind, id, body string) {
		j.Append(journal.Entry{Server: server, Conn: 1, Dir: d, Kind: k, ID: id, Method: map[journal.Kind]string{journal.Request: "tools/call"}[k], Time: at.Add(after)}, []byte(body))
	}
	add(0, "files", journal.Out, journal.Request, "1", `{"id":1,"method":"tools/call","params":{"name":"read_file"}}`)
	add(5*time.Millisecond, "files", journal.In, journal.Response, "1", `{"id":1,"result":{"content":"of the file"}}`)
	add(time.Second, "kb", journal.Out, journal.Request, "2", `{"id":2,"method":"tools/call","params":{"name":"search"}}`)
	add(2*time.Second, "kb", journal.In, journal.ErrorResponse, "2", `{"id":2,"error":{"code":-32603,"message":"index is broken"}}`)
	add(3*time.Second, "kb", journal.In, journal.Stderr, "", "warning: index is old")
}

func watching(t *testing.T, w, h int) (*tuitest.App, *journal.Journal) {
	j, m := filled(t)
	app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(w, h), tuitest.Sessions(m))
	said(j)
	app.Sleep(time.Second)
	return app, j
}

// The filter of the traffic: keys and values are completed, what is wrong is shown while it is typed, with its column, and
// changes nothing until it is right.
func TestFilterLanguageOnTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, j := watching(t, 80, 24)
		app.Press("/").Hints().Has("method:", "tool:", "status:")
		app.Type("st").Hints().Has("status:")
		app.Press("tab").Hints().Has("/status:", "ok error pending cancelled")
		app.Pane("list").Has("read_file", "search") // the key alone says nothing yet
		app.Press("tab", "tab").Hints().Has("/status:error")
		app.Pane("list").Has("search", "✗ error").HasNot("read_file")
		app.Type(" tool:").Press("tab").Hints().Has("tool:read_file")
		app.Press("tab").Hints().Has("tool:search")
		app.Press("enter").Pane("list").Has("search", "/status:error tool:search").HasNot("read_file")

		app.Press("/").Type("status:okay").Hints().Has("✗ 8: unknown status: okay; expected ok, error")
		app.Press("enter").Hints().Has("/status:okay") // nothing that was typed is lost
		app.Press("backspace", "backspace", "enter").Pane("list").Has("read_file", "/status:ok").HasNot("search")
		app.Press("/").Type("text:/broken").Hints().Has("✗ 6: expected a / at the end")
		app.Type("/").Press("enter").Pane("list").Has("search", "/text:/broken/").HasNot("read_file")
		j.Append(journal.Entry{Server: "kb", Kind: journal.Stderr, Dir: journal.In}, []byte("not it"))
		j.Append(journal.Entry{Server: "kb", Kind: journal.Stderr, Dir: journal.In}, []byte("also broken"))
		app.Sleep(time.Second)
		app.Pane("list").Has("also broken").HasNot("not it")
		app.Press("esc").Pane("list").Has("read_file", "not it")
	})
}

// A word of the log's filter is looked for in the message, and the rest of the language is that of the traffic.
func TestFilterLanguageOnLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, j := watching(t, 120, 40)
		j.Append(journal.Entry{Server: "files", Kind: journal.Stderr, Dir: journal.In}, []byte("ready"))
		app.Press("[", "[").View("logs").Press("/").Type("old").Pane("list").Has("index is old").HasNot("ready")
		app.Press("enter", "esc", "/").Type("-old server:fi").Press("tab").Hints().Has("server:files")
		app.Press("enter").Pane("list").Has("ready").HasNot("index")
		app.Press("/").Type("at:noon").Hints().Has("✗ 4: expected a time such as 10:31:05, 2026-11-22T10:31 or 10:31..10:35")
	})
}

// What arrives while a filter reads bodies is looked at beside the event loop where it is much, and nothing is missing or there
// twice afterwards.
func TestFilterCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		h := newByHand(t, tui.Config{Views: views.Watch(traffic.Foreign{}), Sessions: m})
		add := func(n int, text string) {
			for range n {
				j.Append(journal.Entry{Server: "a", Kind: journal.Stderr, Dir: journal.In}, []byte(text))
			}
		}
		add(10, "first needle")
		h.run(h.send(tui.SessionChanged{Rev: 2}))
		h.run(h.press("/", "t", "e", "x", "t", ":", "n", "e", "e", "d", "enter")...)
		h.has("/text:need 10 ")
		add(2000, "second needle")
		add(2000, "hay")
		held := h.send(tui.SessionChanged{Rev: 3})
		h.has("/text:need 10 ") // its command did not run yet
		add(5, "third needle")
		h.run(h.send(tui.SessionChanged{Rev: 4}))
		h.run(held)
		h.has("/text:need 2015 of 4015")
		h.has("third needle")
	})
}
