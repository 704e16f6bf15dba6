package views_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/tuitest"
)

// put writes a file below a folder.
func put(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// pickRow moves to a row of the screen that adds servers. The files that a server may be kept in are looked for while one types.
func pickRow(app *tuitest.App, text string) *tuitest.App {
	app.Pane("add").Has(strings.TrimPrefix(text, "> "))
	for range 40 {
		if row := app.State().Selected["add"]; row > 0 {
			if lines := strings.Split(app.Pane("add").Text(), "\n"); row <= len(lines) && strings.Contains(lines[row-1], text) {
				return app
			}
		}
		app.Press("down")
	}
	app.Pane("add").Selected(text) // which fails with what there is
	return app
}

// TestAddToAFile: what was typed goes into a file of another program under a name that is asked for, after its diff was seen, and is
// opened. The rest of the file stays as it was.
func TestAddToAFile(t *testing.T) {
	t.Parallel()
	app, c := first(t, config.OpenTrust(t.TempDir()))
	before := "{\n  // mine\n  \"mcpServers\": {\n    \"old\": {\"command\": \"x\"}\n  },\n  \"theme\": \"dark\"\n}\n"
	file := put(t, c.Where.Home, ".cursor/mcp.json", before)
	app.Press("a").Paste(line(faketest.Stdio(t, behave.Good)))
	app.View("addserver").Pane("add").Has("✓ ", "for this run only", "~/.cursor/mcp.json", "Cursor", "a new file")
	pickRow(app, "~/.cursor/mcp.json").Press("enter").Prompt("name").Answer("mine")
	app.Overlay("Add mine to Cursor?").Has("~/.cursor/mcp.json", "+", "mine")
	assert.Equalf(t, read(t, file), before, "the file was written before anybody agreed")
	app.Press("y").View("tools").Pane("list").Has("echo")
	app.Whole().Has("saved to ~/.cursor/mcp.json")
	assert.Contains(t, read(t, file), "// mine", `"old": {"command": "x"}`, `"mine"`, `"theme": "dark"`)
	app.Press("1").View("servers").Pane("list").Has("mine", "old")
	app.Press("a").View("addserver").Pane("add").Has("a template") // what was added is not there any more
}

// TestAddToTheFolder: who adds an entry to a file of the folder trusts it; a name that is taken is refused, and nothing typed is lost.
func TestAddToTheFolder(t *testing.T) {
	t.Parallel()
	trust := config.OpenTrust(t.TempDir())
	app, c := first(t, trust)
	good := line(faketest.Stdio(t, behave.Good))
	app.Press("a").Paste(good)
	pickRow(app, "> mcphud.yaml").Press("enter").Prompt("name").Answer("here")
	app.Overlay("Add here to").Has("a new file", "here:")
	app.Press("y").View("tools").Pane("list").Has("echo")
	assert.Contains(t, read(t, filepath.Join(c.Where.Cwd, "mcphud.yaml")), "here:")
	app.Press("1").View("servers").Press("a").Paste(good)
	pickRow(app, "> mcphud.yaml").Press("enter").Prompt("name").Answer("here")
	app.Toast("there is a server here already").View("addserver").Pane("add").Has("✓ ")
}

// TestAddManyToAFile: all servers of a JSON go into one file.
func TestAddManyToAFile(t *testing.T) {
	t.Parallel()
	app, c := first(t, config.OpenTrust(t.TempDir()))
	file := put(t, c.Where.Home, ".cursor/mcp.json", "{}\n")
	app.Paste("{\n // of a friend\n \"mcpServers\": {\n  \"one\": {\"command\": \"x\", \"env\": {\"API_TOKEN\": \"${UNSET}\"}},\n  \"two\": {\"url\": \"https://h/mcp\", \"headers\": {\"Authorization\": \"Bearer s3cret-s3cret\"}}\n }\n}")
	app.View("addserver").Pane("add").Has("pasted: 7 lines", "✓ one", "✓ two").HasNot("s3cret")
	pickRow(app, "~/.cursor/mcp.json").Press("enter").Overlay("Add 2 servers to Cursor?").Has("one").HasNot("s3cret")
	app.Press("pgdown").Overlay("Add 2").Has("two").HasNot("s3cret")
	app.Press("y").View("servers").Pane("list").Has("one", "two", "cannot start") // UNSET is not set
	assert.Contains(t, read(t, file), "s3cret", "UNSET")
}

// TestC9_AddFromATemplate asks for what the server needs to be told. What is then written is the test of the command line's business.
func TestC9_AddFromATemplate(t *testing.T) {
	t.Parallel()
	app, c := first(t, config.OpenTrust(t.TempDir()))
	file := put(t, c.Where.Home, ".cursor/mcp.json", "{}\n")
	app.Press(":popular").Overlay("Template").Has("filesystem", "github", "postgres", "slack", "memory")
	app.Type("github").Press("enter").View("setup").Type("s3cret-s3cret").Press("ctrl+g")
	app.View("addserver").Pane("add").Has("From the template github", "✓ github", "contacts https://api.githubcopilot.com/mcp/", "for this run only")
	pickRow(app, "~/.cursor/mcp.json").Press("enter").Prompt("name").Answer("gh")
	app.Overlay("Add gh to Cursor?").Has("api.githubcopilot.com").HasNot("s3cret")
	app.Press("n").View("addserver").Pane("add").Has("From the template github")
	app.ClickOn("~/.cursor/mcp.json").Prompt("name").Cancel()
	assert.Equal(t, read(t, file), "{}\n")
	app.Press("esc").View("servers").Press("a").Pane("add").Has("From the template github")
	app.Press("ctrl+x").Pane("add").Has("a template")
	if all := app.Manager().Servers(); len(all) != 0 {
		t.Errorf("%v", all)
	}
}

// TestAddFromAFile takes what is in a file as if it was pasted.
func TestAddFromAFile(t *testing.T) {
	t.Parallel()
	app, c := first(t, config.OpenTrust(t.TempDir()))
	put(t, c.Where.Cwd, "friend.json", "{\n // mine\n \"mcpServers\": {\"one\": {\"command\": \"x\"}, \"two\": {\"url\": \"https://h/mcp\"}}\n}\n")
	app.Press("a").View("addserver").ClickOn("a file")
	app.Overlay("Pick a file").Has("friend.json")
	app.Press("enter").NoOverlay().Pane("add").Has("pasted: 4 lines", "✓ one", "✓ two")
	app.Press("enter").View("servers").Pane("list").Has("one", "two")
}
