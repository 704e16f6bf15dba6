package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
)

func TestCheckViews(t *testing.T) {
	run := func(*tui.Ctx) tea.Cmd { return nil }
	good := tui.Action{ID: "odd.a", Keys: []string{"a"}, Title: "a", Help: "A.", Group: "G", Run: run}
	with := func(f func(*tui.Action)) tui.Action {
		a := good
		f(&a)
		return a
	}
	built := func(f func(*tui.Screen)) tui.Screen {
		s := *(&other{}).screen()
		s.ID, s.Title, s.Panes = "odd", "Odd", []tui.PaneSpec{{ID: "one"}, {ID: "two"}}
		f(&s)
		return s
	}
	odd := built(func(*tui.Screen) {})
	for _, c := range []struct {
		name    string
		screen  tui.Screen
		actions []tui.Action
		want    string // "" means sound
	}{
		{"sound", odd, []tui.Action{good}, ""},
		{"same key in different panes", odd, []tui.Action{
			with(func(a *tui.Action) { a.Pane = "one" }),
			with(func(a *tui.Action) { a.ID, a.Pane = "odd.b", "two" }),
		}, ""},
		{"same key twice", odd, []tui.Action{good, with(func(a *tui.Action) { a.ID = "odd.b" })}, "odd.a (a) and odd.b (a) clash"},
		{"key in a pane and everywhere", odd, []tui.Action{good, with(func(a *tui.Action) { a.ID, a.Pane = "odd.b", "two" })}, "clash"},
		{"key that begins a chord", odd, []tui.Action{good, with(func(a *tui.Action) { a.ID, a.Keys = "odd.b", []string{"a b"} })}, "clash"},
		{"same id", odd, []tui.Action{good, good}, `two actions have the id "odd.a"`},
		{"no help", odd, []tui.Action{with(func(a *tui.Action) { a.Help = "" })}, "needs an id, title, help"},
		{"foreign id", odd, []tui.Action{with(func(a *tui.Action) { a.ID = "a" })}, `start with "odd."`},
		{"unknown pane", odd, []tui.Action{with(func(a *tui.Action) { a.Pane = "three" })}, `no pane "three"`},
		{"the shell's key", odd, []tui.Action{with(func(a *tui.Action) { a.Keys = []string{"?"} })}, "means the same on every screen"},
		{"the terminal's key", odd, []tui.Action{with(func(a *tui.Action) { a.Keys = []string{"ctrl+m"} })}, "keep the key ctrl+m"},
		{"no panes", built(func(s *tui.Screen) { s.Panes = nil }), nil, "one to three panes"},
		{"a name twice", built(func(s *tui.Screen) { s.Aliases = []string{"odd"} }), nil, `both called "odd"`},
		{"no text", built(func(s *tui.Screen) { s.Plain = nil }), nil, "Handle, Draw, and Page or Plain"},
		{"half a filter", built(func(s *tui.Screen) { s.CheckFilter = func(*tui.Ctx, string) *tui.FilterError { return nil } }), nil, "CheckFilter and CompleteFilter"},
		{"half a shape", built(func(s *tui.Screen) { s.CopyShapes = func(*tui.Ctx) []string { return nil } }), nil, "CopyShapes and CopyShape"},
		{"a third pane always", built(func(s *tui.Screen) { s.Panes = []tui.PaneSpec{{ID: "one"}, {ID: "two"}, {ID: "three"}} }), nil, "a third pane and Third"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.screen.Actions = func() []tui.Action { return c.actions }
			err := tui.CheckViews([]*tui.Screen{&c.screen})
			switch {
			case c.want == "" && err != nil:
				t.Errorf("CheckViews: %v, want nothing", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("CheckViews: %v, want %q", err, c.want)
			}
		})
	}
}

// The shell's own actions are sound, and each has a line in the key table.
func TestShellActions(t *testing.T) {
	assert.NoError(t, tui.CheckViews(nil))
	table := tui.KeyTable([]*tui.Screen{newFruits(1).screen()})
	scopes := map[string]int{}
	for _, k := range table {
		scopes[k.Scope]++
		if k.Help == "" || k.ID == "" {
			t.Errorf("the key table has the empty line %+v", k)
		}
	}
	if scopes["everywhere"] < 20 || scopes["Fruits"] < 5 {
		t.Errorf("the key table has %v lines", scopes)
	}
}

func TestKeyBindings(t *testing.T) {
	_, err := tui.NewApp(t.Context(), tui.Config{Views: []*tui.Screen{newFruits(1).screen()}, Settings: tui.Settings{Keys: map[string][]string{"nope": {"a"}}}})
	assert.ErrorContains(t, err, `"nope", which is not a valid action`)
	_, err = tui.NewApp(t.Context(), tui.Config{Views: []*tui.Screen{newFruits(1).screen()}, Settings: tui.Settings{Keys: map[string][]string{"fruits.bin": {"F"}}}})
	assert.ErrorContains(t, err, "clash")
}
