package views_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session/config/inputs"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// openEcho starts the program and opens the form of echo.
func openEcho(t *testing.T, dir string) *tuitest.App {
	app := tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("demo", basics.NewServer("")),
		tuitest.Views(views.All(views.Deps{Inputs: inputs.New(dir)})...))
	app.View("tools").Pane("list").Some(tuitest.Contains("echo"))
	app.Press("/").Type("echo").Press("enter", "enter")
	app.View("call")
	return app
}

// q goes from a form to its list, and what was typed is there again: on the way back, and in the next run.
func TestLeavingAFormLosesNothing(t *testing.T) {
	for _, name := range []string{"q", "ctrl+c"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "values")
			synctest.Test(t, func(t *testing.T) {
				app := openEcho(t, dir)
				app.Type("half a thought")
				app.Press("tab") // to the result: letters are commands here
				if name == "q" {
					app.Press("q").View("tools").Pane("list").Focused()
					app.Press("enter").View("call").Pane("form").Has("half a thought")
					app.Press("tab", "q").View("tools")
				} else {
					app.Press("ctrl+c", "ctrl+c")
					assert.NoError(t, app.Ended())
				}
			})
			synctest.Test(t, func(t *testing.T) {
				app := openEcho(t, dir)
				app.Pane("form").Has("half a thought")
				app.Whole().Has("typed ", "clears")
			})
		})
	}
}

// A crash loses at most what was typed in the last half second.
func TestDraftsReachTheDiskWhileTyping(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "values")
	synctest.Test(t, func(t *testing.T) {
		app := openEcho(t, dir)
		app.Type("kept")
		app.Sleep(time.Second)
		app.Press("end")
		files, err := filepath.Glob(filepath.Join(dir, "*.draft"))
		if err != nil || len(files) != 1 {
			t.Fatalf("drafts %v, %v; want one", files, err)
		}
		if b, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(b), `"kept"`) {
			t.Errorf("the draft is %s, %v", b, err)
		}
		if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
		}
		app.Press("ctrl+g")
		app.Pane("result").Has("kept")
		if files, _ := filepath.Glob(filepath.Join(dir, "*.draft")); len(files) != 0 {
			t.Errorf("the draft %v outlives what was sent", files)
		}
	})
}

// JSON that was not finished comes back as it was typed.
func TestUnfinishedJSONSurvivesARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "values")
	synctest.Test(t, func(t *testing.T) {
		app := openEcho(t, dir)
		app.Press("ctrl+r", "ctrl+end").Type(`,"x":`)
		app.Sleep(time.Second)
		app.Pane("form").Has(`,"x":`)
	})
	synctest.Test(t, func(t *testing.T) {
		openEcho(t, dir).Pane("form").Has(`,"x":`)
	})
}

// What an earlier run sent is marked: the first key replaces it, a motion keeps it, and it can be sent as it is.
func TestValuesOfAnEarlierRunAreReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "values")
	sent := func(t *testing.T, keys []string, typed string) string {
		out := ""
		synctest.Test(t, func(t *testing.T) {
			app := openEcho(t, dir)
			if len(keys) > 0 || typed != "" {
				app.Press(keys...)
				app.Type(typed)
			}
			app.Press("ctrl+g")
			app.Whole().Has("Result ✓")
			out = app.Pane("result").Text()
		})
		return out
	}
	sent(t, nil, "first")
	assert.Contains(t, sent(t, nil, ""), "first")
	if got := sent(t, nil, "second"); !strings.Contains(got, "second") || strings.Contains(got, "first") {
		t.Errorf("typing sent\n%s", got)
	}
	assert.Contains(t, sent(t, []string{"right"}, " third"), "second third")
	synctest.Test(t, func(t *testing.T) {
		app := openEcho(t, dir)
		app.Whole().Has("last used ", "ctrl+y clears")
		app.Resize(40, 12).Whole().Has("─ last used ").HasNot("clears") // what goes first is the hint
		app.Resize(80, 24)
		app.Press("ctrl+y").Pane("form").HasNot("second third")
	})
	synctest.Test(t, func(t *testing.T) {
		openEcho(t, dir).Pane("form").HasNot("second third")
	})
}

// Files that are broken are as good as none.
func TestBrokenValuesAreIgnored(t *testing.T) {
	for _, broken := range []string{"", "{", "\x00\xff", `{"value":{"message":"x"`, `[`, `{"text":7`, strings.Repeat("[", 100000)} {
		dir := filepath.Join(t.TempDir(), "values")
		synctest.Test(t, func(t *testing.T) { openEcho(t, dir).Type("x").Press("ctrl+g").Whole().Has("Result ✓") })
		files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		if len(files) != 1 {
			t.Fatal(files)
		}
		for _, f := range []string{files[0], strings.TrimSuffix(files[0], ".json") + ".draft"} {
			require.NoError(t, os.WriteFile(f, []byte(broken), 0o600))
		}
		synctest.Test(t, func(t *testing.T) {
			app := openEcho(t, dir)
			app.Whole().HasNot("clears").HasNot("not valid JSON")
			app.Type("new").Press("ctrl+g").Pane("result").Has("new")
		})
	}
}

// A draft of a tool that changed shows what the tool does not take any more, and loses nothing.
func TestDraftOfAToolThatChanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "values")
	var sent string
	open := func(t *testing.T, fields string) *tuitest.App {
		srv := server.NewMCPServer("s", "1")
		srv.AddTool(mcp.NewToolWithRawSchema("put", "", []byte(`{"type":"object","required":["b"],"properties":{`+fields+`}}`)),
			func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				b, err := json.Marshal(r.GetArguments())
				sent = string(b)
				return mcp.NewToolResultText("done"), err
			})
		app := tuitest.Start(t, tuitest.At("tools", nil), tuitest.Server("demo", srv), tuitest.Views(views.All(views.Deps{Inputs: inputs.New(dir)})...))
		app.View("tools").Pane("list").Some(tuitest.Contains("put"))
		app.Press("enter").View("call")
		return app
	}
	synctest.Test(t, func(t *testing.T) {
		app := open(t, `"a":{"type":"string"},"b":{"type":"string"}`)
		app.Type("old").Press("tab").Type("text")
		app.Pane("form").Has("text")
	})
	synctest.Test(t, func(t *testing.T) {
		app := open(t, `"b":{"type":"integer"},"c":{"type":"boolean"}`)
		app.Pane("form").Has("a ", "old", "not in the schema", "✗ must be a whole number")
		app.Type("7").Press("ctrl+g")
		app.Whole().Has("Result ✓")
	})
	if sent != `{"a":"old","b":7}` {
		t.Errorf("sent %s", sent)
	}
}
