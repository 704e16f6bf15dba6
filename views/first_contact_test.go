package views_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/tui/safe"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/servers"
)

// first opens the list without servers in an empty working folder.
func first(t *testing.T, trust *config.Trust, opts ...tuitest.Option) (*tuitest.App, *servers.Configs) {
	t.Helper()
	c := &servers.Configs{Where: config.Options{Home: t.TempDir(), Cwd: t.TempDir(), LookupEnv: func(string) (string, bool) { return "", false }}}
	set, err := config.Load(c.Where)
	require.NoError(t, err)
	c.Looked = set.Looked
	demo := false
	c.Demo = func() { demo = true }
	app := tuitest.Start(t, append([]tuitest.Option{
		tuitest.Deadline(time.Minute), tuitest.Beside(), tuitest.Env("EDITOR", "false"),
		tuitest.Views(views.All(views.Deps{Configs: c, Trust: trust})...), tuitest.Size(80, 24), tuitest.SessionOptions(patient),
		tuitest.SessionOptions(func(o *session.Options) { o.Trust = trust }),
	}, opts...)...)
	t.Cleanup(func() {
		assert.Equalf(t, demo, strings.HasSuffix(t.Name(), "Demo"), "the demo was asked for")
	})
	return app, c
}

// line is a server's command as a user would type it.
func line(s config.Server) string {
	words := []string{safe.Quote(s.Command)}
	for _, a := range s.Args {
		words = append(words, safe.Quote(a))
	}
	for k, v := range s.Env {
		words = append([]string{k + "=" + safe.Quote(v)}, words...)
	}
	return strings.Join(words, " ")
}

// TestFirstContact: every line of the empty list is something to do, and where was looked is said.
func TestFirstContact(t *testing.T) {
	t.Parallel()
	app, _ := first(t, nil)
	shows(app, "list", "a add a server", "paste JSON", "o open the demo", "e write ./mcphud.yaml",
		"mcphud -- npx -y @modelcontextprotocol/server-everything stdio", "mcphud https://host/mcp", "Claude Code", "VS Code", "Inspector")
	if l := app.State().Layout; l.Panes[0].W != 80 {
		t.Errorf("the list is %+v", l.Panes[0])
	}
	app.Press(":files").Overlay("Files that are looked for").Has("~/.claude.json", "not there")
	app.Type(".mcp.json").Overlay("Files").Has(".mcp.json")
	app.Press("esc", "esc").NoOverlay()
	app.Press("enter").View("addserver").Pane("add").Has("Type or paste a command, a URL, or the JSON of any program")
	app.Type(`node "x`).Press("enter").Whole().Has("a quote or backslash")
	app.Press("esc").View("servers").Press(":paste").View("addserver").Pane("add").Has("Paste the JSON here", `node "x`) // what was typed is still there
	app.Press("backspace", "backspace").Type("z").Pane("add").Has("node z", "✓ z  runs node z", "for this run only")
	app.Press("ctrl+x").Pane("add").HasNot("node z")
	app.Press("esc").View("servers")
}

// TestAddACommandLine: what is pasted is started without a shell, opened at once, and can be pasted again.
func TestAddACommandLine(t *testing.T) {
	t.Parallel()
	app, _ := first(t, nil)
	good := line(faketest.Stdio(t, behave.Good))
	app.Press("a").Paste(good).Press("enter")
	state(app, session.Connected)
	app.View("tools").Pane("list").Has("echo")
	app.Whole().Has("added for this run")
	app.Press("1").View("servers").Press("a").Paste(good).Press("enter").View("tools")
	if all := app.Manager().Servers(); len(all) != 2 || all[1].Name() != all[0].Name()+"-2" || all[1].Title() == all[0].Title() {
		t.Errorf("%v", all)
	}
}

// TestRemoveWhatWasAdded: what was pasted by mistake goes from the list, whatever became of it.
func TestRemoveWhatWasAdded(t *testing.T) {
	t.Parallel()
	app, _ := first(t, nil)
	app.Press("a").Paste("no-such-command-of-anybody here").Press("enter")
	state(app, session.Failed)
	app.Pane("list").Has("no-such-command-of-anybody")
	app.Hints().Has("r start again", "! doctor")
	app.Press(":remove").Pane("list").Has("No servers yet", "add a server").HasNot("no-such-command-of-anybody")
	if all := app.Manager().Servers(); len(all) != 0 {
		t.Errorf("%v", all)
	}
}

