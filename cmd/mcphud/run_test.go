package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

// project is a folder with these calls, in which the test runs.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	faketest.Stdio(t, behave.Good) // it is built, which takes the folder of the test
	dir := filepath.Join(t.TempDir(), ".mcphud", "calls")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	t.Chdir(filepath.Dir(filepath.Dir(dir)))
	return dir
}

// A call of the history runs again where it was made, in another process; what was secret is asked for.
func TestHistoryRun(t *testing.T) {
	file := withCalls(t)
	mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "text=one", "api_key=hunter2")...).ok(t)
	mcphud(t, fake(t, behave.Good, "prompts", "get", "greet", "who=Ada")...).ok(t)
	mcphud(t, fake(t, behave.Good, "resources", "read", "fake://blob")...).ok(t)
	mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "text=x", "-e", "X=1")...).ok(t)
	if o := mcphud(t, "history", "run", "1"); o.code != cli.ExitNeedsInput || !strings.Contains(o.stderr, "MCPHUD_SECRET_API_KEY") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	if out := mcphud(t, "history", "run", "1", "text=two", "api_key=again").ok(t); !strings.Contains(out, "two") || !strings.Contains(out, "again") {
		t.Errorf("%s", out)
	}
	t.Setenv("MCPHUD_SECRET_API_KEY", "from the environment")
	if out := mcphud(t, "history", "run", "1").ok(t); !strings.Contains(out, "one") || !strings.Contains(out, "from the environment") {
		t.Errorf("%s", out)
	}
	if b, err := os.ReadFile(file); err != nil || strings.Contains(string(b), "from the environment") {
		t.Errorf("the secret is in the file; %v", err)
	}
	if out := mcphud(t, "history", "run", "2").ok(t); !strings.Contains(out, "Ada") {
		t.Errorf("%s", out)
	}
	if out := mcphud(t, "history", "run", "3").ok(t); !strings.Contains(out, "fake://blob") {
		t.Errorf("%s", out)
	}
	if o := mcphud(t, "history", "run", "4"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "not all kept") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	if out := mcphud(t, fake(t, behave.Good, "history", "run", "4")...).ok(t); !strings.Contains(out, "x") {
		t.Errorf("%s", out)
	}
	// Run says the same.
	if out := mcphud(t, "run", "1", "text=three").ok(t); !strings.Contains(out, "three") || !strings.Contains(out, "from the environment") {
		t.Errorf("%s", out)
	}
	if o := mcphud(t, "run", "4"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "not all kept") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	if o := mcphud(t, "run", "2", "3", "--format", "jsonl"); strings.Count(o.ok(t), "\n") != 2 || !strings.Contains(o.out, `"name":"3"`) {
		t.Errorf("%s", o.out)
	}
	if o := mcphud(t, "run", "2", "--compare", "protocol:2025-11-25"); !strings.Contains(o.out, `"same":true`) {
		t.Errorf("exit %d %s %s", o.code, o.out, o.stderr)
	}
	if o := mcphud(t, "run", "1", "--batch", batchFile(t, "{\"text\":\"a\"}\n{}\n")); strings.Count(o.ok(t), "from the environment") < 2 || !strings.Contains(o.out, "one") {
		t.Errorf("%s", o.out)
	}
	for says, words := range map[string][]string{"for a single call": {"1", "2", "--compare", "x"}, "--filter is for": {"1", "--filter", "tool:x"}, "there is no call": {"99"}} {
		if o := mcphud(t, append([]string{"run"}, words...)...); o.code == cli.ExitOK || !strings.Contains(o.stderr, says) {
			t.Errorf("%q: exit %d %s", words, o.code, o.stderr)
		}
	}
	if calls := callsOf(t, "--limit", "20"); calls[len(calls)-9].ID != 9 || calls[len(calls)-9].Target != "echo" {
		t.Errorf("%+v", calls)
	}
	require.NoError(t, os.WriteFile(file, bytes.Repeat([]byte("no database "), 1000), 0o600))
	if o := mcphud(t, "run", "nix"); o.code != cli.ExitTool || !strings.Contains(o.stderr, "there is no call") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
}

