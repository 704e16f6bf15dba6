package views_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// The tests named TestE2E… drive the real screens against real servers: see
// session/test/peertest for what installs them.

// open starts the UI on a real server, connected, with its tools on the screen.
func open(t *testing.T, s config.Server, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	return start(t, append([]tuitest.Option{tuitest.Target(s), tuitest.At("tools", nil)}, opts...)...)
}

// start starts the UI for servers that take real time.
func start(t *testing.T, opts ...tuitest.Option) *tuitest.App {
	t.Helper()
	return tuitest.Start(t, append([]tuitest.Option{
		tuitest.Views(views.All(views.Deps{})...), tuitest.Size(140, 45),
		tuitest.Deadline(time.Minute), tuitest.Beside(),
		tuitest.Env("EDITOR", "false"), // a key that goes astray must not start a real editor
	}, opts...)...)
}

// leave goes back from a form, whose texts would swallow the number keys.
func leave(app *tuitest.App) *tuitest.App {
	for range 6 {
		if v := app.State().View; v != "call" && v != "prompt" && v != "template" {
			break
		}
		app.Press("esc")
	}
	return app
}

// pick goes to a screen and moves to the row that a filter leaves.
func pick(app *tuitest.App, key, screen, row string) *tuitest.App {
	leave(app).Press(key).View(screen)
	app.Press("/", "ctrl+u").Type(row).Press("enter")
	app.View(screen)
	app.Whole().Has(row)
	for range 10 { // a description may match as well
		if strings.HasSuffix(app.State().Crumbs, row) {
			break
		}
		app.Press("down")
	}
	return app
}

// form opens the form of a tool.
func form(app *tuitest.App, tool string) *tuitest.Part {
	pick(app, "2", "tools", tool).Press("enter").View("call")
	return app.Pane("form")
}

// wire is the journal's entries that f picks.
func wire(app *tuitest.App, f func(journal.Entry) bool) (out []journal.Entry) {
	for _, e := range app.Manager().Journal().Snapshot(0, nil) {
		if f(e) {
			out = append(out, e)
		}
	}
	return out
}

// body is the bytes of an entry.
func body(t *testing.T, app *tuitest.App, e journal.Entry) string {
	t.Helper()
	b, err := app.Manager().Journal().Body(e.Seq)
	require.NoError(t, err)
	return string(b)
}

// sentTo is the params of the last request of a method.
func sentTo(t *testing.T, app *tuitest.App, method string) string {
	t.Helper()
	es := wire(app, func(e journal.Entry) bool {
		return e.Dir == journal.Out && e.Method == method && e.Kind == journal.Request
	})
	if len(es) == 0 {
		t.Fatalf("no %s was sent", method)
	}
	return body(t, app, es[len(es)-1])
}

// only is the app's only server.
func only(app *tuitest.App) *session.Session { return app.Manager().Servers()[0] }

// state waits until the app's only server is in a state.
func state(app *tuitest.App, want session.State) *tuitest.App {
	return app.Eventually(func() string {
		if st := only(app).Status(); st.State != want {
			return fmt.Sprintf("the server is %s (%v), want %s", st.State, st.Err, want)
		}
		return ""
	})
}

// intact checks that the journal can be read from its first entry to its last
// and that every answer is linked to its request.
func intact(t *testing.T, app *tuitest.App) {
	t.Helper()
	j := app.Manager().Journal()
	all := j.Snapshot(0, nil)
	if len(all) == 0 {
		t.Error("the journal is empty")
	}
	for i, e := range all {
		if e.Seq != all[0].Seq+uint64(i) {
			t.Errorf("entry %d has number %d", i, e.Seq)
		}
		b, err := j.Body(e.Seq)
		if err != nil || len(b) != e.Size {
			t.Errorf("entry %d (%v %s) has %d of %d bytes: %v", e.Seq, e.Kind, e.Method, len(b), e.Size, err)
		}
		flagged := e.Note != "" // an answer that nobody waits for says so
		if (e.Kind == journal.Response || e.Kind == journal.ErrorResponse) && !flagged {
			if p, ok := j.Get(e.Peer); !ok || p.Peer != e.Seq || p.ID != e.ID {
				t.Errorf("entry %d is linked to %d, which is linked to %d", e.Seq, e.Peer, p.Peer)
			}
		}
		if e.Dir == journal.Out && e.Kind == journal.Request && !bytes.Contains(b, []byte(e.ID)) {
			t.Errorf("entry %d has id %s, which is not in %s", e.Seq, e.ID, b)
		}
	}
}

// shows waits for texts in a pane, which may be wrapped at any blank.
func shows(app *tuitest.App, pane string, texts ...string) *tuitest.App {
	return app.Eventually(func() string {
		r, ok := app.State().Panes[pane]
		if !ok {
			return "there is no pane " + pane
		}
		var words []string
		for i, row := range strings.Split(app.Screen(), "\n") {
			if i >= r.Y-1 && i <= r.Y+r.H { // with its frame
				words = append(words, strings.Fields(ansi.Cut(row, r.X, r.X+r.W))...)
			}
		}
		got := strings.Join(words, " ")
		for _, want := range texts {
			if !strings.Contains(got, want) {
				return fmt.Sprintf("the pane %s does not say %q", pane, want)
			}
		}
		return ""
	})
}

// halves counts half blocks, which pictures are drawn with.
func halves(text string) int { return strings.Count(text, "▀") }
