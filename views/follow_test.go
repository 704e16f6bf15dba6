package views_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/config/setup"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/tui/tuitest"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/servers"
)

// keptSecrets is a keychain.
type keptSecrets struct {
	mu  sync.Mutex
	all map[string]map[string]string
}

func (k *keptSecrets) Recall(_ context.Context, scope string) (map[string]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.all[scope]), nil
}

func (k *keptSecrets) Keep(_ context.Context, scope string, in []setup.Input, given map[string]string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all[scope] = map[string]string{}
	for _, i := range in {
		if i.Secret {
			k.all[scope][i.Name] = given[i.Name]
		}
	}
	return nil
}

func (k *keptSecrets) Forget(_ context.Context, scope string) (names []string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	names = slices.Sorted(maps.Keys(k.all[scope]))
	delete(k.all, scope)
	return names, nil
}

// following opens the servers of the files below home and cwd, and follows the files.
func following(t *testing.T, o config.Options, secrets servers.Secrets) (*tuitest.App, *session.Manager) {
	t.Helper()
	read, err := config.Load(o)
	require.NoError(t, err)
	trust := config.OpenTrust(t.TempDir())
	c := &servers.Configs{Where: o, Looked: read.Looked}
	opts := []tuitest.Option{
		tuitest.Deadline(time.Minute), tuitest.Beside(), tuitest.Size(120, 24), tuitest.SessionOptions(patient), tuitest.NoConnect(),
		tuitest.SessionOptions(func(o *session.Options) { o.Trust = trust }),
		tuitest.Views(views.All(views.Deps{Configs: c, Trust: trust, Secrets: secrets})...),
	}
	for _, s := range read.Servers {
		opts = append(opts, tuitest.Target(s))
	}
	app := tuitest.Start(t, opts...)
	m := app.Manager()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		config.Follow(ctx, o, read, func(before, now config.Set) {
			done, err := m.Update(before.Servers, now.Servers)
			c.Changed(done, now.News(before), err)
			m.NotifyChange()
		})
	})
	t.Cleanup(func() { stop(); wg.Wait() })
	return app, m
}

