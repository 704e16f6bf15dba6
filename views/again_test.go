package views_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	mcptransport "github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/client/mcpgo"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/compare"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// weather is a server whose tools answer a little differently each time: place is what it says of itself.
func weather(place string) *server.MCPServer {
	srv := server.NewMCPServer(place, "1")
	var calls atomic.Int64
	answer := func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		n := calls.Add(1)
		time.Sleep(time.Millisecond) // virtual: no two calls at one time
		return mcp.NewToolResultStructured(map[string]any{
			"city": r.GetString("city", ""), "place": place, "degrees": 20, "call": n, "at": time.Now().Format(time.RFC3339Nano),
		}, fmt.Sprintf("20 degrees in %s, says %s", r.GetString("city", ""), place)), nil
	}
	srv.AddTool(mcp.NewTool("look", mcp.WithString("city"), mcp.WithReadOnlyHintAnnotation(true), mcp.WithDestructiveHintAnnotation(false)), answer)
	srv.AddTool(mcp.NewTool("measure", func(t *mcp.Tool) { t.Annotations = mcp.ToolAnnotation{} }), answer)
	srv.AddTool(mcp.NewTool("drop", mcp.WithString("city"), mcp.WithDestructiveHintAnnotation(true), mcp.WithReadOnlyHintAnnotation(false)), answer)
	return srv
}

func onWeather(t *testing.T, f func(*tuitest.App), opts ...tuitest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, append([]tuitest.Option{
			tuitest.At("tools", nil), tuitest.Server("north", weather("north")), tuitest.Server("south", weather("south")),
			tuitest.Views(views.All(views.Deps{})...),
		}, opts...)...)
		app.View("tools").Pane("list").Some(tuitest.Contains("look"))
		f(app)
	})
}

// looked calls a tool with a city and goes to the request in Traffic.
func looked(app *tuitest.App, tool string) {
	app.Press(":").Type("call " + tool).Press("enter").View("call")
	app.Type("Oslo").Press("ctrl+g")
	if tool == "drop" {
		app.Confirm("Call drop?").Yes()
	}
	app.Pane("result").Has("20 degrees")
	app.Press("6").View("traffic")
}

// A frame is sent again as it was; a read is repeated, so that what varies anyway does not count.
func TestSendAgain(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}} {
		onWeather(t, func(app *tuitest.App) {
			looked(app, "look")
			app.Press("r").View("again")
			app.Pane("before").Has("Before: north · look · ", "✓ the same but for 2 expected differences", "≈ /structuredContent/at  varies between equal runs", "≈ /structuredContent/call  varies between equal runs")
			app.Pane("after").Has("After: north")
			app.Whole().Has("sent as it was but for id", "sent twice: ")
			app.Press("q").View("traffic")
		}, tuitest.Size(size[0], size[1]))
	}
}

// A tool that may change something is called once; what looks like noise is a guess, until somebody says that it may be called twice.
func TestWhatVariesIsGuessedAndLearnt(t *testing.T) {
	onWeather(t, func(app *tuitest.App) {
		looked(app, "measure")
		app.Press("r").View("again")
		app.Pane("before").Has("≠ 1 difference, and 1 possible difference", "~ /structuredContent/call", "guess: time of the call")
		app.Whole().HasNot("sent twice")
		app.Press(":varies").Confirm("Call measure once more?").Yes()
		app.View("again").Pane("before").Has("✓ the same but for 2 expected differences", "≈ /structuredContent/call")
	}, tuitest.Size(120, 40))
}

