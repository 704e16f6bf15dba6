package views_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

const changelog = "# Changelog\n\n## Unreleased\n\n- later\n\n## v0.3.0\n\n- forms **grow**\n\n## v0.2.0\n\n- servers start\n\n## v0.1.0\n\n- it exists\n"

// upgraded starts a version, with the preferences of the runs before.
func upgraded(t *testing.T, file, version string, f func(*tuitest.App)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(tuitest.Start(t, tuitest.Views(views.All(views.Deps{Release: views.Release{Version: version, Changelog: changelog}})...), tuitest.Size(80, 24),
			tuitest.Config(func(c *tui.Config) { c.PreferencesFile, c.Version = file, version })))
	})
}

// After an upgrade one line says so, once, with the key that shows what changed since.
func TestWhatIsNew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "preferences.json")
	quiet := func(a *tuitest.App) { a.Whole().HasNot("what is new") }
	upgraded(t, file, "v0.1.0", quiet) // nothing is new to who runs it for the first time
	upgraded(t, file, "devel", quiet)
	upgraded(t, file, "v0.3.1-0.20261123015300-c4a51b43f5fa", quiet)
	upgraded(t, file, "v0.3.0", func(a *tuitest.App) {
		a.Whole().Has("mcphud is now v0.3.0: :news shows what is new")
		a.Press(":news").View("whatsnew").Pane("text").Has("v0.3.0", "forms grow", "v0.2.0", "servers start").HasNot("it exists", "later")
		a.Pane("text").HasNot("**")
		a.Press("q").View("servers").Sleep(time.Minute).Whole().HasNot("what is new")
	})
	upgraded(t, file, "v0.3.0", func(a *tuitest.App) {
		quiet(a)
		a.Press(":").Type("whatsnew").Press("enter").View("whatsnew").Pane("text").Has("servers start").HasNot("it exists")
	})
	upgraded(t, file, "v0.2.0", quiet) // an older one again
	require.NoError(t, os.WriteFile(file, []byte(`{"version":"\u001b[31m"}`), 0o600))
	upgraded(t, file, "v0.3.0", func(a *tuitest.App) {
		quiet(a)
		a.Press(":").Type("changes").Press("enter").View("whatsnew").Pane("text").Has("later", "it exists")
	})
}
