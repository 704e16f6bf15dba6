package tui_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/themes"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/tuitest"
)

func night() themes.Palette {
	p := themes.Default(true)
	p.Name, p.Title = "night", "Night"
	return p
}

// What the file says holds from the next moment on; a file that is broken leaves everything as it was, and is reported.
func TestSettingsChangeWhileItRuns(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, f *fruits) {
		app.Send(tui.Reload{Settings: &tui.Settings{
			Theme: "night", Palettes: []themes.Palette{night()}, Borders: paint.Double, Split: 60, Second: tui.Below, NoMouse: true,
			Keys: map[string][]string{"fruits.peel": {}, "fruits.other": {"P"}},
		}})
		s := app.State()
		if s.Theme != "night" || s.Panes["detail"].Y <= s.Panes["list"].Y || s.Panes["list"].H <= s.Panes["detail"].H {
			t.Errorf("theme %s, panes %v", s.Theme, s.Panes)
		}
		app.Whole().Has("═", "settings read again")
		app.Press("P").View("other")
		app.Press("esc").View("fruits")
		app.Send(tui.Reload{Note: "config.yaml:3:1: unknown key"})
		app.Toast("config.yaml:3:1: unknown key")
		if s := app.State(); s.Theme != "night" {
			t.Errorf("a broken file changed the theme to %s", s.Theme)
		}
		app.Send(tui.Reload{Settings: &tui.Settings{}})
		if s := app.State(); s.Theme != "dark" || s.Panes["detail"].Y != s.Panes["list"].Y {
			t.Errorf("without settings the theme is %s, panes %v", s.Theme, s.Panes)
		}
		app.Press("o").View("other")
	})
}

// The first key of a chord waits as long as the settings say.
func TestWhichKeyDelay(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, _ *fruits) {
		if app.Press("y"); len(app.State().Overlays) != 0 {
			t.Fatal("the list is there at once")
		}
		app.Press("esc").Send(tui.Reload{Settings: &tui.Settings{WhichKey: -1}})
		app.Press("y").Overlay("y …")
		app.Press("esc").Send(tui.Reload{Settings: &tui.Settings{WhichKey: 3 * time.Second}})
		if app.Press("y").Sleep(2 * time.Second); len(app.State().Overlays) != 0 {
			t.Fatal("the list is there too soon")
		}
		app.Sleep(2 * time.Second).Overlay("y …")
	})
}

// Theme, zoom, mouse and borders that keys have changed are there after a restart, and win over the file until it says something else.
func TestKeysWinUntilTheFileChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "preferences.json")
	set := func(s tui.Settings) tuitest.Option {
		return tuitest.Config(func(c *tui.Config) { c.PreferencesFile, c.Settings = file, s })
	}
	light := tui.Settings{Theme: "light", Split: 30, Given: map[string]string{"theme": "light", "layout.split": "30"}}
	var list tui.Rect
	in(t, func(t *testing.T, app *tuitest.App, _ *fruits) {
		if s := app.State(); s.Theme != "light" || s.Panes["list"].W >= 40 {
			t.Fatalf("it starts with %s, %v", s.Theme, s.Panes["list"])
		}
		app.Press(":theme", ">", ">", "M")
		s := app.State()
		if s.Theme != "contrast" {
			t.Fatalf("the theme after light is %s", s.Theme)
		}
		list = s.Panes["list"]
		app.Press("z")
	}, set(light))
	in(t, func(t *testing.T, app *tuitest.App, _ *fruits) {
		if s := app.State(); s.Theme != "contrast" || !s.Panes["detail"].Empty() {
			t.Errorf("after a restart: %s, %v", s.Theme, s.Panes)
		}
		app.Whole().Has("mouse off")
		if s := app.Press("z").State(); s.Panes["list"] != list {
			t.Errorf("after a restart the list is at %v, want %v", s.Panes["list"], list)
		}
	}, set(light))
	dark := light
	dark.Theme, dark.Given = "dark", map[string]string{"theme": "dark", "layout.split": "30"}
	in(t, func(t *testing.T, app *tuitest.App, _ *fruits) {
		if s := app.State(); s.Theme != "dark" || s.Panes["list"] != list {
			t.Errorf("after the file changed its theme: %s, %v", s.Theme, s.Panes["list"])
		}
		app.Press("M") // for the next run
	}, set(dark))
	in(t, func(t *testing.T, app *tuitest.App, _ *fruits) {
		assert.Equalf(t, app.State().Theme, "dark", "a choice came back")
		assert.NotContains(t, app.Screen(), "mouse off")
	}, set(dark))
}