// A call of the history becomes a file of the project, which runs, alone or with others.
func TestRunCalls(t *testing.T) {
	withCalls(t)
	dir := project(t, map[string]string{
		"a-fine.yaml": "tool: echo\narguments: {text: from a file}\nowner: ada\n", "b-fails.yaml": "tool: rpc_error\n", "c-unknown.yaml": "tool: nix\n",
		"d-prompt.yaml": "prompt: greet\narguments: {who: Ada}\n", "e-resource.yaml": "resource: fake://blob\n", "no call.md": "",
	})
	o := mcphud(t, fake(t, behave.Good, "run", "a-fine")...)
	if out := o.ok(t); !strings.Contains(out, "from a file") || !strings.Contains(o.stderr, `a-fine.yaml:3:1: unknown key "owner"`) {
		t.Errorf("%s %s", out, o.stderr)
	}
	if out := mcphud(t, fake(t, behave.Good, "run", "a-fine", "text=from here")...).ok(t); !strings.Contains(out, "from here") {
		t.Errorf("%s", out)
	}
	if o := mcphud(t, fake(t, behave.Good, "run", "b-fails")...); o.code != cli.ExitRPC {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	o = mcphud(t, fake(t, behave.Good, "run", ".")...)
	var all struct {
		Calls  []calls.Outcome
		Failed int
	}
	if err := json.Unmarshal([]byte(o.out), &all); err != nil || o.code != cli.ExitRPC || all.Failed != 2 || len(all.Calls) != 5 {
		t.Fatalf("%v, exit %d %s %s", err, o.code, o.out, o.stderr)
	}
	var verdicts []string
	for _, c := range all.Calls {
		verdicts = append(verdicts, c.Name+" "+c.Verdict)
	}
	if got := strings.Join(verdicts, ", "); got != "a-fine ok, b-fails error, c-unknown failed, d-prompt ok, e-resource ok" {
		t.Error(got)
	}
	o = mcphud(t, fake(t, behave.Good, "run", dir, "--format", "text")...)
	if !strings.Contains(o.out, "✗ error  b-fails") || !strings.HasSuffix(o.out, "5 calls, 2 failed\n") {
		t.Errorf("%s", o.out)
	}
	if o := mcphud(t, fake(t, behave.Good, "run", "a-fine", filepath.Join(dir, "d-prompt.yaml"), "--format", "jsonl", "--concurrency", "1")...); strings.Count(o.ok(t), "\n") != 2 {
		t.Errorf("%s", o.out)
	}
	calls := callsOf(t, "--limit", "1")
	mcphud(t, "history", "save", fmt.Sprint(calls[0].ID), "kept").ok(t)
	if b, err := os.ReadFile(filepath.Join(dir, "kept.yaml")); err != nil || !strings.Contains(string(b), "prompt: greet\narguments:\n  who: Ada\n") {
		t.Errorf("%s %v", b, err)
	}
	if o := mcphud(t, "history", "save", "1", "kept"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "--replace") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	mcphud(t, "history", "save", "1", "kept", "--replace").ok(t)
	for _, args := range [][]string{{"history", "save", "1", "../x"}, {"history", "save", "1", "/tmp/x"}} {
		if o := mcphud(t, args...); o.code != cli.ExitFailure {
			t.Errorf("%q: exit %d %s", args, o.code, o.stderr)
		}
	}
	if o := mcphud(t, fake(t, behave.Good, "run", "a-fin")...); o.code != cli.ExitTool || !strings.Contains(o.stderr, "did you mean a-fine") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	if o := mcphud(t, fake(t, behave.ExitAtOnce, "run", ".")...); o.code != cli.ExitUnreachable || strings.Count(o.out, `"failed"`) < 6 {
		t.Errorf("exit %d %s %s", o.code, o.out, o.stderr)
	}
}

// A file of a project starts no server, and contacts none, that is not trusted; nor does it get at variables.
func TestRunNeedsTrust(t *testing.T) {
	withCalls(t)
	mark := filepath.Join(t.TempDir(), "started")
	s := faketest.Stdio(t, behave.Good)
	project(t, map[string]string{
		"touch.yaml":  "command: [touch, " + mark + "]\ntool: echo\n",
		"url.yaml":    "url: http://127.0.0.1:1/mcp\ntool: echo\n",
		"named.yaml":  "server: fake\ntool: echo\narguments: {text: x}\n",
		"wrong.yaml":  "tool: echo\narguments: [1\n",
		"secret.yaml": "tool: echo\narguments: {path: '***'}\nsecrets: [/path]\n",
	})
	entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"fake": map[string]any{"command": s.Command, "args": s.Args}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(".mcp.json", entry, 0o644))
	for _, name := range []string{"touch", "url", "named", ".mcphud/calls/touch.yaml", ".mcphud/calls"} {
		if o := mcphud(t, "run", name); o.code == 0 || name != ".mcphud/calls" && !strings.Contains(o.stderr, "not trusted yet") {
			t.Errorf("%s: exit %d %s", name, o.code, o.stderr)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command of a project's file was run")
	}
	if o := mcphud(t, "run", "wrong"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "wrong.yaml:") || !strings.Contains(o.stderr, "is not valid YAML") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	if out := mcphud(t, "run", "named", "--config", ".mcp.json").ok(t); !strings.Contains(out, "x") {
		t.Errorf("%s", out)
	}
	if o := mcphud(t, fake(t, behave.Good, "run", "secret")...); o.code != cli.ExitNeedsInput || strings.Contains(o.out+o.stderr, os.Getenv("PATH")) {
		t.Errorf("exit %d %s %s", o.code, o.out, o.stderr)
	}
}
