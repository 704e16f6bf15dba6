package views_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/stack"
)

// processes is a stack that carries out every order.
type processes struct {
	changed chan struct{}

	mu   sync.Mutex
	all  []stack.Process
	logs map[string][]stack.ProcessLine
	rev  uint64
	did  []string
	fail error
}

func (s *processes) Processes() []stack.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.all)
}

func (s *processes) Log(name string, after uint64) (out []stack.ProcessLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.logs[name] {
		if l.Seq > after {
			out = append(out, l)
		}
	}
	return out
}

func (s *processes) Rev() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rev
}

// change changes something and says so.
func (s *processes) change(f func()) {
	s.mu.Lock()
	f()
	s.rev++
	s.mu.Unlock()
	s.changed <- struct{}{}
}

// write adds a line to a log.
func (s *processes) write(name, text string, note bool) {
	s.change(func() {
		n := uint64(len(s.logs[name])) + 1
		s.logs[name] = append(s.logs[name], stack.ProcessLine{Seq: n, Time: time.Now(), Note: note, Text: text})
	})
}

func (s *processes) order(what, state string, health tui.Health, names []string) error {
	if s.fail != nil {
		return s.fail
	}
	s.change(func() {
		s.did = append(s.did, fmt.Sprint(what, " ", names))
		for i := range s.all {
			if p := &s.all[i]; len(names) == 0 || slices.Contains(names, p.Name) {
				p.State, p.Health = state, health
			}
		}
	})
	return nil
}

func (s *processes) Run(_ context.Context, names ...string) error {
	return s.order("start", "ready", tui.Healthy, names)
}

func (s *processes) Restart(_ context.Context, names ...string) error {
	return s.order("restart", "ready", tui.Healthy, names)
}

func (s *processes) Stop(_ context.Context, names ...string) error {
	return s.order("stop", "stopped", tui.Stopped, names)
}

// stackScreen opens the stack screen on four processes in different states.
func stackScreen(t *testing.T, opts ...tuitest.Option) (*tuitest.App, *processes) {
	t.Helper()
	now := time.Now()
	s := &processes{changed: make(chan struct{}, 1), rev: 1, logs: map[string][]stack.ProcessLine{}, all: []stack.Process{
		{
			Name: "demo", Kind: "agent", State: "ready", Health: tui.Healthy, PID: 4242, Port: 7000, URL: "http://127.0.0.1:7000/mcp",
			Started: now.Add(-75 * time.Minute), Known: true, Requests: 1204, Running: 1, Queued: 3, Servers: []string{"nobody", "demo"},
		},
		{Name: "tests", Kind: "agent", State: "crash loop", Health: tui.Unhealthy, Restarts: 7, Err: "exited with status 1: no such folder: ./docs\x1b]0;x\a", RetryAt: now.Add(20 * time.Second)},
		{Name: "web", Kind: "server", State: "stopped", URL: "http://127.0.0.1:9000/mcp"},
		{Name: "router", Kind: "router", State: "starting", Health: tui.Changing, PID: 4250, Port: 8088, Started: now},
	}}
	for i, text := range []string{"listening on http://127.0.0.1:7000/mcp", `{"time":"2026-11-21T09:00:00Z","level":"WARN","msg":"call failed","tool":"add","duration_ms":3}`, "\x1b[2Jhostile", "last line"} {
		s.logs["demo"] = append(s.logs["demo"], stack.ProcessLine{Seq: uint64(i + 1), Time: now, Note: i == 0, Text: text})
	}
	app := tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.All(views.Deps{Stack: s})...), tuitest.Server("demo", basics.NewServer("")), tuitest.At("stack", nil),
		tuitest.Config(func(c *tui.Config) { c.Changed = s.changed }),
	}, opts...)...)
	return app, s
}

func TestStackDrawn(t *testing.T) {
	draw(t, "stack", false, sizes, func(t *testing.T, look ...tuitest.Option) *tuitest.App {
		app, _ := stackScreen(t, look...)
		return app
	})
}

func TestStackShowsAndFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, s := stackScreen(t, tuitest.Size(200, 24))
		app.Pane("list").Has("● demo", "1h15m", "7000", "4242", "1204", "✗ tests", "crash loop", "○ web", "◐ router")
		app.Pane("detail").Has("http://127.0.0.1:7000/mcp", "running 1 · queued 3", "WARN call failed tool=add duration_ms=3", "── listening on", "last line")
		s.write("demo", "a line that came later", false)
		app.Pane("detail").Has("a line that came later")

		// It stands still once somebody reads it.
		for i := range 30 {
			s.write("demo", fmt.Sprint("filler ", i), false)
		}
		app.Press("enter", "g").Pane("detail").Has("── listening on")
		app.Whole().Has("f follows")
		s.write("demo", "unseen", false)
		app.Whole().Has("1 new line")
		app.Pane("detail").HasNot("unseen")
		app.Press(":follow").Pane("detail").Has("unseen")
		app.Whole().HasNot("f follows")

		app.Press("/").Type("filler 3").Press("enter", "n").Pane("detail").Has("filler 3")
		app.Whole().Has("f follows")

		app.Press("shift+tab", "j").Pane("detail").Has("no such folder", "next start in", "7 restarts", "No output yet")
		app.Press("/").Type("web").Press("enter").Pane("list").Has("web")
		app.Pane("list").HasNot("demo")
		app.Press("/").Type("zzz").Press("enter").Pane("list").Has("Nothing matches")
	})
}