func TestFitKeys(t *testing.T) {
	views := []*tui.Screen{newFruits(1).screen()}
	for _, c := range []struct {
		list []tui.Binding
		keep []string
		why  string
	}{
		{[]tui.Binding{{"fruits.peel", []string{"ctrl+y", "f5", "y q"}}}, []string{"fruits.peel"}, ""},
		{[]tui.Binding{{"fruits.peel", nil}}, []string{"fruits.peel"}, ""},
		{[]tui.Binding{{"fruits.peel", []string{"F"}}, {"fruits.fail", []string{"p"}}}, []string{"fruits.peel", "fruits.fail"}, ""},
		{[]tui.Binding{{"fruit.peel", []string{"F"}}}, nil, "is not an action; did you mean fruits.peel?"},
		{[]tui.Binding{{"fruits.peel", []string{"F"}}}, nil, "screen fruits: fruits.fail (F) and fruits.peel (F) clash"},
		{[]tui.Binding{{"fruits.peel", []string{"m"}}, {"fruits.fail", []string{"m"}}}, []string{"fruits.peel"}, "fruits.fail (m) and fruits.peel (m) clash"},
		{[]tui.Binding{{"fruits.peel", []string{"M"}}}, nil, "the key M means the same on every screen"},
		{[]tui.Binding{{"app.zoom", []string{"ctrl+b"}}}, nil, "terminals and multiplexers keep the key ctrl+b"},
		{[]tui.Binding{{"app.zoom", []string{"j"}}}, nil, "app.zoom (j) and move.down (j) clash"},
		{[]tui.Binding{{"app.zoom", []string{"j"}}, {"move.down", []string{"down"}}}, []string{"app.zoom", "move.down"}, ""},
		{[]tui.Binding{{"app.zoom", []string{"shift+z"}}}, nil, `"shift+z" is not a key: write "Z"`},
		{[]tui.Binding{{"app.zoom", []string{"pagedown"}}}, nil, `"pagedown" is not a key; did you mean pgdown?`},
		{[]tui.Binding{{"app.zoom", []string{"<C-z>"}}}, nil, `"<C-z>" is not a key`},
		{[]tui.Binding{{"app.zoom", []string{"cmd+z"}}}, nil, `the keys before + are ctrl, alt`},
		{[]tui.Binding{{"app.zoom", []string{"a b c"}}}, nil, `"a b c" is not a key`},
		{[]tui.Binding{{"app.zoom", []string{""}}}, nil, `"" is not a key`},
	} {
		keys, misfits := tui.FitKeys(views, c.list)
		why := ""
		if len(misfits) > 0 {
			why = misfits[0].Why
		}
		if (c.why == "") != (len(misfits) == 0) || !strings.Contains(why, c.why) {
			t.Errorf("%v: %q, want %q", c.list, why, c.why)
		}
		for _, id := range c.keep {
			if _, ok := keys[id]; !ok {
				t.Errorf("%v: %s is lost", c.list, id)
			}
		}
		if len(keys) != len(c.keep) {
			t.Errorf("%v: %v", c.list, keys)
		}
	}
}

// A key that no longer moves does what it was given to; the one that moves now does.
func TestMoveKeys(t *testing.T) {
	in(t, func(t *testing.T, app *tuitest.App, _ *fruits) {
		at := app.State().Selected["list"]
		app.Press("j")
		if s := app.State(); s.Selected["list"] != at || !s.Panes["detail"].Empty() {
			t.Errorf("j moved to %d, or did not zoom: %v", s.Selected["list"], s.Panes)
		}
		if s := app.Press("J").State(); s.Selected["list"] != at+1 {
			t.Errorf("J moved to %d", s.Selected["list"])
		}
	}, tuitest.Config(func(c *tui.Config) {
		c.Settings.Keys = map[string][]string{"move.down": {"down", "J"}, "app.zoom": {"j"}}
	}))
}
