package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/tui"
)

// odd is a screen whose actions a test chooses.
type odd struct {
	other
	info    tui.Info
	actions []tui.Action
}

func (o *odd) Info() tui.Info        { return o.info }
func (o *odd) Actions() []tui.Action { return o.actions }

func TestCheckViews(t *testing.T) {
	run := func(*tui.Ctx) tea.Cmd { return nil }
	good := tui.Action{ID: "odd.a", Keys: []string{"a"}, Title: "a", Help: "A.", Group: "G", Run: run}
	with := func(f func(*tui.Action)) tui.Action {
		a := good
		f(&a)
		return a
	}
	info := tui.Info{ID: "odd", Title: "Odd", Panes: []tui.PaneSpec{{ID: "one"}, {ID: "two"}}}
	for _, c := range []struct {
		name    string
		info    tui.Info
		actions []tui.Action
		want    string // "" means sound
	}{
		{"sound", info, []tui.Action{good}, ""},
		{"same key in different panes", info, []tui.Action{
			with(func(a *tui.Action) { a.Pane = "one" }),
			with(func(a *tui.Action) { a.ID, a.Pane = "odd.b", "two" }),
		}, ""},
		{"same key twice", info, []tui.Action{good, with(func(a *tui.Action) { a.ID = "odd.b" })}, "odd.a (a) and odd.b (a) clash"},
		{"key in a pane and everywhere", info, []tui.Action{good, with(func(a *tui.Action) { a.ID, a.Pane = "odd.b", "two" })}, "clash"},
		{"key that begins a chord", info, []tui.Action{good, with(func(a *tui.Action) { a.ID, a.Keys = "odd.b", []string{"a b"} })}, "clash"},
		{"same id", info, []tui.Action{good, good}, `two actions have the id "odd.a"`},
		{"no help", info, []tui.Action{with(func(a *tui.Action) { a.Help = "" })}, "needs an id, title, help"},
		{"foreign id", info, []tui.Action{with(func(a *tui.Action) { a.ID = "a" })}, `start with "odd."`},
		{"unknown pane", info, []tui.Action{with(func(a *tui.Action) { a.Pane = "three" })}, `no pane "three"`},
		{"the shell's key", info, []tui.Action{with(func(a *tui.Action) { a.Keys = []string{"?"} })}, "means the same on every screen"},
		{"the terminal's key", info, []tui.Action{with(func(a *tui.Action) { a.Keys = []string{"ctrl+m"} })}, "keep the key ctrl+m"},
		{"no panes", tui.Info{ID: "odd", Title: "Odd"}, nil, "one or two panes"},
		{"a name twice", tui.Info{ID: "odd", Title: "Odd", Aliases: []string{"odd"}, Panes: info.Panes}, nil, `both called "odd"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := tui.CheckViews([]tui.View{&odd{info: c.info, actions: c.actions}})
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
	if err := tui.CheckViews(nil); err != nil {
		t.Error(err)
	}
	table := tui.KeyTable([]tui.View{newFruits(1)})
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
	_, err := tui.NewApp(t.Context(), tui.Config{Views: []tui.View{newFruits(1)}, Settings: tui.Settings{Keys: map[string][]string{"nope": {"a"}}}})
	if err == nil || !strings.Contains(err.Error(), `"nope", which is not a valid action`) {
		t.Errorf("an unknown action in the bindings gives %v", err)
	}
	_, err = tui.NewApp(t.Context(), tui.Config{Views: []tui.View{newFruits(1)}, Settings: tui.Settings{Keys: map[string][]string{"fruits.bin": {"F"}}}})
	if err == nil || !strings.Contains(err.Error(), "clash") {
		t.Errorf("a clash in the bindings gives %v", err)
	}
}
