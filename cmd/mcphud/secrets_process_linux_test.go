package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// A secret reaches the process that it is for, by its environment, and no other: not by arguments, which every user of the machine can read, and
// not by the environment of other servers or of a helper.
func TestTheProcessListHasNoSecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Each process writes down what it was started with, and who started it.
	spy := filepath.Join(dir, "spy.sh")
	script := `#!/bin/sh
tr '\000' '\n' </proc/$$/environ >"` + dir + `/$1.environ"
tr '\000' '\n' </proc/$$/cmdline >"` + dir + `/$1.argv"
tr '\000' '\n' </proc/$PPID/cmdline >"` + dir + `/$1.parent"
shift
exec "$@"
`
	require.NoError(t, os.WriteFile(spy, []byte(script), 0o700))
	const ofA, ofB, inherited, header = "a-secret-of-a-1", "a-secret-of-b-2", "a-secret-of-ours-3", "a-secret-in-a-header-4"
	server := fmt.Sprintf("[%q, NAME, env, -u, %s, %s=%s, %q]", spy, asMain, asServer, exampleServer, os.Args[0])
	file := filepath.Join(dir, "mcp.yaml")
	require.NoError(t, os.WriteFile(file, []byte(`servers:
  a: {command: sh, args: `+strings.Replace(server, "NAME", "a", 1)+`, env: {A_TOKEN: `+ofA+`}}
  b: {command: sh, args: `+strings.Replace(server, "NAME", "b", 1)+`, env: {B_TOKEN: `+ofB+`}}
  c: {url: "`+echoing(t)+`", headers: {X-Api-Key: `+header+`}, headersHelper: [sh, "`+spy+`", helper, echo, "{}"]}
`), 0o600))
	cmd := command(t, "status", "--config", file, "--format", "json")
	cmd.Env = append(cmd.Env, "GITHUB_TOKEN="+inherited)
	o := finish(t, cmd)
	if o.code != cli.ExitOK || strings.Count(o.out, `"Connected"`) < 3 && strings.Count(o.out, `"ok"`) < 3 {
		t.Fatalf("exit %d: %s%s", o.code, o.out, o.stderr)
	}
	own := map[string]string{"a": ofA, "b": ofB}
	for _, name := range []string{"a", "b", "helper"} {
		environ, argv, parent := contents(filepath.Join(dir, name+".environ")), contents(filepath.Join(dir, name+".argv")), contents(filepath.Join(dir, name+".parent"))
		if !strings.Contains(argv, name) || environ == "" || parent == "" {
			t.Fatalf("%s left nothing", name)
		}
		for _, s := range []string{ofA, ofB, inherited, header} {
			if strings.Contains(argv, s) || strings.Contains(parent, s) {
				t.Errorf("%s is in the arguments of %s: %s %s", s, name, argv, parent)
			}
			if s == inherited { // which they all get, as from a shell: what is not theirs is of no other entry
				continue
			}
			assert.Equalf(t, strings.Contains(environ, s), (own[name] == s), "the environment of %s has %s", name, s)
		}
	}
}

// A call of the UI leaves no secret in what it keeps either: the history, values typed before, preferences, what was typed at the prompt.
// Nor is one in the arguments of a process, nor on stderr.
func TestTheUIKeepsNoSecret(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	arguments := map[string]string{"user": "ann-of-the-ui"}
	for name, v := range namedSecrets {
		arguments[name] = v
	}
	for what, v := range usualSecrets {
		arguments["note"] += what + " " + v + "\n"
	}
	typed, err := json.Marshal(arguments)
	require.NoError(t, err)
	s := startUIWith(t, []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/.config", "XDG_STATE_HOME=" + home + "/.state", cli.NoHistory + "="}, echoing(t), "--journal", filepath.Join(home, "j.jsonl"))
	s.shows("Logs in")
	s.types(t, "\r")
	s.shows("ctrl+r")
	s.types(t, "\x12")
	s.shows("goes back to the form")
	s.types(t, "\x1b[200~"+string(typed)+"\x1b[201~")
	s.shows("ann-of-the-ui")
	s.types(t, "\x07")
	s.shows("welcome")
	s.types(t, "\t\t:tools api_key=a-key-of-nobody-1 "+usualSecrets["github"]+"\r")
	s.shows("api_key")
	s.types(t, "\x03")
	s.types(t, "\x03")
	if code := s.exit(); code != cli.ExitOK && code != cli.ExitInterrupted {
		t.Errorf("exit code %d", code)
	}
	after := s.end()
	looked := 0
	look := func(where, text string) {
		if strings.Contains(text, "ann-of-the-ui") {
			looked++
		}
		for what, v := range namedSecrets {
			if strings.Contains(text, v) {
				t.Errorf("%s has %s", where, what)
			}
		}
		for what, v := range usualSecrets {
			if strings.Contains(text, secretPart(v)) {
				t.Errorf("%s has %s", where, what)
			}
		}
	}
	look("what it says after its end", after)
	require.NoError(t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		look(strings.TrimPrefix(path, home), string(b))
		return err
	}))
	if looked < 2 {
		t.Errorf("only %d files have the call", looked)
	}
}