// TestAddAURL opens what is at a URL.
func TestAddAURL(t *testing.T) {
	t.Parallel()
	app, _ := first(t, nil)
	app.Press("a").Paste(faketest.HTTP(t, behave.Good, behave.Fault{}).URL).Press("enter")
	state(app, session.Connected)
	app.View("tools").Pane("list").Has("echo")
}

// TestAddJSON: an mcpServers file on the clipboard gives all of its servers, and none of them starts by itself.
func TestAddJSON(t *testing.T) {
	t.Parallel()
	app, _ := first(t, nil)
	app.Press("a").Paste("{\n  \"mcpServers\": {\n    \"one\": {\"command\": \"x\"},\n    \"two\": {\"url\": \"https://h/mcp\"}\n  }\n}").Press("enter")
	app.View("servers").Pane("list").Has("one", "two", "Disconnected")
	app.Pane("list").Selected("one")
	app.Whole().Has("2 servers added for this run")
}

// TestEditTheFolderFile: what the editor made of the example is saved for the user alone, read at once, and still asks for trust.
func TestEditTheFolderFile(t *testing.T) {
	t.Parallel()
	good := faketest.Stdio(t, behave.Good)
	yaml := "servers:\n  mine:\n    command: " + good.Command + "\n    args: [" + strings.Join(good.Args, ", ") + "]\n"
	editor := script(t, `grep -q '^#  everything:' "$1" || exit 9; cp "$0.yaml" "$1"; sleep 0.1`)
	require.NoError(t, os.WriteFile(editor+".yaml", []byte(yaml), 0o600))
	app, c := first(t, config.OpenTrust(t.TempDir()), tuitest.Env("EDITOR", editor))
	app.Press("e").AfterExec().Pane("list").Has("mine", "Disconnected")
	app.Hints().Has("enter open", "r connect").HasNot("reconnect")
	app.Pane("detail").HasNot("since")
	path := filepath.Join(c.Where.Cwd, "mcphud.yaml")
	if b, err := os.ReadFile(path); err != nil || string(b) != yaml {
		t.Errorf("%s, %v", b, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	app.Press("enter").Overlay("Start a server from this project?").Has(good.Command)
	app.Press("y")
	state(app, session.Connected)
}

// TestTheFolderFileChangedWhileItWasEdited: what another program wrote stays, and what was typed is beside it.
func TestTheFolderFileChangedWhileItWasEdited(t *testing.T) {
	t.Parallel()
	editor := script(t, `echo 'servers: {}' > "$(cat "$0.path")"; echo 'servers: {mine: {command: x}}' > "$1"; sleep 0.1`)
	app, c := first(t, nil, tuitest.Env("EDITOR", editor))
	path := filepath.Join(c.Where.Cwd, "mcphud.yaml")
	require.NoError(t, os.WriteFile(editor+".path", []byte(path), 0o600))
	app.Press("e").AfterExec().Toast("changed while it was edited")
	if b, err := os.ReadFile(path); err != nil || string(b) != "servers: {}\n" {
		t.Errorf("%q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(c.Where.Cwd, "mcphud.draft.yaml")); err != nil || string(b) != "servers: {mine: {command: x}}\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestEditABrokenFile: the mistake is said with its place, and what was typed is kept.
func TestEditABrokenFile(t *testing.T) {
	t.Parallel()
	app, c := first(t, nil, tuitest.Env("EDITOR", script(t, `printf 'servers: [\n' > "$1"; sleep 0.1`)))
	app.Press("e").AfterExec().Toast("is not valid YAML")
	if b, err := os.ReadFile(filepath.Join(c.Where.Cwd, "mcphud.yaml")); err != nil || string(b) != "servers: [\n" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestFirstContactDemo: D ends the UI, so that the demo can take its place.
func TestFirstContactDemo(t *testing.T) {
	t.Parallel()
	app, _ := first(t, nil)
	app.Press("o")
	assert.NoError(t, app.Ended())
}

// script is a program of the shell.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	return path
}

// TestTemplateComesBack: who chooses no template is where the list of them was opened.
func TestTemplateComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{})...), tuitest.At("servers", nil)).View("servers")
		app.Press(":").Type("servers.template").Press("enter").Overlay("Template")
		app.Press("esc").NoOverlay().View("servers")
	})
}
