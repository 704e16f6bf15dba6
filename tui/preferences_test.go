package tui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// What the user arranged is as it was in the next run, from a file that only the user can read; one that is broken is as
// good as none.
func TestPreferencesSurviveARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state", "preferences.json")
	keep := tuitest.Config(func(c *tui.Config) { c.PreferencesFile = file })
	var list, detail tui.Rect
	in(t, func(t *testing.T, app *tuitest.App, _ *fruits) {
		before := app.State().Panes["list"]
		app.Press("\\", ">", ">")
		s := app.State()
		list, detail = s.Panes["list"], s.Panes["detail"]
		if detail.Y <= list.Y || list.W <= before.W {
			t.Fatalf("the panes are at %v and %v", list, detail)
		}
	}, keep)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file is %v, %v; want mode 0600", info, err)
	}
	in(t, func(t *testing.T, app *tuitest.App, _ *fruits) {
		if s := app.State(); s.Panes["list"] != list || s.Panes["detail"] != detail {
			t.Errorf("after a restart the panes are at %v and %v, want %v and %v", s.Panes["list"], s.Panes["detail"], list, detail)
		}
	}, keep)
	in(t, func(t *testing.T, app *tuitest.App, _ *fruits) { // back where it is at this size: at others it is where it is by itself, too
		if app.Press("\\").Resize(80, 24).Idle(); app.State().Panes["detail"].Y != app.State().Panes["list"].Y {
			t.Errorf("flipped twice, the detail is at %v", app.State().Panes["detail"])
		}
		if b, err := os.ReadFile(file); err != nil || strings.Contains(string(b), `"beside"`) {
			t.Errorf("the file is %s, %v", b, err)
		}
	}, keep)
	for _, broken := range []string{"", "null", "[1]", `{"second.fruits":7}`, `{"beside.fruits":"1e9","second.fruits":"x"}`} {
		require.NoError(t, os.WriteFile(file, []byte(broken), 0o600))
		in(t, func(t *testing.T, app *tuitest.App, _ *fruits) {
			if s := app.State(); s.Panes["detail"].Y != s.Panes["list"].Y {
				t.Errorf("%s put the detail at %v", broken, s.Panes["detail"])
			}
			app.Press("\\")
			if s := app.State(); s.Panes["detail"].Y <= s.Panes["list"].Y {
				t.Errorf("after %s the detail stays at %v", broken, s.Panes["detail"])
			}
		}, keep)
	}
}