// A log whose end is in view goes on, whatever is pressed.
func TestStackLogFollowsWhileItsEndIsInView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, s := stackScreen(t, tuitest.Size(160, 24))
		app.Press("enter", "g", "k").Whole().HasNot("f follows")
		s.write("demo", "it fits", false)
		app.Pane("detail").Has("it fits")
		for i := range 40 {
			s.write("demo", fmt.Sprint("filler ", i), false)
		}
		app.Press("k").Whole().Has("f follows")
		s.write("demo", "below", false)
		app.Pane("detail").HasNot("below")
		app.Press("j").Whole().HasNot("f follows")
		app.Pane("detail").Has("below")
	})
}

func TestStackLogShowsErrorsInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, s := stackScreen(t, tuitest.Size(160, 24))
		s.write("demo", `{"error":{"kind":"Usage","code":null,"message":"the port is taken; end what has it"}}`, false)
		app.Pane("detail").Has("error: the port is taken; end what has it")
		s.write("demo", `{"level":"WARN","msg":"routes","error":"no such file"}`, false)
		app.Pane("detail").Has("WARN routes error=no such file")
	})
}

// The row of a server's page that tells of its process leads to that process, whatever the list was left at.
func TestServerPageOpensItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, _ := stackScreen(t, tuitest.Size(160, 24))
		app.Press("/").Type("web").Press("enter").Pane("list").Selected("web")
		app.Press("1").View("servers").Pane("list").Selected("demo")
		app.Press("tab", "down", "down", "down").Pane("detail").Selected("process      demo · ready · process 4242")
		app.Press("enter").View("stack").Pane("list").Has("tests", "router").Selected("demo")
		app.Pane("detail").Has("last line")
	})
}

func TestStackSavesLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, _ := stackScreen(t, tuitest.Size(160, 24))
		file := filepath.Join(t.TempDir(), "demo.log")
		app.Press("enter", "s", "ctrl+u").Type(file).Press("enter").Toast("saved ")
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "WARN call failed") {
			t.Errorf("%s, %v", text, err)
		}
		app.Press("s", "ctrl+u").Type(filepath.Join(file, "x")).Press("enter").Toast("cannot save")
	})
}

func TestStackOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, s := stackScreen(t, tuitest.Size(160, 40))
		app.Hints().Has("r restart").HasNot("r start ")
		app.Press("x").Toast("stop demo: done").Pane("list").Has("○ demo")
		app.Press("x").Toast("it is not running")
		app.Press("o").Toast("it is not ready")
		app.Press("r").Toast("start demo: done").Pane("list").Has("● demo")
		app.Press("j", "r").Toast("start tests: done")
		app.Press("o").Toast("it is not in the list of servers")
		app.Press(":restart-all").Toast("restart all: done")
		app.Press(":stop-all").Toast("stop all: done")
		app.Press(":start-all").Toast("start all: done")
		s.mu.Lock()
		want := []string{"stop [demo]", "start [demo]", "start [tests]", "restart []", "stop []", "start []"}
		if !slices.Equal(s.did, want) {
			t.Errorf("%q, want %q", s.did, want)
		}
		s.fail = errors.New("no such folder")
		s.mu.Unlock()
		app.Press("r").Toast("restart tests: no such folder")
		s.mu.Lock()
		s.fail = errors.New("tests: stopped in the meantime")
		s.mu.Unlock()
		app.Press("r").Toast("restart tests: stopped in the meantime")
		s.mu.Lock()
		s.fail = context.Canceled
		s.mu.Unlock()
		app.Press("r").Toast("restart tests continues in the background")
		app.Press("k", "o").View("tools").Pane("list").Has("echo")
	})
}

func TestStackIsSound(t *testing.T) {
	require.NoError(t, tui.CheckViews(views.All(views.Deps{Stack: &processes{}})))
}

func TestStackReadOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, s := stackScreen(t, tuitest.ReadOnly())
		app.Press("x").Toast("stop: not in read-only mode")
		app.Press(":restart-all").Toast("restart all: not in read-only mode")
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.did != nil {
			t.Errorf("%v", s.did)
		}
	})
}

func TestNoStack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...))
		app.Whole().HasNot("Stack")
		app.Press(":").Type("stack").Press("enter").View("stack").Pane("list").Has("No stack is running.", "mcphud demo", "mcphud up")
	})
}
