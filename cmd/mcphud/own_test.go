package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// The name of a configured server is the target of every command that takes one, wherever a URL could stand.
func TestNameIsATarget(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, "", [2]string{"tiny", string(behave.Good)}, [2]string{"lint", string(behave.Good)})
	dir := t.TempDir()
	journal := filepath.Join(dir, "j.jsonl")
	write(t, filepath.Join(dir, "sum.yaml"), "tool: add\narguments: {a: 1, b: 2}\n")
	for line, want := range map[string]string{
		"doctor tiny":                       `"server":"tiny"`,
		"ping tiny":                         `"latencyMs"`,
		"info tiny":                         `"serverInfo"`,
		"tools list tiny":                   `"echo"`,
		"tools show echo tiny":              `"echo"`,
		"tools call echo message=hi tiny":   `hi`,
		"tools call tiny echo message=hi":   `hi`,
		"tools call echo tiny message=hi":   `hi`,
		"resources list tiny":               `"resources"`,
		"prompts list tiny":                 `"prompts"`,
		"raw tools/list tiny":               `"echo"`,
		"raw tools/list {} tiny":            `"echo"`,
		"check lint tiny":                   `"lint"`,
		"check cost lint":                   `"lint"`, // the section
		"bench tiny --count 2":              `"targets"`,
		"trace echo message=hi tiny":        `"spans"`,
		"status tiny":                       `"name":"tiny"`,
		"tools list --cost tiny":            `"tokens"`,
		"check --fail-on never cost tiny":   `"cost"`,
		"run " + dir + "/sum.yaml a=2 tiny": `4`,
	} {
		args := strings.Fields(line)
		if line == "check cost lint" { // which names no server
			mcphud(t, append(args, "--config", file)...).exits(t, cli.ExitFailure, "no server was named")
			continue
		}
		o := mcphud(t, append(args, "--config", file, "--format", "json")...)
		if line == "check lint tiny" && o.code == cli.ExitAssertion { // which may find something
			o.code, o.stderr = 0, ""
		}
		if out := o.ok(t); !strings.Contains(strings.ReplaceAll(out, `": `, `":`), want) {
			t.Errorf("%s: no %s in %.600s", line, want, out)
		}
	}
	assert.NotContains(t, mcphud(t, "status", "tiny", "--config", file).ok(t), `"name":"lint"`)
	mcphud(t, "tools", "list", "tiny", "--config", file, "--journal", journal).ok(t)
	assert.Contains(t, mcphud(t, "journal", "replay", journal, "tiny", "--config", file).ok(t), `"same"`)
}

// In the UI a name opens and connects its server.
func TestNameOpensTheUI(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no pseudo terminals")
	}
	s := startUI(t, "tiny", "--config", writeConfig(t, "", [2]string{"tiny", string(behave.Good)}))
	s.shows("rpc_error")
	s.types(t, "q")
	if code := s.exit(); code != 0 {
		t.Errorf("exit %d", code)
	}
}

// A name that is nowhere gets a question about those that are: names of servers, and commands where one could stand.
func TestUnknownNameAsks(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, "", [2]string{"everything", string(behave.Good)}, [2]string{"status", string(behave.Good)})
	for line, want := range map[string]string{
		"evrything":                      "did you mean everything?",
		"doctr":                          "did you mean doctor?",
		"statu":                          "did you mean status?",
		"doctor evrything":               "did you mean everything?",
		"status evrything":               "did you mean everything?",
		"ping evrything":                 "did you mean everything?",
		"tools list evrything":           "did you mean everything?",
		"tools call add evrything":       "did you mean everything?",
		"check evrything":                "did you mean everything?",
		"auth explain evrything":         "did you mean everything?",
		"tools everything":               "did you mean mcphud tools list everything?",
		"everything tools list":          "did you mean mcphud tools list everything?",
		"doctor --all everything":        "leave one of both out",
		"check --all everything":         "leave one of both out",
		"status --server everything":     "write mcphud status everything",
		"doctor everything --server x":   "takes no arguments",
		"everything --url http://x.test": "name exactly one",
	} {
		o := mcphud(t, append(strings.Fields(line), "--config", file, "--format", "text")...)
		if o.code == 0 || !strings.Contains(strings.Join(strings.Fields(o.stderr), " "), want) {
			t.Errorf("mcphud %s: exit %d, no %q in %s", line, o.code, want, o.stderr)
		}
	}
	// A command comes before a server of its name, and whoever lists the servers learns how that one is opened.
	if o := mcphud(t, "servers", "list", "--config", file, "--format", "text").ok(t); !strings.Contains(o, "status is also a command: mcphud --server status") || strings.Contains(o, "everything is also") {
		t.Errorf("servers list: %s", o)
	}
	assert.Contains(t, mcphud(t, "status", "--config", file, "--format", "text").ok(t), "everything")
	assert.Contains(t, mcphud(t, "__complete", "doctor", "--config", file, "").ok(t), "everything\n")
	assert.Contains(t, mcphud(t, "tools", "list", "x", "--config", file+".none", "--format", "text").stderr, "mcp.yaml.none")
}

// A bare name starts nothing that --server would not start.
func TestNameNeedsTheSameTrust(t *testing.T) {
	t.Parallel()
	run := sameHome(t)
	first := run("ping", "notes")
	entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"notes": map[string]any{"command": "sh", "args": []string{"-c", "touch started"}}}})
	require.NoError(t, err)
	write(t, filepath.Join(first.Dir, ".mcp.json"), string(entry))
	if o := finish(t, first); o.errorLine(t).Kind != "ServerDisabled" {
		t.Errorf("ping: %s", o.stderr)
	}
	for _, args := range [][]string{{"status", "notes"}, {"tools", "call", "x", "notes"}, {"run", "x", "notes"}, {"check", "lint", "notes"}} {
		named := finish(t, run(args...))
		if named.code == 0 || !strings.Contains(named.stderr, "not trusted yet") && args[0] != "run" {
			t.Errorf("%v: exit %d: %s", args, named.code, named.stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(first.Dir, "started")); err == nil {
		t.Error("a server that is not trusted was started")
	}
}
