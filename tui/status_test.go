package tui_test

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// The terminal is told that a call runs and that it is over until somebody presses a key, and nothing once the program has ended.
func TestProgramStatus(t *testing.T) {
	var states []tea.ProgramState
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Press("enter")
		f.block <- struct{}{}
		app.Idle().Press("j")
		app.Press("enter", "x").Idle() // what the user cancels is known to him
		app.Press("q")
		require.NoError(t, app.Ended())
	}, tuitest.Config(func(c *tui.Config) {
		c.Frames = func(v tea.View) {
			s := tea.ProgramState("none")
			if v.ProgramStatus != nil {
				s = v.ProgramStatus.State
			}
			if len(states) == 0 || states[len(states)-1] != s {
				states = append(states, s)
			}
		}
	}))
	want := []tea.ProgramState{"idle", "working", "done", "idle", "working", "idle", "none"}
	if !slices.Equal(states, want) {
		t.Errorf("%q, want %q", states, want)
	}
}
