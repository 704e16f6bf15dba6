package views_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// globalKeys are keys that mean something on every screen.
var globalKeys = []string{"?", "f1", "ctrl+p", ":", "/", "i", "f9", "M", "q", "esc", "1", "2", "3", "4", "5", "6", "7", "8", "enter", "tab"}

// where keys go: the screen, its pane, what is open over it, and the prompt.
func (r *rig) where() (at string, ops int) {
	r.app.Update(tui.Probe{Do: func(s tui.State) {
		at = fmt.Sprintf("%s/%s %q prompt %q", s.View, s.Focus, s.Overlays, s.Prompt)
		ops = len(s.Ops)
	}})
	return at, ops
}

// settle goes through messages until none comes for a moment.
func (r *rig) settle() {
	for {
		select {
		case m := <-r.msgs:
			r.send(m)
		case <-time.After(3 * time.Millisecond):
			return
		}
	}
}

// What a key opens stands when the next key is read, be it of the same read: on every screen, after every key, what has the keys in the
// update that saw the key is what has them after all that the key led to. So every key behind it goes where it was aimed.
func TestKeysAreForWhatTheKeyBeforeOpened(t *testing.T) {
	opened := 0
	for n, screen := range views.All(views.Deps{}) {
		if (racing || !budget.All()) && n%4 != 1 { // a sample
			continue
		}
		t.Run(screen.ID, func(t *testing.T) {
			r := newRig(t, faketest.Stdio(t, behave.Good), "tools")
			r.until("echo")
			keys := slices.Clone(globalKeys)
			if screen.Actions != nil {
				for _, a := range screen.Actions() {
					keys = append(append(keys, a.Keys...), a.Verb.Keys()...)
				}
			}
			slices.Sort(keys)
			for _, key := range slices.Compact(keys) {
				if strings.Contains(key, " ") { // a chord is two keys, and its menu comes late by design
					continue
				}
				r.send(tui.Navigate{View: screen.ID})
				r.settle()
				before, busy := r.where()
				_, cmd := r.app.Update(tui.PressOf(key))
				at, ops := r.where()
				r.spawn(cmd)
				r.settle()
				after, _ := r.where()
				if at != before {
					opened++
				}
				if at != after && ops == busy { // what a call leads to comes when it is over
					t.Errorf("%s: the key behind it goes to %s, and a moment later to %s", key, at, after)
				}
				for range 4 { // close what it opened
					if at, _ := r.where(); strings.Contains(at, `[] prompt ""`) {
						break
					}
					r.send(tui.PressOf("esc"))
					r.settle()
				}
			}
		})
	}
	if opened < 20 {
		t.Errorf("%d keys opened something", opened)
	}
}

// What is typed while a server starts is for the tool that enter asks for: it waits for the list, and so do the keys behind it.
func TestKeysWaitForTheListTheyAreAbout(t *testing.T) {
	t.Parallel()
	starts := func(name string, f func(app *tuitest.App, begin func())) {
		t.Run(name, func(t *testing.T) {
			gate := filepath.Join(t.TempDir(), "gate")
			app := starting(t, shellServer(t, `until [ -e '`+gate+`' ]; do sleep 0.05; done; exec "$0" "$@"`))
			shows(app, "list", "Starting slow…")
			f(app, func() {
				require.NoError(t, os.WriteFile(gate, nil, 0o600))
				state(app, session.Connected)
			})
		})
	}
	starts("a tool", func(app *tuitest.App, begin func()) {
		app.Press("/").Type("echo").Press("enter").Burst("enter", "z", "o", "e", "q", "d")
		app.View("tools").Toast("goes on once the tools are there; esc gives up")
		begin()
		shows(app.View("call"), "form", "echo", "zoeqd")
	})
	starts("given up", func(app *tuitest.App, begin func()) {
		app.Press("enter").Press("z").Press("esc").Toast("given up")
		begin()
		shows(app.View("tools"), "list", "echo")
	})
	starts("nothing found", func(app *tuitest.App, begin func()) { // so the keys are for nothing
		app.Press("/").Type("nosuchtool").Press("enter").Burst("enter", "q", "d")
		begin()
		app.View("tools").Toast("what was typed meanwhile is left out (2)")
	})
	starts("nothing to edit", func(app *tuitest.App, begin func()) {
		app.Press("e").Toast("there is nothing to edit yet")
		begin()
	})
}
