package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/faketest"
	"github.com/mcphud/mcphud/session/faketest/behave"
)

// inspect runs one of the Inspector's command lines on a server.
func inspect(t *testing.T, mode behave.Mode, args ...string) outcome {
	t.Helper()
	s := faketest.Stdio(t, mode)
	return finish(t, command(t, append(append(append([]string{inspecting}, args...), "--", s.Command), s.Args...)...))
}

func TestInspectorCallsATool(t *testing.T) {
	t.Parallel()
	o := inspect(t, behave.Good, "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hi", "--format", "json")
	if !strings.HasPrefix(o.ok(t), `{"result":{`) || strings.Count(o.out, "\n") != 1 || !strings.Contains(o.out, "hi") {
		t.Error(o.out)
	}
	if o := inspect(t, behave.Good, "--method", "tools/call", "--tool-name", "none"); o.code != exitTool || lastLine(o) != `{"error":{"code":"tool_not_found","message":"Tool 'none' not found on server."}}` {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

func TestInspectorWritesResultsToFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "out")
	args := []string{"--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hi", "--output", file}
	if o := inspect(t, behave.Good, append(args, "--output-format", "raw")...); o.ok(t) != "" || contents(file) != `{"text":"hi"}` || !strings.Contains(o.stderr, "Wrote 13 bytes (raw) to "+file) {
		t.Errorf("%q, %s, %s", contents(file), o.out, o.stderr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	want := `{"result":`
	if o := inspect(t, behave.Good, append(args, "--format", "json")...); strings.Contains(o.ok(t), want) || !strings.Contains(o.out, `"format":"json"`) {
		t.Error(o.out)
	}
}

// What is not provided is named, and nothing is started for it.
func TestInspectorRefusesWhatItHasNot(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--method", "skills/list", "--verify"}, {"--method", "servers/add", "--server", "x", "-e", "K=secret", "run"}, {"--method", "tools/list", "--use-stored-auth"}} {
		o := finish(t, command(t, append([]string{inspecting}, args...)...))
		if o.code != exitFailure || !strings.Contains(o.stderr, `"code":"unsupported"`) || !strings.Contains(o.stderr, "not provided") && !strings.Contains(o.stderr, "cannot read or write") {
			t.Errorf("%q: exit %d, %s", args, o.code, o.stderr)
		}
	}
}

// Where the Inspector's own store would be needed nothing is changed; everything else of the file stays as it is written.
func TestInspectorKeepsItsList(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "list.json")
	const before = "{\n  \"other\": [1,2],\n  \"mcpServers\": {\"a\": {\"command\": \"run\", \"env\": {\"K\": \"\"}, \"mine\": 1.50}}\n}\n"
	run := func(args ...string) outcome {
		return finish(t, command(t, append([]string{inspecting, "--catalog", file, "--method"}, args...)...))
	}
	for _, args := range [][]string{{"servers/edit", "--server", "a", "--rename", "b"}, {"servers/edit", "--server", "a", "-e", "K=v"}, {"servers/add", "--server", "b", "-e", "K=v", "--", "run"}} {
		write(t, file, before)
		if o := run(args...); o.code != exitFailure || !strings.Contains(o.stderr, `"code":"unsupported"`) || !strings.Contains(o.stderr, "secret store") || contents(file) != before {
			t.Errorf("%q: exit %d, %s %s", args, o.code, o.stderr, contents(file))
		}
	}
	if run("servers/edit", "--server", "a", "--cwd", "/tmp").ok(t); contents(file) != strings.Replace(before, "1.50}", `1.50, "cwd": "/tmp"}`, 1) {
		t.Error(contents(file))
	}
	if err := os.Chmod(file, 0o400); err != nil {
		t.Fatal(err)
	}
	if o := run("servers/remove", "--server", "a"); o.code != exitFailure || !strings.Contains(o.stderr, "read-only") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

func TestInspectorListsItsOptions(t *testing.T) {
	t.Parallel()
	help := mcphud(t, inspecting, "--help").ok(t)
	for _, option := range []string{"--tool-arg <pairs...>", "-q, --quiet", "--protocol-era <era>"} {
		if !strings.Contains(help, option) {
			t.Errorf("no %s in %s", option, help)
		}
	}
	if got, want := mcphud(t, inspecting, "-V").ok(t), version()+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
