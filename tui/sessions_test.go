package tui_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

func echoServer() *server.MCPServer {
	s := server.NewMCPServer("echo", "1.0.0")
	s.AddTool(mcp.NewTool("echo"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("hi"), nil
	})
	return s
}

// refuses is a server that ends at once.
func refuses(context.Context, io.Reader, io.Writer) error { return errors.New("out of cheese") }

func TestRailStatusAndTicker(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Pane("rail").Rows(tuitest.Matches(`^▸● good +Connected$`).Selected(), tuitest.Matches(`^ ✗ bad +Error`).NotSelected())
		app.Status().Rows(tuitest.Matches(`^ good · (memory|stdio) · 20\d\d-\d\d-\d\d · ● Connected`))
		app.Whole().HasNot("no traffic yet")

		app.Press("shift+tab", "down", "enter")
		assert.Equalf(t, app.State().Server, "bad", "the server")
		app.Status().Has("bad", "✗ Error", "✗ server/discover")
		app.Press("ctrl+p").Type("server good").Press("enter").Status().Has("good")
		app.Press(":").Type("server ba").Press("tab", "enter").Status().Has("bad")
		app.ClickOn("good   ").Status().Has("good")
	}, tuitest.Server("good", echoServer()), tuitest.Peer("bad", refuses))
}

func TestRailFilter(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("shift+tab", "/").Type("ba").Pane("rail").Rows(tuitest.Matches(`^ ○ bad +Disconnected$`), tuitest.Eq(""))
		app.Press("enter", "enter").Status().Has("bad")
	}, tuitest.Server("good", echoServer()), tuitest.Peer("bad", refuses), tuitest.NoConnect())
}

// What a server does by itself reaches the screen, and a call through ctx.Go
// is told to the server when it is cancelled.
func TestCallsThroughTheSession(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		s, ok := app.Manager().Server("good")
		if !ok {
			t.Fatal("no server")
		}
		if _, err := s.CallTool(t.Context(), "echo", nil, session.CallOptions{}); err != nil {
			t.Fatal(err)
		}
		app.Whole().Has("good tools/call echo", "✓ ok")
		for _, kind := range []journal.Kind{journal.Request, journal.Response} { // health checks are left out
			app.Manager().Journal().Append(journal.Entry{Server: "good", Dir: journal.Out, Kind: kind, Method: "ping"}, nil)
		}
		app.Sleep(time.Second).Whole().Has("good tools/call echo", "✓ ok")
		require.NoError(t, s.Disconnect())
		app.Status().Has("○ Disconnected")
	}, tuitest.Server("good", echoServer()))
}

func TestManyServersFitTheRail(t *testing.T) {
	opts := []tuitest.Option{tuitest.NoConnect()}
	for i := range 60 {
		opts = append(opts, tuitest.Peer("server "+itoa(i+10), refuses))
	}
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("shift+tab", "G").Pane("rail").Has("server 69").Press("enter")
		assert.Equalf(t, app.State().Server, "server 69", "the server")
	}, opts...)
}

// A hostile name, reason or title never reaches the terminal as it is.
func TestShellShowsHostileServersHarmlessly(t *testing.T) {
	const evil = "x\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x07\u202e\x9b31m"
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("shift+tab", "j", "k", "enter", "ctrl+p").Type("server").Press("esc", "esc", "?", "esc", ":", "esc").Resize(60, 20)
		out := string(app.Output())
		for _, bad := range []string{"owned\x07", "ZXZpbA==\x07", "\u202e", "\x9b"} {
			if contains(out, bad) {
				t.Errorf("the terminal was sent %q", bad)
			}
		}
		if got := app.Title(); contains(got, "\x1b") || got == "owned" {
			t.Errorf("the window title is %q", got)
		}
	}, tuitest.Peer(evil, func(context.Context, io.Reader, io.Writer) error { return errors.New(evil) }))
}

func contains(s, sub string) bool {
	for i := 0; i+len(sub) <= len(s); i++ {
		if s[i:i+len(sub)] == sub {
			return true
		}
	}
	return false
}

// The same harness drives the UI in real time, as against real processes.
func TestRealTime(t *testing.T) {
	v := newFruits(10)
	app := tuitest.Start(t, tuitest.Views(v.screen(), (&other{}).screen()), tuitest.Server("good", echoServer()))
	app.Status().Has("● Connected")
	app.Press("j", "enter").Status().Has("eat fruit 1")
	time.AfterFunc(50*time.Millisecond, func() { close(v.block) })
	app.Pane("detail").Has("eat fruit 1: eaten")
	app.Press("q")
	assert.NoError(t, app.Ended())
}

func TestContextEndsTheUI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- tui.Run(ctx, tui.Config{Views: []*tui.Screen{newFruits(1).screen()}, In: r, Out: io.Discard, Environ: []string{"TERM=xterm"}, Options: []tea.ProgramOption{tea.WithoutSignalHandler()}})
		}()
		synctest.Wait()
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
		w.Close()
		time.Sleep(10 * time.Second)
	})
}
