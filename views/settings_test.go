package views_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/settings"
)

// mine is a config.yaml with remarks.
const mine = "# mine\ntheme: light # for the day\n\nlayout: {split: 30} # narrow\nredaction:\n  names: [X-Corp-*, pin]\n"

// set opens the settings on a file that says body; "" is no file. MCPHUD_IMAGES is set.
func set(t *testing.T, body string, opts ...tuitest.Option) (app *tuitest.App, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "config.yaml")
	if body != "" {
		require.NoError(t, os.WriteFile(file, []byte(body), 0o600))
	}
	return tuitest.Start(t, append([]tuitest.Option{tuitest.Views(views.All(views.Deps{Settings: settings.File{Path: file, Over: func(key string) (from, value string) {
		if key == "images" {
			return "$MCPHUD_IMAGES", "none"
		}
		return "", ""
	}}})...), tuitest.At("settings", nil), tuitest.Size(80, 24)}, opts...)...).View("settings").Idle(), file
}

// says is what a file says.
func says(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(b)
}

// onSetting puts the cursor on a setting.
func onSetting(app *tuitest.App, key string) *tuitest.App {
	app.Press("/").Type(key).Press("enter").Settle()
	return app.Idle()
}

// A setting says what it is and where that is from, and each kind is changed in its own way, at once and without touching the rest of the file.
func TestSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, file := set(t, mine)
		app.Pane("list").Has("light", "config.yaml:2", "30", "config.yaml:4", "default", "$MCPHUD_IMAGES")
		app.Pane("detail").Has("theme", "name of a file in themes", file+":2", "the terminal's background decides")

		onSetting(app, "mouse").Press("enter").Idle()
		app.Pane("list").Has("false", "config.yaml:7")
		assert.Equal(t, says(t, file), mine+"mouse: false\n")
		onSetting(app, "mouse").Press("ctrl+x").Idle()
		assert.Equal(t, says(t, file), mine)
		app.Pane("list").Has("true", "default")

		onSetting(app, "split").Press("enter").Prompt("layout.split: 30").Press("ctrl+u").Type("95").Press("enter")
		app.Whole().Has("must be a whole number from 20 to 80")
		app.Press("esc")
		onSetting(app, "split").Press("enter").Prompt("layout.split").Answer("40")
		app.Idle()
		assert.Contains(t, says(t, file), "layout: {split: 40} # narrow\n", "# mine\n", "# for the day\n")

		onSetting(app, "borders").Press("enter").Overlay("Layout.borders")
		app.Type("double").Press("enter").Idle()
		assert.Contains(t, says(t, file), "layout: {split: 40, borders: double} # narrow\n")

		onSetting(app, "redaction.names").Press("enter").Overlay("redaction.names").Has("add one", "take out X-Corp-*", "take out pin")
		app.Type("take out pin").Press("enter").Idle()
		assert.Contains(t, says(t, file), "names: [X-Corp-*]")
		app.Toast("holds from the next start on")
		onSetting(app, "redaction.names").Press("enter", "enter").Prompt("one more for redaction.names").Type("*").Press("enter")
		app.Whole().Has("must be")
		app.Press("esc")
	})
}

// What wins over the file is said, before a change and after it.
func TestSettingsThatSomethingWinsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, file := set(t, "images: sixel\n")
		onSetting(app, "images")
		app.Pane("list").Has("none", "$MCPHUD_IMAGES").HasNot("sixel")
		app.Pane("detail").Has("in the file", "sixel", "$MCPHUD_IMAGES wins over config.yaml")
		app.Press("enter").Overlay("Images")
		app.Type("kitty").Press("enter").Idle()
		assert.Equal(t, says(t, file), "images: kitty\n")
		app.Toast("$MCPHUD_IMAGES wins over that")
	})
}

// The cursor in the list of themes shows each, esc takes that back, enter keeps it; what a word has chosen before is then forgotten.
func TestSettingsTheme(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, file := set(t, "# mine\n", tuitest.Config(func(c *tui.Config) { c.PreferencesFile = filepath.Join(t.TempDir(), "preferences.json") }))
		app.Press(":theme").Idle()
		app.Pane("list").Has("light", "a key")
		app.Press("enter").Overlay("Theme").Has("contrast", "tritanopia")
		app.Press("down")
		assert.Equal(t, app.State().Theme, "contrast")
		app.Press("down")
		assert.Equal(t, app.State().Theme, "deuteranopia")
		app.Press("esc").NoOverlay()
		assert.Equal(t, app.State().Theme, "light")
		assert.Equal(t, says(t, file), "# mine\n")
		app.Press("enter", "down", "enter").NoOverlay().Idle()
		assert.Equal(t, says(t, file), "# mine\ntheme: contrast\n")
		assert.Equal(t, app.State().Theme, "contrast")
		app.Pane("list").Has("contrast", "config.yaml:2").HasNot("a key")
	})
}

// Probes are listed as the file says, a word that changed it comes first, and a change of the file after that.
func TestSettingsOfProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, file := set(t, "", tuitest.Size(120, 40))
		onSetting(app, "traffic.probes")
		app.Pane("list").Has("false", "default")
		app.Press(":").Type("traffic").Press("enter").View("traffic").Press(":").Type("probes").Press("enter")
		app.Press(":").Type("settings").Press("enter")
		onSetting(app.View("settings"), "traffic.probes")
		app.Pane("list").Has("on", "a key")
		app.Press("enter").Idle()
		assert.Contains(t, says(t, file), "probes: false")
		app.Pane("list").HasNot("a key")
		onSetting(app, "ask_first").Press("enter").Overlay("Ask_first").Has("destructive", "writing", "none")
		app.Type("writing").Press("enter").Idle()
		assert.Contains(t, says(t, file), "ask_first: writing")
	})
}

