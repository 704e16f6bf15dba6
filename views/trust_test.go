package views_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/tools/basics"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
)

// project starts the UI on a server that a file of the working folder names.
func project(t *testing.T, trust *config.Trust, started *int) *tuitest.App {
	t.Helper()
	srv := config.Server{
		Name: "theirs", Transport: config.Stdio, Command: "./do-it", Args: []string{"--all", "--token", "hunter2"},
		Env:    map[string]string{"MODE": "full", "API_TOKEN": "s3cret-value"},
		Source: config.Source{File: filepath.Join(t.TempDir(), ".mcp.json"), Line: 3, Project: true},
	}
	return tuitest.Start(t, tuitest.Views(views.All(views.Deps{Trust: trust})...), tuitest.Target(srv), tuitest.NoConnect(),
		tuitest.SessionOptions(func(o *session.Options) {
			o.Trust = trust
			o.Dial = func(config.Server) (transport.Transport, bool) {
				*started++
				return transport.NewMemory(server.NewStdioServer(basics.NewServer("")).Listen), true
			}
		}))
}

// The question says what the server's sandbox leaves it, and so does its page.
func TestX5b_TrustQuestionNamesTheSandbox(t *testing.T) {
	srv := config.Server{
		Name: "theirs", Transport: config.Stdio, Command: "./do-it", Sandbox: &confine.Rules{Read: []string{"/data"}, Network: true},
		Source: config.Source{File: filepath.Join(t.TempDir(), ".mcp.json"), Line: 3, Project: true},
	}
	trust := config.OpenTrust(t.TempDir())
	app := tuitest.Start(t, tuitest.Views(views.All(views.Deps{Trust: trust})...), tuitest.Target(srv), tuitest.NoConnect(),
		tuitest.SessionOptions(func(o *session.Options) { o.Trust = trust }))
	app.View("servers").Pane("detail").Has("sandbox", "with network, reads /data")
	app.Press("enter").Overlay("Start a server from this project?").Has("sandbox", "with network, reads /data")
}

// Nothing of a project file starts before the user saw what it runs and said
// yes; the yes is remembered.
func TestProjectServersAskForTrust(t *testing.T) {
	dir := t.TempDir()
	started := 0
	app := project(t, config.OpenTrust(dir), &started)
	app.View("servers").Pane("list").Has("theirs", "Disconnected")
	app.Press("enter")
	dialog := app.Overlay("Start a server from this project?")
	dialog.Has("./do-it --all", "MODE=full", "API_TOKEN")
	dialog.HasNot("hunter2", "s3cret-value")
	app.Press("enter") // no is the default
	app.NoOverlay()
	app.View("servers").Pane("list").Has("Disconnected")
	if started != 0 {
		t.Fatalf("started %d times without trust", started)
	}
	app.Press("enter").Confirm("Start a server from this project?").Yes().View("tools").Pane("list").Has("echo")
	if started != 1 {
		t.Fatalf("started %d times after one yes", started)
	}
	files, err := filepath.Glob(filepath.Join(dir, "trust", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("remembered in %v, %v; want one file", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}