func putFile(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func entryOf(name, command string, args ...string) string {
	return fmt.Sprintf(`%q: {"command": %q, "args": ["%s"]}`, name, command, strings.Join(args, `", "`))
}

// TestLiveReload: what changes in a file changes in the list; what is connected stays, and is marked.
func TestLiveReload(t *testing.T) {
	t.Parallel()
	good := faketest.Stdio(t, behave.Good)
	o := config.Options{Home: t.TempDir(), Cwd: t.TempDir()}
	user := filepath.Join(o.Home, ".cursor", "mcp.json")
	file := func(entries ...string) string { return `{"mcpServers": {` + strings.Join(entries, ",\n") + "}}" }
	putFile(t, user, file(entryOf("up", good.Command, "good"), entryOf("still", good.Command, "good"), entryOf("idle", "x", "1"), entryOf("goes", "x", "1")))
	app, m := following(t, o, nil)
	app.Pane("list").Has("up", "still", "idle", "goes")
	app.Press("enter")
	state(app, session.Connected)
	app.View("tools") // which opens a moment later, and would get the keys
	app.Press("1")
	app.Press("down", "enter").View("tools")
	app.Press("1").Pane("list").Has("Connected")
	up, _ := m.Server("up")
	still, _ := m.Server("still")

	putFile(t, user, file(entryOf("up", good.Command, "half-frame"), entryOf("still", good.Command, "good"), entryOf("idle", "x", "2"), entryOf("new", "x", "1")))
	app.Pane("list").Has("new", "changed in its file").HasNot("goes")
	if s, _ := m.Server("up"); s != up || s.Status().State != session.Connected {
		t.Errorf("the connection whose entry changed is %s", s.Status().State)
	}
	if s, _ := m.Server("still"); s != still || s.Status().State != session.Connected || s.Outdated() != nil {
		t.Errorf("the connection whose entry did not change is %s", s.Status().State)
	}
	if s, _ := m.Server("idle"); s.Config().Args[0] != "2" {
		t.Errorf("idle still runs with %v", s.Config().Args)
	}
	// A file that cannot be read takes nothing away, and says where it is wrong.
	putFile(t, user, "{\"mcpServers\": {\n")
	app.Toast("mcp.json:2:1: is not valid JSON")
	app.Pane("list").Has("up", "still", "idle", "new")
	// Gone while connected: it stays until it is disconnected.
	putFile(t, user, file(entryOf("up", good.Command, "good"), entryOf("idle", "x", "2")))
	app.Pane("list").Has("gone from its file").HasNot("changed in its file", "new")
	if s, _ := m.Server("up"); s != up || s.Outdated() != nil {
		t.Error("an entry that is as it was counts as changed")
	}
	app.Press("home", "down").Pane("list").Selected("still")
	app.Press(":disconnect").Pane("list").HasNot("still")
}

// TestLiveReloadOfAProject: a file of the working folder that appears is listed, starts nothing, and asks again once it changed.
func TestLiveReloadOfAProject(t *testing.T) {
	t.Parallel()
	good := faketest.Stdio(t, behave.Good)
	o := config.Options{Home: t.TempDir(), Cwd: t.TempDir()}
	putFile(t, filepath.Join(o.Home, ".cursor", "mcp.json"), `{"mcpServers": {`+entryOf("own", "x", "1")+"}}")
	app, m := following(t, o, nil)
	app.Pane("list").Has("own").HasNot("theirs")
	path := filepath.Join(o.Cwd, ".vscode", "mcp.json")
	putFile(t, path, `{"servers": {`+entryOf("theirs", good.Command, "good")+"}}")
	app.Pane("list").Has("theirs")
	app.Press("down", "enter").Confirm("Start a server from this project?").Yes().View("tools")
	app.Press("1")
	putFile(t, path, `{"servers": {`+entryOf("theirs", good.Command, "modern")+"}}")
	app.Pane("list").Has("changed in its file")
	s, _ := m.Server("theirs")
	app.Press("r").Overlay("Start a server from this project?").Has("modern")
	app.Press("esc").NoOverlay()
	if now, _ := m.Server("theirs"); now != s || now.Status().State != session.Connected {
		t.Error("a changed entry was taken in without a yes")
	}
	app.Press("r").Confirm("Start a server from this project?").Yes()
	app.Pane("list").HasNot("changed in its file")
	app.Pane("list").Has("Connected")
	if now, _ := m.Server("theirs"); now.Config().Args[0] != "modern" {
		t.Errorf("it runs with %v", now.Config().Args)
	}
}

// TestInputsAreAskedFor: a server of VS Code's that has to be told something opens a form, and secrets are kept where that is wanted.
func TestInputsAreAskedFor(t *testing.T) {
	t.Parallel()
	good := faketest.Stdio(t, behave.Good)
	o := config.Options{Home: t.TempDir(), Cwd: t.TempDir(), OS: "linux"}
	putFile(t, filepath.Join(o.Home, ".config", "Code", "User", "mcp.json"), fmt.Sprintf(`{
  "inputs": [{"id": "key", "type": "promptString", "password": true, "description": "Key of the example"}],
  "servers": {"asks": {"command": %q, "args": ["good", "${input:key}"]}}
}`, good.Command))
	secrets := &keptSecrets{all: map[string]map[string]string{}}
	app, m := following(t, o, secrets)
	app.Pane("detail").Has("asks for", "key")
	app.Press("enter").View("setup").Pane("form").Has("Server settings ▸ asks", "key", "Key of the example")
	app.Type("hunter2").Pane("form").HasNot("hunter2")
	app.Press("esc").View("servers").Press("enter").View("setup").Pane("form").Has("••••").HasNot("hunter2") // still there
	app.Press("ctrl+g").Confirm("Keep secrets in the keychain?").Yes()
	app.View("tools").Pane("list").Has("echo")
	s, _ := m.Server("asks")
	if got := s.Config(); got.Args[1] != "hunter2" || len(got.Inputs) > 0 {
		t.Errorf("it runs with %v", got.Args)
	}
	app.Press("1").Pane("detail").HasNot("hunter2")
	if len(secrets.all) != 1 {
		t.Errorf("kept: %v", secrets.all)
	}
	// The next run knows it.
	app, m = following(t, o, secrets)
	app.Press("enter").View("tools").Pane("list").Has("echo")
	if s, _ := m.Server("asks"); s.Config().Args[1] != "hunter2" {
		t.Errorf("it runs with %v", s.Config().Args)
	}
	// It can be seen that there is one, and forgotten.
	app.Press("1", ":secrets").Confirm("Forget the secrets of asks?").Says("Kept: key").No()
	app.Press(":secrets").Confirm("Forget the secrets of asks?").Yes()
	app.Toast("forgot key of asks")
	if len(secrets.all) != 0 {
		t.Errorf("kept: %v", secrets.all)
	}
	app.Press(":secrets").Toast("no secrets of asks are kept")
}