// A file that cannot be read or written is left as it is, and said; the editor mends it, and what it leaves is not lost where it cannot be read.
func TestSettingsOfBrokenFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, file := set(t, "theme: [\n", tuitest.Size(80, 40))
		app.Pane("list").Has("config.yaml cannot be read")
		app.Pane("detail").Has("config.yaml:1", "nothing is written until it can be read")
		app.Press("enter").Toast("nothing is written until it can be read")
		assert.Equal(t, says(t, file), "theme: [\n")
		app.Press("esc").Send(tui.Edited{View: "settings", Tag: "file", Text: "theme: {\n", Changed: true})
		app.Overlay("Throw away what you wrote?").Has("edit it again")
		app.Press("y").NoOverlay()
		assert.Equal(t, says(t, file), "theme: [\n")
		app.Send(tui.Edited{View: "settings", Tag: "file", Text: "theme: dark\nthme: x\n", Changed: true}).Idle()
		assert.Equal(t, says(t, file), "theme: dark\nthme: x\n")
		app.Pane("list").Has("unknown key")
		app.Pane("detail").Has("did you mean theme?")

		require.NoError(t, os.Remove(file))
		require.NoError(t, os.Symlink("nowhere", file))
		onSetting(app, "mouse").Press("enter").Toast("config.yaml was not changed")
	})
}

// Settings are a place like others in linear mode: a number changes one.
func TestSettingsLinear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "config.yaml")
		require.NoError(t, os.WriteFile(file, []byte(mine), 0o600))
		m := session.NewManager(session.Options{})
		runLinear(t, m, "settings", views.All(views.Deps{Settings: settings.File{Path: file}}), func(c *console) {
			out := c.enter("")
			assert.Contains(t, out, "Look  theme  light  config.yaml:2")
			c.enter(number(t, out, "mouse"))
			assert.Contains(t, c.enter(number(t, out, "layout.borders")), "rounded, square, heavy, double, ascii")
			c.enter("heavy")
			c.enter(number(t, out, "theme"))
			assert.Contains(t, c.enter("dark"), "dark  config.yaml:2")
		})
		require.NoError(t, m.Close())
		time.Sleep(time.Minute)
		assert.Contains(t, says(t, file), "theme: dark # for the day\n", "layout: {split: 30, borders: heavy} # narrow", "mouse: false\n")
	})
}

// Keys are pressed or typed; what another action has is refused by its name, and the file is written beside what it says.
func TestKeysScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app, file := set(t, "keys:\n  # as in vim\n  app.mouse: [f2]\n")
		app.Press(":keys").View("keys").Idle()
		app.Pane("list").Has("ctrl+p", "palette", "everywhere")
		onSetting(app, "mouse capture")
		app.Pane("list").Has("config.yaml:3")

		onSetting(app, "zoom").Press("enter").Overlay("Keys of zoom").Has("press another key", "type the keys", "no key")
		app.Press("enter").Overlay("Key for zoom")
		app.Press("j").Overlay("Key for zoom").Has("✗ move.down has it: down")
		app.Press("enter").Overlay("Key for zoom")
		app.Press("backspace", "d").Overlay("Key for zoom").Has("has it: ") // the shell's would be nothing on those screens
		app.Hints().HasNot("take it")
		app.Press("f11").Overlay("Key for zoom").Has("f11", "✓ free").HasNot("j f11") // in place of what is refused
		app.Press("backspace", "y", "x").Overlay("Key for zoom").Has("y x", "✓ free") // though y alone is refused
		app.Press("backspace", "f11").Overlay("Key for zoom").Has("f11", "✓ free")
		app.Press("enter").NoOverlay().Idle()
		assert.Equal(t, says(t, file), "keys:\n  # as in vim\n  app.mouse: [f2]\n  app.zoom: [f11]\n")

		onSetting(app, "zoom").Press("enter").Type("type").Press("enter").Prompt("keys of zoom").Press("ctrl+u").Type("shift+z").Press("enter")
		app.Whole().Has(`"shift+z" is not a key: write "Z"`)
		app.Press("ctrl+u").Type("Z, g z").Press("enter")
		app.Whole().Has("move.top has it")
		app.Press("ctrl+u").Type("Z, f11").Press("enter").Idle()
		assert.Contains(t, says(t, file), "  app.zoom: [Z, f11]\n")

		onSetting(app, "zoom").Press("ctrl+x").Idle()
		assert.Equal(t, says(t, file), "keys:\n  # as in vim\n  app.mouse: [f2]\n")
		onSetting(app, "zoom").Press("enter").Type("no key").Press("enter").Idle()
		assert.Contains(t, says(t, file), "  app.zoom: []\n")

		app.Press("esc").Idle().Press("esc").View("settings").Idle()
		onSetting(app, "keys").Pane("list").Has("2 actions with other keys")
		app.Press("enter").View("keys").Press("q").View("settings")
	})
}
