package views_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/servers"
)

// configured opens the list of the servers that a file of Cursor in the home has.
func configured(t *testing.T, text string, opts ...tuitest.Option) (app *tuitest.App, file string) {
	t.Helper()
	home, cwd := t.TempDir(), t.TempDir()
	file = put(t, home, ".cursor/mcp.json", text)
	c := &servers.Configs{Where: config.Options{Home: home, Cwd: cwd, LookupEnv: func(name string) (string, bool) {
		if name == "TOKEN" {
			return "from-env", true
		}
		return "", false
	}}}
	set, err := config.Load(c.Where)
	require.NoError(t, err)
	c.Looked = set.Looked
	trust := config.OpenTrust(t.TempDir())
	app = tuitest.Start(t, append([]tuitest.Option{
		tuitest.Deadline(time.Minute), tuitest.Beside(), tuitest.Views(views.All(views.Deps{Configs: c, Trust: trust})...), tuitest.Size(80, 24),
		tuitest.SessionOptions(patient), tuitest.SessionOptions(func(o *session.Options) { o.Trust = trust }),
	}, opts...)...)
	for _, s := range set.Servers {
		if _, err := app.Manager().Register(s); err != nil {
			t.Fatal(err)
		}
	}
	app.View("servers").Pane("list").Has(set.Servers[0].Name)
	return app, file
}

// twoEntries is a file with what must stay as it is.
const twoEntries = `{
  // of the whole team
  "mcpServers": {
    "one": {
      "command": "no-such-program", // note
      "args": ["--port", "1"],
      "env": {"TOKEN": "${env:TOKEN}", "API_KEY": "s3cret-s3cret"},
      "unknown": {"kept": true}
    },
    "two": {"url": "https://example.com/mcp"}
  }
}
`

// TestEditAnEntry: the form has the entry as it is written: variables stay variables, secrets are hidden, and what was not changed
// stays byte for byte.
func TestEditAnEntry(t *testing.T) {
	t.Parallel()
	app, file := configured(t, twoEntries)
	shows(app, "detail", "(Cursor)", "e edit · :duplicate copy", ":remove")
	app.Press("e").View("entry").Pane("form").Has("no-such-program", "TOKEN", "${env:TOKEN}", "API_KEY", "▸ 9 more fields  envFile, cwd, protocol").HasNot("s3cret", "from-env", "connectTimeout  ")
	app.Press("down").Type("2").Press("esc").View("servers").Press("e").View("entry").Pane("form").Has("no-such-program2") // kept
	app.Press("ctrl+g").Overlay("Change one?").Has("-      \"command\": \"no-such-program\"", "+      \"command\": \"no-such-program2\"").HasNot("s3cret")
	app.Press("y").View("servers").Whole().Has("saved to ~/.cursor/mcp.json")
	if got, want := read(t, file), strings.Replace(twoEntries, "no-such-program", "no-such-program2", 1); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	app.Pane("list").Rows(tuitest.Contains("one").Selected(), tuitest.Contains("two")) // in the order of the file
	app.Pane("detail").Has("no-such-program2")
	copies, _ := filepath.Glob(file + ".*.bak")
	if len(copies) != 1 || read(t, copies[0]) != twoEntries {
		t.Errorf("the copies are %v", copies)
	}
}

// TestRemoveAnEntry: the list shows at once what was written.
func TestRemoveAnEntry(t *testing.T) {
	t.Parallel()
	app, file := configured(t, twoEntries)
	app.Press(":remove").Overlay("Remove one?").Has("-    \"one\"").HasNot("s3cret")
	app.Press("n").NoOverlay()
	assert.Equal(t, read(t, file), twoEntries)
	app.Press(":remove").Overlay("Remove one?").Has("-    \"one\"")
	app.Press("y").Pane("list").Has("two").HasNot("one ")
	if got := read(t, file); strings.Contains(got, "no-such-program") || !strings.Contains(got, "// of the whole team") || !strings.Contains(got, `"two"`) {
		t.Errorf("%s", got)
	}
}

