package views_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// byHand is a UI in a synctest bubble whose commands run only when the test says so, so that a test can act between the
// start of an operation and its outcome.
type byHand struct {
	t    *testing.T
	app  *tui.App
	msgs chan tea.Msg
}

func newByHand(t *testing.T, cfg tui.Config) *byHand {
	t.Helper()
	cfg.Environ = []string{"TERM=xterm-256color"}
	app, err := tui.NewApp(t.Context(), cfg)
	require.NoError(t, err)
	h := &byHand{t, app, make(chan tea.Msg, 1000)}
	t.Cleanup(func() { time.Sleep(time.Minute) }) // for what waits on a timer, such as the end of a toast
	h.run(app.Init())
	h.run(h.send(tea.WindowSizeMsg{Width: 160, Height: 40}))
	h.run(h.send(tui.SessionChanged{Rev: 1}))
	return h
}

func (h *byHand) send(m tea.Msg) tea.Cmd {
	_, cmd := h.app.Update(m)
	return cmd
}

// press presses keys and returns the commands that they led to, none of which runs.
func (h *byHand) press(keys ...string) (held []tea.Cmd) {
	for _, k := range keys {
		held = append(held, h.send(tui.PressOf(k)))
	}
	return held
}

// run runs commands, and those that follow from them, until all that is left waits on a timer.
func (h *byHand) run(cmds ...tea.Cmd) {
	for _, c := range cmds {
		if c != nil {
			go func() { h.msgs <- c() }()
		}
	}
	for {
		synctest.Wait()
		select {
		case m := <-h.msgs:
			if b, ok := m.(tea.BatchMsg); ok {
				h.run(b...)
			} else if m != nil {
				h.run(h.send(m))
			}
		default:
			return
		}
	}
}

func (h *byHand) screen() string { return ansi.Strip(h.app.View().Content) }

func (h *byHand) has(want string) {
	h.t.Helper()
	assert.Contains(h.t, h.screen(), want)
}

func (h *byHand) hasNot(want string) {
	h.t.Helper()
	assert.NotContains(h.t, h.screen(), want)
}

// Traffic goes on after a filter over many entries was cancelled, under the filter before it.
func TestCancelledRescanGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { cancelRescan(t) })
}

func cancelRescan(t *testing.T) {
	j, m := filled(t)
	add := func(method string) {
		j.Append(journal.Entry{Server: "a", Conn: 1, Dir: journal.Out, Kind: journal.Notification, Method: method}, []byte(`{}`))
	}
	for i := range 3000 {
		add(fmt.Sprintf("old/%d", i))
	}
	h := newByHand(t, tui.Config{Views: views.Watch(traffic.Foreign{}), Sessions: m})
	h.has("old/2999")
	held := h.press("/", "z", "enter")
	h.run(h.press("x")...)
	h.run(held...)
	add("new/1")
	h.run(h.send(tui.SessionChanged{Rev: 2}))
	h.has("→ a note new/1")
	h.has("filter cancelled")
	h.run(h.press("/")...)
	h.hasNot("/z")
}

// A cancelled filter of a list of many rows leaves the one before it in force, and the outcome of a filter that was
// taken back is dropped.
func TestCancelledFilterOfManyRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { cancelFilter(t) })
}

func cancelFilter(t *testing.T) {
	tools := toolset.NewRegistry()
	for i := range 3000 {
		require.NoError(t, tools.Register(toolset.RegisteredTool{
			Name: fmt.Sprintf("tool_%04d", i), Source: toolset.Local,
			Run: func(context.Context, json.RawMessage) (json.RawMessage, error) { return nil, nil },
		}))
	}
	_, m := filled(t)
	h := newByHand(t, tui.Config{Views: views.All(views.Deps{Registry: tools}), Sessions: m, Start: "toolset"})
	h.run(h.send(tui.Navigate{View: "toolset"}))
	h.has("3000")
	held := h.press("/", "7", "enter")
	h.run(h.press("x")...)
	h.run(held...)
	h.has("tool_0000")
	h.has("filter cancelled")
	h.run(h.press("/")...)
	h.hasNot("/7")
	h.run(h.press("esc")...)

	held = h.press("/", "7", "backspace", "enter")
	h.run(held...)
	h.has("tool_0000")
}
