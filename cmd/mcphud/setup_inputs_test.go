package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// asking writes a .vscode/mcp.json whose servers have to be told something: how to behave, and a key.
func asking(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), ".vscode", "mcp.json")
	body := fmt.Sprintf(`{
  "inputs": [{"id": "mode", "type": "pickString", "options": ["good", "half-frame"]}, {"id": "key", "type": "promptString", "password": true}],
  "servers": {
    "a": {"command": %[1]q, "args": ["${input:mode}"]},
    "b": {"command": %[1]q, "args": ["${input:mode}"], "env": {"API_KEY": "${input:key}"}},
    "plain": {"command": %[1]q, "args": ["good"]}
  }
}`, faketest.Stdio(t, behave.Good).Command)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
	return path
}

func TestInputsOfAnEntry(t *testing.T) {
	t.Parallel()
	path := asking(t)
	list := func(server string, set ...string) outcome {
		args := []string{"tools", "list", "--config", path, "--server", server, "--format", "json"}
		for _, pair := range set {
			args = append(args, "--set", pair)
		}
		return mcphud(t, args...)
	}
	o := list("b")
	if e := o.errorLine(t); o.code != cli.ExitNeedsInput || e.Kind != "NeedsInput" || !strings.Contains(e.Message, "mode, key") || !strings.Contains(e.Message, "--set mode=VALUE") {
		t.Errorf("nothing given: %d, %s", o.code, o.stderr)
	}
	list("a", "mode=good").prints(t, 0, `"echo"`)
	for set, why := range map[string]string{"mode=purple": "takes one of good, half-frame", "colour=red": "colour is not among the inputs: mode", "mode": `--set \"mode\" is not KEY=VALUE`} {
		list("a", set).exits(t, 1, why)
	}
	list("plain", "mode=good").exits(t, 1, "plain asks for nothing")
	mcphud(t, "servers", "list", "--config", path).prints(t, 0, `"inputs":["mode","key"]`)
}

// On a terminal what is missing is asked for, and a secret is not shown while it is typed.
func TestInputsAreAskedForOnATerminal(t *testing.T) {
	t.Parallel()
	ui := startUI(t, "tools", "list", "--config", asking(t), "--server", "b", "--format", "text")
	ui.shows("mode (required; one of good | half-frame): ")
	ui.types(t, "good\r")
	ui.shows("key (required) (secret, not shown): ")
	ui.types(t, "hunter2-of-mine\r")
	ui.shows("Keep key in the keychain, for the next time? [y/N] ")
	ui.types(t, "n\r")
	ui.shows("echo")
	if code := ui.exit(); code != 0 || strings.Contains(ui.written(), "hunter2") {
		t.Errorf("exit %d:\n%s", code, ui.written())
	}
}

// A secret that was kept is listed without its value, given again, and forgotten.
func TestKeptSecretsAreListedAndForgotten(t *testing.T) {
	t.Parallel()
	path, home := asking(t), t.TempDir()
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/.config", "XDG_STATE_HOME=" + home + "/.state", "MCPHUD_CREDENTIALS=file"}
	run := func(args ...string) outcome {
		cmd := command(t, append(args, "--config", path)...)
		cmd.Env = append(cmd.Env, env...)
		o := finish(t, cmd)
		if strings.Contains(o.out+o.stderr, "hunter2") {
			t.Errorf("%q shows the secret: %s%s", args, o.out, o.stderr)
		}
		return o
	}
	keep := func() {
		t.Helper()
		ui := startUIWith(t, env, "tools", "list", "--config", path, "--server", "b", "--set", "mode=good", "--format", "text")
		ui.shows("key (required) (secret, not shown): ")
		ui.types(t, "hunter2-of-mine\r")
		ui.shows("Keep key in the keychain, for the next time? [y/N] ")
		ui.types(t, "y\r")
		ui.shows("echo")
		if code := ui.exit(); code != 0 {
			t.Fatalf("exit %d:\n%s", code, ui.written())
		}
	}
	run("auth", "status", "--server", "b").exits(t, cli.ExitAuth, "no secrets are kept")
	keep()
	scope := path + "#b"
	for _, args := range [][]string{{"auth", "status"}, {"auth", "status", "--server", "b"}} {
		run(args...).prints(t, 0, `"secrets":[{"servers":["b"],"for":"`+scope+`","inputs":["key"]}]`)
	}
	if o := run("auth", "status", "--format", "text"); !strings.Contains(o.out, "key") || !strings.Contains(o.out, scope) || !strings.Contains(o.out, "credentials.json") {
		t.Error(o.out)
	}
	run("auth", "logout", "--server", "plain").exits(t, cli.ExitFailure, "only servers over HTTP")
	for _, args := range [][]string{{"--server", "b"}, {scope}, {"--all"}} {
		run("tools", "list", "--server", "b", "--set", "mode=good").exits(t, 0)
		run(append([]string{"auth", "logout"}, args...)...).prints(t, 0, scope)
		run("tools", "list", "--server", "b", "--set", "mode=good").exits(t, cli.ExitNeedsInput)
		keep()
	}
}
