package views_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
)

// rig is the UI at 200x60 without a terminal: the test is the event loop, so
// that it can tell what one message costs up to the frame that shows it.
// Commands run on goroutines of their own, as under Bubble Tea.
type rig struct {
	t    *testing.T
	app  *tui.App
	msgs chan tea.Msg
	done <-chan struct{}
	cost func(func()) time.Duration // of a message: how long it takes, unless a test says otherwise
}

// newRig opens a screen on a connected server.
func newRig(t *testing.T, s config.Server, view string, deps ...views.Deps) *rig {
	t.Helper()
	m := session.NewManager(session.Options{})
	if _, err := m.Register(s); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, m.Connect(t.Context(), s.Name))
	return newRigOn(t, m, view, deps...)
}

// newRigOn opens a screen on sessions, which it closes at the end.
func newRigOn(t *testing.T, m *session.Manager, view string, deps ...views.Deps) *rig {
	t.Helper()
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop) // before the sessions are closed
	app, err := tui.NewApp(ctx, tui.Config{
		Views: views.All(oneOf(deps)), Sessions: m, Start: view, Environ: []string{"TERM=xterm-256color"},
	})
	require.NoError(t, err)
	r := &rig{t: t, app: app, msgs: make(chan tea.Msg), done: ctx.Done(), cost: budget.Time}
	go r.pump(m)
	r.spawn(app.Init())
	r.send(tea.WindowSizeMsg{Width: 200, Height: 60})
	return r
}

// oneOf is what screens need where a test says so, else nothing.
func oneOf(deps []views.Deps) views.Deps {
	if len(deps) == 0 {
		return views.Deps{}
	}
	return deps[0]
}

// pump tells of changes of the sessions as the program does.
func (r *rig) pump(m *session.Manager) {
	for {
		select {
		case <-m.Changed():
			r.post(tui.SessionChanged{Rev: m.Rev()})
		case <-r.done:
			return
		}
		select {
		case <-time.After(33 * time.Millisecond):
		case <-r.done:
			return
		}
	}
}

func (r *rig) post(m tea.Msg) {
	select {
	case r.msgs <- m:
	case <-r.done:
	}
}

// spawn runs a command.
func (r *rig) spawn(c tea.Cmd) {
	if c != nil {
		go r.run(c)
	}
}

func (r *rig) run(c tea.Cmd) {
	switch m := c().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range m {
			r.spawn(c)
		}
	default:
		r.post(m)
	}
}

// send is one message up to the frame that shows it, and how long that took.
func (r *rig) send(m tea.Msg) time.Duration {
	var cmd tea.Cmd
	took := r.cost(func() {
		_, cmd = r.app.Update(m)
		r.app.View()
	})
	r.spawn(cmd)
	return took
}

// press presses keys one after the other and returns the time of the slowest. A command line (":hops") stands for what is typed to run it.
func (r *rig) press(keys ...string) (slowest time.Duration) {
	for _, k := range keys {
		if line, ok := strings.CutPrefix(k, ":"); ok && line != "" {
			slowest = max(slowest, r.press(":"), r.typed(line), r.press("enter"))
			continue
		}
		slowest = max(slowest, r.send(tui.PressOf(k)))
	}
	return slowest
}

// usual goes through keys n times, an odd number, and returns the time of the key that usually takes longest: the median of each
// counts, so that one of them that a busy machine held up does not.
func (r *rig) usual(n int, press func(key string) time.Duration, keys ...string) (slowest time.Duration) {
	took := make([][]time.Duration, len(keys))
	for range n {
		for i, key := range keys {
			took[i] = append(took[i], press(key))
		}
	}
	for _, all := range took {
		slices.Sort(all)
		slowest = max(slowest, all[n/2])
	}
	return slowest
}

// typed presses the keys of a text.
func (r *rig) typed(text string) (slowest time.Duration) {
	for _, c := range text {
		slowest = max(slowest, r.press(string(c)))
	}
	return slowest
}

// screen is what is drawn.
func (r *rig) screen() string { return ansi.Strip(r.app.View().Content) }

// until goes through messages until the screen shows a text, and returns how
// long that took and the slowest message on the way.
func (r *rig) until(text string) (took, slowest time.Duration) {
	r.t.Helper()
	start := time.Now()
	late := time.After(2 * time.Minute)
	for !strings.Contains(r.app.View().Content, text) && !strings.Contains(r.screen(), text) {
		select {
		case m := <-r.msgs:
			slowest = max(slowest, r.send(m))
		case <-late:
			r.t.Fatalf("%q was not drawn:\n%s", text, r.screen())
		}
	}
	return time.Since(start), slowest
}

// drain goes through the messages that are there already, and returns how long each took.
func (r *rig) drain() (took []time.Duration) {
	for {
		select {
		case m := <-r.msgs:
			took = append(took, r.send(m))
		case <-time.After(time.Millisecond):
			return took
		}
	}
}

// rest goes through messages until none came for a while.
func (r *rig) rest() {
	for {
		select {
		case m := <-r.msgs:
			r.send(m)
		case <-time.After(100 * time.Millisecond):
			return
		}
	}
}

// pasted is a paste.
func pasted(text string) tea.Msg { return tea.PasteMsg{Content: text} }
