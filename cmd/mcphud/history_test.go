package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	verbcall "github.com/mcphud/mcphud/cmd/verb/call"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

// withCalls gives this test a history of its own, and returns its file.
func withCalls(t *testing.T) string {
	t.Helper()
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv(cli.NoHistory, "")
	return filepath.Join(state, "mcphud", "calls.db")
}

// callsOf runs history list and reads what it prints.
func callsOf(t *testing.T, args ...string) []calls.Call {
	t.Helper()
	var list struct{ Calls []calls.Call }
	if out := mcphud(t, append([]string{"history", "list"}, args...)...).ok(t); json.Unmarshal([]byte(out), &list) != nil {
		t.Fatal(out)
	}
	return list.Calls
}

// Commands leave what they called in the history, each in a process of its own; it can be found, named, compared and removed.
func TestHistoryOfCommands(t *testing.T) {
	file := withCalls(t)
	for _, args := range [][]string{
		{"tools", "call", "echo", "text=one", "api_key=hunter2"},
		{"tools", "call", "echo", "text=two"},
		{"tools", "call", "rpc_error"},
		{"prompts", "get", "greet", "who=Ada"},
		{"resources", "read", "fake://blob"},
		{"raw", "tools/call", `{"name":"echo","arguments":{"text":"raw"}}`},
		{"tools", "list"},
		{"ping"},
	} {
		mcphud(t, fake(t, behave.Good, args...)...)
	}
	calls := callsOf(t)
	var lines []string
	for _, c := range calls {
		lines = append(lines, fmt.Sprintf("%d %s %s %s %s", c.ID, c.Method, c.Target, c.Arguments, c.Verdict))
	}
	want := `6 tools/call echo {"text":"raw"} ok
5 resources/read fake://blob  ok
4 prompts/get greet {"who":"Ada"} ok
3 tools/call rpc_error {} error
2 tools/call echo {"text":"two"} ok
1 tools/call echo {"text":"one","api_key":"***"} ok`
	assert.Equal(t, strings.Join(lines, "\n"), want)
	if b, err := os.ReadFile(file); err != nil || strings.Contains(string(b), "hunter2") {
		t.Errorf("the secret is in the file; %v", err)
	}
	var shown verbcall.ShownCall
	if out := mcphud(t, "history", "show", "2").ok(t); json.Unmarshal([]byte(out), &shown) != nil || !strings.Contains(string(shown.Result), "two") || shown.Server.Command == "" {
		t.Errorf("%s", out)
	}
	if c := callsOf(t, "fail", "rpc_error", "--limit", "1"); len(c) != 0 {
		t.Errorf("%+v", c)
	}
	if c := callsOf(t, "capacitor"); len(c) != 1 || c[0].Code == nil || *c[0].Code != -32050 {
		t.Errorf("%+v", c)
	}
	for _, args := range [][]string{{"name", "2", "smoke"}, {"pin", "3", "4"}, {"pin", "4", "--off"}, {"note", "smoke", "as", "documented"}, {"rm", "1", "5"}} {
		mcphud(t, append([]string{"history"}, args...)...).ok(t)
	}
	if c := callsOf(t, "--kept"); len(c) != 2 || c[0].ID != 3 || c[1].Name != "smoke" || c[1].Note != "as documented" {
		t.Errorf("%+v", c)
	}
	var d verbcall.ComparedCalls
	if out := mcphud(t, "history", "diff", "smoke", "last").ok(t); json.Unmarshal([]byte(out), &d) != nil || d.Same || len(d.Differences) != 1 {
		t.Errorf("%s", out)
	}
	assert.Contains(t, mcphud(t, "history", "diff", "last", "--format", "text").ok(t), "2 → 6")
	assert.Contains(t, mcphud(t, "history", "list", "--format", "text").ok(t), "smoke (as documented)", "✗ error")
	if out := mcphud(t, "history", "list", "--format", "jsonl").ok(t); strings.Count(out, "\n") != 4 {
		t.Errorf("%s", out)
	}
	if o := mcphud(t, "history", "show", "99"); o.code != cli.ExitTool || o.errorLine(t).Kind != "NotFound" {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	mcphud(t, "history", "name", "last", "../x").exits(t, cli.ExitFailure, "choose another name")
	if o := mcphud(t, "history", "clear"); o.code != cli.ExitFailure || len(callsOf(t)) != 4 {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	assert.Equal(t, mcphud(t, "history", "clear", "--yes").ok(t), `{"removed":4}`+"\n")
	if c := callsOf(t); len(c) != 0 {
		t.Errorf("%+v", c)
	}
}

// Whoever wants no history gets no file.
func TestNoHistoryIsWritten(t *testing.T) {
	file := withCalls(t)
	mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "text=x", "--no-history")...).ok(t)
	mcphud(t, fake(t, behave.Good, "resources", "read", "fake://blob", "--read-only")...).ok(t)
	mcphud(t, fake(t, behave.Good, "tools", "list")...).ok(t)
	mcphud(t, "history", "list").ok(t)
	t.Setenv(cli.NoHistory, "off")
	mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "text=x")...).ok(t)
	if _, err := os.Stat(filepath.Dir(file)); err == nil {
		files, _ := filepath.Glob(filepath.Dir(file) + "/*")
		t.Errorf("there are files: %v", files)
	}
}

// A call goes on where its history cannot be written, and says so.
func TestBrokenHistory(t *testing.T) {
	file := withCalls(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("not a database ", 1000)), 0o600))
	o := mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "text=x")...)
	if o.code != 0 || !strings.Contains(o.out, "x") || !strings.Contains(o.stderr, "warning: cannot open the history") || !strings.Contains(o.stderr, "remove it") {
		t.Errorf("exit %d %s %s", o.code, o.out, o.stderr)
	}
	mcphud(t, "history", "list").exits(t, cli.ExitFailure, "remove it")
}