// Another server is asked the same; what differs is told by pointer, and both values are shown.
func TestSendToAnotherServer(t *testing.T) {
	onWeather(t, func(app *tuitest.App) {
		looked(app, "look")
		app.Press("o").Overlay("Send to").Has("north (as before)", "south", "a command, a URL or JSON…", "2025-11-25", "it is spoken already")
		app.Type("south").Press("enter").View("again")
		app.Pane("before").Has("≠ 2 differences, and 2 expected", "≈ /_meta/io.modelcontextprotocol~1serverInfo/name  names", "~ /structuredContent/place", `"north"`)
		app.Pane("after").Has("After: south", "~ /structuredContent/place", `"south"`)
		app.Press("d").Pane("after").Has(`"place": "south"`)
		app.Press("d").Pane("after").Has("~ /structuredContent/place")
	}, tuitest.Size(120, 40))
}

// A destructive tool asks before it is called again, wherever; no means that nothing is sent.
func TestSendingAgainAsks(t *testing.T) {
	onWeather(t, func(app *tuitest.App) {
		looked(app, "drop")
		app.Press("r").View("again").Confirm("Call drop?").Says("north marks drop as destructive.", `{"city":"Oslo"}`).No()
		app.View("again").Pane("after").Has("Not sent yet.")
		app.Press("r").Confirm("Call drop?").Yes()
		app.View("again").Pane("before").Has("≠ 1 difference")
	}, tuitest.Size(120, 40))
}

// others is a journal of somebody else's call of a tool, with the screens for it and a server to send to.
func others(t *testing.T, tool, answer string, srv *server.MCPServer, opts ...tuitest.Option) (*tuitest.App, *journal.Journal) {
	t.Helper()
	j, m := filled(t)
	j.Append(journal.Entry{Server: "other", Conn: 1, Dir: journal.Out, Kind: journal.Request, ID: `"abc"`, Method: "tools/call"},
		[]byte(`{"jsonrpc":"2.0","id":"abc","method":"tools/call","params":{"name":"`+tool+`","arguments":{"city":"Oslo"}}}`))
	j.Append(journal.Entry{Server: "other", Conn: 1, Dir: journal.In, Kind: journal.Response, ID: `"abc"`}, []byte(`{"jsonrpc":"2.0","id":"abc","result":`+answer+`}`))
	targets := session.NewManager(session.Options{HealthInterval: -1, Dial: func(config.Server) (transport.Transport, bool) {
		return mcpgo.From(mcptransport.NewInProcessTransport(srv)), true
	}})
	t.Cleanup(func() { assert.NoError(t, targets.Close()) })
	for _, cfg := range []config.Server{{Name: "north", Command: "north"}, {Name: "off", Command: "off", Disabled: true}} {
		if _, err := targets.Register(cfg); err != nil {
			t.Fatal(err)
		}
	}
	app := tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.Watch(traffic.Foreign{Targets: traffic.Targets{Sessions: targets}})...), tuitest.Size(120, 40), tuitest.Sessions(m),
	}, opts...)...)
	app.View("traffic")
	return app, j
}

// A frame of a journal that others fill is sent to a server that is chosen, over sessions that are not those of the screens.
func TestSendWhatOthersSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, j := others(t, "look", `{"content":[],"structuredContent":{"city":"Oslo","place":"east"}}`, weather("north"))
		before := j.Len()
		app.Press("r").View("again").Overlay("Send to").Has("north", "off", "it is disabled", "a command, a URL or JSON…")
		app.Press("enter").View("again").Pane("before").Has("Before: other", "~ /structuredContent/place", `"east"`)
		app.Pane("after").Has("After: north", `"north"`)
		assert.Equalf(t, j.Len(), before, "the journal of others was written to")
		app.Press("o").Overlay("Send to").Has("north (as before)")
		app.Press("esc").NoOverlay().Press("q").View("traffic")
		app.Press("r").View("again").Pane("after").Has("After: north") // it was chosen already
	})
}

func TestSendingAgainInReadOnlyMode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, _ := others(t, "measure", `{"content":[]}`, weather("north"), tuitest.ReadOnly())
		app.Press("r").Overlay("Send to").Has("north")
		app.Press("enter").View("again").Pane("after").Has("read-only mode: this tool is not marked as read-only;", "nothing was sent")
	})
}

