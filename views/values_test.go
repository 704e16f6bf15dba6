package views_test

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/mcphud/mcphud/agentsrv/basics"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// What was sent comes back in the form after a restart, from a file that only
// the user can read.
func TestValuesSurviveARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "values")
	start := func(t *testing.T) *tuitest.App {
		return tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("demo", basics.NewServer("")),
			tuitest.Views(views.All(views.Deps{Values: views.NewValues(dir)})...))
	}
	synctest.Test(t, func(t *testing.T) {
		app := start(t)
		app.View("tools").Some(tuitest.Contains("echo"))
		app.Press("/").Type("echo").Press("enter", "enter").Type("remember me").Press("ctrl+g")
		app.Pane("result").Has("remember me")
	})
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v; want one", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	synctest.Test(t, func(t *testing.T) {
		app := start(t)
		app.View("tools").Some(tuitest.Contains("echo"))
		app.Press("/").Type("echo").Press("enter", "enter")
		app.Pane("form").Has("remember me")
	})
}
