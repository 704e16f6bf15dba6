package views_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/testdata/hostile"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// huge serves what is far too large: names of 1 MB, schemas without end, a
// result of one line, results 50,000 levels deep.
func huge(_ context.Context, in io.Reader, out io.Writer) error {
	less := 1
	switch {
	case budget.Race():
		less = 10 // what is slow under the detector is slow for its own reasons
	case !budget.All():
		less = 4
	}
	name := strings.Repeat("n\x1b", 1<<19/less)
	deep := strings.Repeat(`{"properties":{"a":`, 20_000/less) + "{}" + strings.Repeat("}}", 20_000/less)
	loop := m{"$ref": "#/$defs/a", "$defs": m{"a": m{"allOf": []any{m{"$ref": "#/$defs/b"}}}, "b": m{"anyOf": []any{m{"$ref": "#/$defs/a"}, m{"$ref": "#"}}}}}
	wide := m{}
	for i := range 20_000 / less {
		wide[strings.Repeat("p", i%50)+string(rune('a'+i%26))+strings.Repeat("q", i/1000)] = m{"type": "string", "enum": []any{"a", i}}
	}
	calls := 0
	return serveLines(in, out, func(method string) (any, bool) {
		switch method {
		case "initialize":
			return m{"protocolVersion": "2025-11-25", "serverInfo": m{"name": name, "version": name}, "instructions": name, "capabilities": m{"tools": m{}}}, true
		case "tools/list":
			list, err := json.Marshal(m{"tools": []any{
				m{"name": "x", "description": name, "inputSchema": m{}},
				m{"name": name, "title": name, "inputSchema": m{"properties": m{name: m{"enum": []any{name}, "description": name}}}},
				m{"name": "deep", "inputSchema": "@deep@"},
				m{"name": "loop", "inputSchema": loop},
				m{"name": "wide", "inputSchema": m{"type": "object", "properties": wide}},
			}})
			return raw(strings.Replace(string(list), `"@deep@"`, deep, 1)), err == nil
		case "tools/call":
			calls++
			switch calls {
			case 1:
				return m{"content": []any{m{"type": "text", "text": strings.Repeat("日\x1b[2Jx", 1<<20/less)}}}, true
			case 2:
				return raw(`{"content":[],"structuredContent":` + strings.Repeat(`{"a":[`, 25_000/less) + strings.Repeat("]}", 25_000/less) + `}`), true
			}
			return m{"content": []any{m{"type": "text", "text": "# a\n" + strings.Repeat("> ", 100_000/less)}}}, true
		}
		return nil, false
	})
}

// TestHuge looks at all of it; a key that takes a second is a failure of the
// test's time limit.
func TestHuge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &watch{good: map[string]bool{}}
		app := tuitest.Start(t,
			tuitest.Views(views.All(views.Deps{})...), tuitest.Peer("huge", huge), tuitest.At("tools", nil),
			tuitest.Config(func(c *tui.Config) { c.Frames = w.frame }),
		)
		app.View("tools").Pane("list").Has("n^[n^[n")
		for range 5 {
			app.Press("m", "tab", "G", "pgup", "shift+tab", "m", "tab", "shift+tab", "enter").View("call")
			app.Press("down", "pgdown", "ctrl+r", "ctrl+r")
			app.Send(tui.Back{})
			app.View("tools")
			app.Press("down")
			w.check(t, app, "tools")
		}
		app.Press("home", "enter").View("call")
		for range 3 {
			app.Press("ctrl+g").Idle()
			app.Press("m", "G", "g", "m", "w", "pgdown", "m")
			w.check(t, app, "result")
			app.Send(tui.Navigate{View: "call", Arg: "x"})
		}
		app.Send(tui.Navigate{View: "servers"})
		app.Press("tab", "G")
		w.check(t, app, "servers")
		quiet(app)
	})
}

// TestFloodOfStderr appends a hundred thousand lines while keys are pressed.
func TestFloodOfStderr(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		app := demo(t, tuitest.At("logs", nil))
		stop := make(chan struct{})
		done := make(chan struct{})
		go func() {
			defer close(done)
			line := []byte("\x07\x1b[2J" + strings.Repeat("log ", 10))
			for range 1000 {
				select {
				case <-stop:
					return
				default:
				}
				for range 100 {
					app.Manager().Journal().Append(journal.Entry{Server: "demo", Dir: journal.In, Kind: journal.Stderr}, line)
				}
				time.Sleep(time.Millisecond)
			}
		}()
		for range 20 {
			app.Press("up", "down", "G", "g")
		}
		app.Press("6").View("traffic")
		app.Press("/").Type("kind:stderr").Press("enter")
		<-done
		close(stop)
		app.Press("6", "[").View("logs").Pane("list").Has("^G^[[2Jlog log")
		assert.Equal(t, outside(app.Output(), 0), "")
	})
}

// A server is opened by name also where the filter hides its row.
func TestOpenAServerThatTheFilterHides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.NoConnect(),
			tuitest.Peer("one", evil("1")), tuitest.Peer("two", evil("2")))
		for _, filter := range []string{"nothing", "one"} {
			app.Press("1").View("servers")
			app.Press("/", "ctrl+u").Type(filter).Press("enter")
			app.Send(tui.Navigate{View: "servers", Arg: "two"})
			app.View("tools")
			s, _ := app.Manager().Server("one")
			if st := s.Status().State; st != "Disconnected" {
				t.Fatalf("server one is %s", st)
			}
		}
	})
}

// Names in a config file are not trusted either.
func TestHostileServerNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watch{good: map[string]bool{}}
		opts := []tuitest.Option{
			tuitest.Views(views.All(views.Deps{})...), tuitest.NoConnect(), tuitest.Size(160, 60),
			tuitest.Config(func(c *tui.Config) { c.Frames = w.frame }),
		}
		for _, h := range hostile.Strings() {
			if h.Value != "" && len(h.Value) < 1000 {
				opts = append(opts, tuitest.Target(config.Server{Name: h.Value, Transport: config.Stdio, Command: h.Value, Args: []string{h.Value}, Env: map[string]string{h.Value: h.Value}}))
			}
		}
		app := tuitest.Start(t, opts...)
		for range 130 {
			app.Press("down")
		}
		app.Press("ctrl+p", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "pgdown", "esc", "r")
		for range 20 {
			app.Press("up", "r").Sleep(time.Second)
		}
		w.check(t, app, "servers")
		quiet(app)
		assert.Equal(t, outside(app.Output(), 0), "")
	})
}
