package views_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

const hopsTrace = "4bf92f3577b34da6a3ce929d0e0e4736"

// hopsOf fills a journal with a call of an agent through a router, which began at at.
func hopsOf(j *journal.Journal, traceID string, at time.Time, tool string) {
	ms := func(n int) time.Time { return at.Add(time.Duration(n) * time.Millisecond) }
	frame := func(hop string, from, to int, body string) {
		e := journal.Entry{Server: "demo", Hop: hop, Conn: 1, Dir: journal.Out, Kind: journal.Request, ID: "7", Method: "tools/call", Time: ms(from), Trace: traceID}
		j.Append(e, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"_meta":{"traceparent":"00-%s-00f067aa0ba902b7-01"}}}`, tool, traceID))
		e.Dir, e.Kind, e.Time = journal.In, journal.Response, ms(to)
		j.Append(e, []byte(body))
	}
	record := func(hop string, id, parent, name, kind string, from, to int) {
		s := span.Span{Trace: traceID, ID: id, Parent: parent, Name: name, Kind: kind, Start: ms(from), End: ms(to), Attributes: map[string]any{span.AttrProcess: hop, span.AttrTool: tool}}
		if name == span.Forward {
			s.Attributes[span.AttrAgent] = "demo"
		}
		e, body := s.Entry()
		if e.Hop, e.Server = hop, "demo"; kind == span.KindServer && hop == span.Router {
			e.Conn, e.ID = 1, "7"
		}
		j.Append(e, body)
	}
	frame("", 0, 20, `{"jsonrpc":"2.0","id":7,"result":{"seen":"by the client"}}`)
	frame(span.Router, 1, 19, `{"jsonrpc":"2.0","id":7,"result":{"seen":"by the router"}}`)
	record(span.Router, "00000000000000a0", "00f067aa0ba902b7", span.Forward, span.KindServer, 1, 19)
	record(span.Router, "00000000000000a1", "00000000000000a0", span.Upstream, "", 2, 19)
	record(span.Agent, "00000000000000b0", "00f067aa0ba902b7", span.Call, span.KindServer, 4, 17)
	record(span.Agent, "00000000000000b1", "00000000000000b0", span.Run, "", 4, 17)
}

// From a call in Traffic to its hops, to the frames of one, to the next call, and back.
func TestTraceScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		app := tuitest.Start(t, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Size(80, 24), tuitest.Sessions(m))
		app.Press(":").Type("trace").Press("enter").View("trace").Pane("list").Has("No trace yet.")
		at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
		hopsOf(j, hopsTrace, at, "echo")
		hopsOf(j, "0af7651916cd43dd8448eb211c80319c", at.Add(time.Second), "add")
		app.Sleep(time.Second) // it shows one of the two: whichever was there when it looked
		app.Send(tui.Navigate{View: "trace", Arg: j.First() + uint64(j.Len()) - 1})
		app.View("trace").Pane("list").Has("client tools/call add → demo", "…1c80319c")
		app.Press(":previous").View("trace").Pane("list").Has("…0e0e4736",
			"client tools/call echo → demo", "    20ms  ━━━", "  router echo → demo", "     1ms    18ms", "    upstream", "      agent demo echo", "        run", "unaccounted", "4ms")
		app.Pane("detail").Has("20ms, from 0s on", "unaccounted  2ms")
		app.Press("G", "k", "k") // the router's step in which it asked the agent, and nobody knows what took so long
		app.Pane("list").Has("      unaccounted")
		app.Pane("detail").Has("4ms unaccounted", "Nobody recorded")
		app.Press("k").Pane("detail").Has("what", "run", "13ms", "agent demo at 12:00:00.004")
		assert.Contains(t, app.Press("y", "v").Copied(1), "agent demo echo")
		app.Press("enter").View("traffic").Pane("list").Has("res ", "frames of tools/call echo")
		app.Press("G").Pane("frame").Has(`"by the router"`)
		app.Press("q").View("trace").Pane("list").Has("…0e0e4736")
		app.Press(":next").Pane("list").Has("…1c80319c")
		app.Press("/").Type("agent").Press("enter").Pane("list").Has("agent demo add")
		app.Pane("list").HasNot("upstream")
	})
}

// What hops saw of a call is not in the traffic of the sessions beside the call itself, until somebody looks for it.
func TestHopsAreNotDoubled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, m := filled(t)
		if _, err := m.Register(config.Server{Name: "demo", Transport: config.HTTP, URL: "http://127.0.0.1:9/mcp"}); err != nil {
			t.Fatal(err)
		}
		hopsOf(j, hopsTrace, time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC), "echo")
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.Size(120, 40), tuitest.Sessions(m))
		app.Press("6").View("traffic").Pane("list").Has("20ms")
		app.Pane("list").HasNot("18ms", "router")
		app.Press(":hops").View("trace").Pane("list").Has("client tools/call echo → demo", "router echo → demo")
		app.Press("6", "/").Type("hop:router").Press("enter").View("traffic").Pane("list").Has("18ms")
	})
}

// TestHopsPicture draws the hops of a call that one agent made at another through the router: the README's second picture. What it draws
// was recorded by the test of the trace command.
func TestHopsPicture(t *testing.T) {
	draw(t, "hops", true, sizes, func(t *testing.T, look ...tuitest.Option) *tuitest.App {
		j, err := journal.Open("../testdata/hops.jsonl", journal.Options{})
		require.NoError(t, err)
		m := session.NewManager(session.Options{Journal: j})
		t.Cleanup(func() { _ = m.Close(); _ = j.Close() })
		app := tuitest.Start(t, append(look, tuitest.Views(views.Watch(traffic.Foreign{})...), tuitest.Sessions(m))...)
		app.Press(":").Type("trace").Press("enter").View("trace").Pane("list").Has("client tools/call call_agent")
		return app
	})
}