// TestDisableAnEntry writes what the program of the file reads, shows it at once, and says so where there is no way to.
func TestDisableAnEntry(t *testing.T) {
	t.Parallel()
	app, file := configured(t, twoEntries)
	app.Press("space").Toast("Cursor has no way to disable a server in its file").Press("esc").NoOverlay()
	assert.Equal(t, read(t, file), twoEntries)
	own := put(t, filepath.Dir(filepath.Dir(file)), ".config/mcphud/mcphud.yaml", "servers:\n  mine: # of my own\n    command: no-such-program\n")
	app.Press(":remove").Overlay("Remove one?").Press("y") // reads all files again
	app.Pane("list").Has("mine", "two")
	app.Press("g").Pane("list").Selected("mine")
	app.Press("space").Overlay("Disable mine?").Has("+    enabled: false")
	app.Press("y").Pane("list").Has("disabled")
	app.Pane("list").Selected("mine")
	assert.Equal(t, read(t, own), "servers:\n  mine: # of my own\n    command: no-such-program\n    enabled: false\n")
	app.Press("space").Overlay("Enable mine?").Press("y")
	app.Pane("list").HasNot("disabled")
}

// TestDuplicateAnEntry copies it as it is written.
func TestDuplicateAnEntry(t *testing.T) {
	t.Parallel()
	app, file := configured(t, twoEntries)
	app.Press(":duplicate").View("addserver").Pane("add").Has("A copy of one", "one-copy").HasNot("s3cret")
	pickRow(app, "> ~/.cursor/mcp.json").Press("enter").Prompt("name").Answer("three")
	app.Overlay("Add three to Cursor?").Has("three").HasNot("s3cret", "from-env")
	app.Press("y").View("servers").Pane("list").Has("one", "two", "three")
	if got := read(t, file); strings.Count(got, "${env:TOKEN}") != 2 || strings.Count(got, "s3cret-s3cret") != 2 {
		t.Errorf("%s", got)
	}
	assert.Equalf(t, len(app.Manager().Servers()), 3, "servers")
}

// TestEditAServerOfThisRun puts the changed one in its place.
func TestEditAServerOfThisRun(t *testing.T) {
	t.Parallel()
	app, _ := first(t, nil)
	app.Press("a").Paste("no-such-command-of-anybody here").Press("enter")
	state(app, session.Failed)
	good := faketest.Stdio(t, behave.Good)
	app.Press("esc").View("servers").Press("e").View("entry").Pane("form").Has("no-such-command-of-anybody")
	app.Send(tui.Edited{View: "entry", Tag: "json:", Changed: true, Text: `{"name":"mine","command":"` + good.Command + `","args":["` + strings.Join(good.Args, `","`) + `"]}`})
	app.Press("ctrl+g").View("servers").Toast("mine changed for this run").Pane("list").Has("mine")
	app.Press("enter").View("tools").Pane("list").Has("echo")
	if all := app.Manager().Servers(); len(all) != 1 {
		t.Errorf("%v", all)
	}
}

// TestEditAConnectedEntry connects again as the entry says now.
func TestEditAConnectedEntry(t *testing.T) {
	t.Parallel()
	good := faketest.Stdio(t, behave.Good)
	args := `"` + strings.Join(good.Args, `", "`) + `"`
	app, file := configured(t, `{"mcpServers": {"good": {"command": "`+good.Command+`", "args": [`+args+`]}}}`)
	app.Press("enter").View("tools").Pane("list").Has("echo")
	app.Press("1").View("servers").Press("e").View("entry").Press("ctrl+u")
	app.Type("better").Press("ctrl+g").Overlay("Change good?").Press("y")
	app.View("tools").Pane("list").Has("echo")
	app.Press("1").View("servers").Pane("list").Has("better", "Connected", "fakemcp good").HasNot("● good")
	assert.Contains(t, read(t, file), `"better"`)
}

// TestEntryOfAChangedFile: what another program wrote meanwhile stays, and an entry that it changed is left alone.
func TestEntryOfAChangedFile(t *testing.T) {
	t.Parallel()
	app, file := configured(t, twoEntries)
	app.Press(":remove").Overlay("Remove one?")
	other := strings.Replace(twoEntries, "no-such-program", "another-program", 1)
	require.NoError(t, os.WriteFile(file, []byte(other), 0o600))
	app.Press("y").Toast("changed while it was edited").Press("esc")
	assert.Equal(t, read(t, file), other)

	app, file = configured(t, twoEntries)
	app.Press(":remove").Overlay("Remove one?")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(twoEntries, "two", "zwei", 1)), 0o600))
	app.Press("y").Pane("list").Has("zwei").HasNot("one")
	if got := read(t, file); strings.Contains(got, `"one"`) || !strings.Contains(got, `"zwei"`) {
		t.Errorf("%s", got)
	}
}