// A call that takes long is cancelled by x, and the screen says so.
func TestSendingAgainIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := server.NewMCPServer("slow", "1")
		srv.AddTool(mcp.NewTool("look", mcp.WithReadOnlyHintAnnotation(true), mcp.WithDestructiveHintAnnotation(false)), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})
		app, _ := others(t, "look", `{"content":[]}`, srv)
		app.Press("r").Overlay("Send to").Has("north")
		app.Press("enter").View("again").Pane("after").Has("tools/call look to north…", "Press x to cancel.")
		app.Press("x").Pane("after").Has("cancelled; the server was notified", "r again")
	})
}

// An answer that is too large to compare by its structure is compared by its hash, and shown all the same.
func TestHugeAnswersAreCompared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := server.NewMCPServer("big", "1")
		srv.AddTool(mcp.NewTool("look", mcp.WithReadOnlyHintAnnotation(true), mcp.WithDestructiveHintAnnotation(false)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(strings.Repeat("x", compare.MaxBytes+1)), nil
		})
		app, _ := others(t, "look", `{"content":[]}`, srv)
		app.Press("r").Overlay("Send to").Has("north")
		app.Press("enter").View("again").Pane("before").Has("1 difference; too large to compare by structure")
		app.Press("d").Pane("after").Has(`"xxxxxx`)
	})
}

// A call of the history is made at a server that is chosen, and compared with what it got then.
func TestHistorySendsToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := openHistory(t, past(t, filepath.Join(t.TempDir(), "calls.db"), someCalls()...), basics.NewServer(""))
		app.Press("j", "o").View("again").Overlay("Send to").Has("demo (as before)")
		app.Press("enter").View("again").Whole().Has("/content/0/text", `"said two"`, `"two"`)
		app.Press("q").View("history").Press("k").Pane("list").Has("three")
		app.Press("o").Toast("it had secrets, which are not kept")
	})
}

// The params are changed in an editor; what is not JSON is kept, and so is what was typed where somebody leaves and comes back.
func TestEditAndSend(t *testing.T) {
	onWeather(t, func(app *tuitest.App) {
		looked(app, "look")
		app.Press("e").View("edit").Pane("form").Has("tools/call look", `"city": "Oslo"`)
		app.Press("ctrl+home").Type("oops").Press("ctrl+g").Toast("not valid JSON")
		app.View("edit").Pane("form").Has("oops{", `"city": "Oslo"`)
		app.Press("esc").View("traffic").Press("e").View("edit").Pane("form").Has("oops{")
		app.Press("backspace", "backspace", "backspace", "backspace")
		app.Pane("form").HasNot("oops")
		app.Send(tui.Edited{View: "edit", Tag: "json:", Text: `{"name":"look","arguments":{"city":"Bergen","n":12345678901234567890}}`, Changed: true})
		app.Pane("form").Has("Bergen", "12345678901234567890")
		app.Press("ctrl+g").View("again").Pane("after").Has("20 degrees in Bergen, says north", "/structuredContent/city")
		app.Pane("after").Has("edited: arguments/city, arguments/n; sent as edited")
		app.Press("t").View("traffic").Pane("frame").Has("12345678901234567890")
	}, tuitest.Size(120, 40))
}

// d compares a call with the one before, and sends nothing.
func TestDiffWithTheCallBefore(t *testing.T) {
	onWeather(t, func(app *tuitest.App) {
		looked(app, "look")
		app.Press("d").View("again").Whole().Has("no earlier call of the same in the journal", "r again · o send to another · e edit")
		app.Press("q").View("traffic")
		looked(app, "look")
		app.Press("d").View("again").Pane("before").Has("≠ 3 differences, and 1 possible difference", "/structuredContent/city")
		app.Pane("after").Has("the call before asked for the same but for arguments/city")
		app.Whole().HasNot("sent as it was", "legacy") // one connection, so one version
	}, tuitest.Size(120, 40))
}
