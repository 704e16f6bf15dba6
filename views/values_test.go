package views_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// What was sent comes back in the form after a restart, from a file that only
// the user can read.
func TestValuesSurviveARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "values")
	start := func(t *testing.T) *tuitest.App {
		return tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("demo", basics.NewServer("")),
			tuitest.Views(views.All(views.Deps{Inputs: inputs.New(dir)})...))
	}
	synctest.Test(t, func(t *testing.T) {
		app := start(t)
		app.View("tools").Pane("list").Some(tuitest.Contains("echo"))
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
		app.View("tools").Pane("list").Some(tuitest.Contains("echo"))
		app.Press("/").Type("echo").Press("enter", "enter")
		app.Pane("form").Has("remember me")
	})
}

// The values are written after the call: its time has no disk in it.
func TestValuesAreKeptAfterTheCall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "values")
	during := -1
	count := func() int {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		assert.NoError(t, err)
		return len(files)
	}
	srv := server.NewMCPServer("s", "1")
	srv.AddTool(mcp.NewTool("look", mcp.WithString("word"), mcp.WithDestructiveHintAnnotation(false)), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		during = count()
		return mcp.NewToolResultText("seen"), nil
	})
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("demo", srv),
			tuitest.Views(views.All(views.Deps{Inputs: inputs.New(dir)})...))
		app.View("tools").Pane("list").Some(tuitest.Contains("look"))
		app.Press("enter").Type("hello").Press("ctrl+g")
		app.Pane("result").Has("seen")
	})
	if during != 0 || count() != 1 {
		t.Errorf("%d files while the tool ran and %d after it, want 0 and 1", during, count())
	}
}
