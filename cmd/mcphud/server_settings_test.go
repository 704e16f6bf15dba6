package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// What mcp.yaml says of all servers is explained with its file and line, and with what it overrides; an entry's oauth block and keys that
// nobody knows are warned of, there and in the list of servers.
func TestC1_C3_C4_C10_ServerSettingsAreExplained(t *testing.T) {
	t.Parallel()
	own := "mcp:\n  auto_discover: false\n  pool:\n    max_idle_time: 90s\n    max_connections: some\ncontinue_on_error: false\n"
	local := `mcp:
  servers:
    - {id: github, command: x, oauth: {client_id: a, client_secret: s3cret, scopes: [repo]}}
  auto_discover: true
  cache_ttl: 1h
  timeouts: {tool_call: 20s, connect: 10s, discovery: 15s}
  allowed_tool_pattern: ^[a-z]+$
  max_retries: 3
  retry_backoff: 1s
  max_concurrent_calls: 10
  client_metadata_url: https://example.com/client.json
  surprise: x
`
	cmd := explainer(t, "", "", nil)
	for name, text := range map[string]string{".config/mcphud/mcphud.yaml": own, "mcp.yaml": local} {
		path := filepath.Join(cmd.Dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	e, failure := explainedBy(t, cmd)
	wantSettings(t, e.Servers, map[string]string{
		"auto_discover":         "false mcphud.yaml:2, not true mcp.yaml:4",
		"allowed_tool_pattern":  "^[a-z]+$ mcp.yaml:7",
		"client_metadata_url":   "https://example.com/client.json mcp.yaml:11",
		"max_retries":           "3 mcp.yaml:8",
		"retry_backoff":         "1s mcp.yaml:9",
		"max_concurrent_calls":  "10 mcp.yaml:10",
		"continue_on_error":     "false mcphud.yaml:6",
		"cache_ttl":             "1h mcp.yaml:5",
		"pool.max_idle_time":    "90s mcphud.yaml:4",
		"pool.cleanup_interval": "1m0s default",
		"pool.max_connections":  "no limit default",
		"timeouts.tool_call":    "20s mcp.yaml:6",
		"timeouts.connect":      "10s mcp.yaml:6",
		"timeouts.discovery":    "15s mcp.yaml:6",
	})
	assert.Equal(t, failure, "")
	var problems []string
	for _, f := range e.Files {
		for _, p := range f.Problems {
			problems = append(problems, p.Message)
		}
	}
	list := command(t, "servers", "list", "--format", "text")
	list.Dir, list.Env = cmd.Dir, cmd.Env
	listed := finish(t, list)
	for _, want := range []string{"oauth has no effect: it says nothing of where", `unknown key "surprise"`, "max_connections: not a number; it is ignored"} {
		assert.Contains(t, strings.Join(problems, "\n"), want)
		assert.Contains(t, listed.out, want)
	}
	assert.NotContains(t, listed.out, "s3cret")
}

// The file's limits hold for one call as well: which tools may be called, and for how long.
func TestC10_LimitsOfTheFileHoldForOneCall(t *testing.T) {
	t.Parallel()
	limits := func(timeouts string) string {
		return writeConfig(t, "  allowed_tool_pattern: ^(echo|wait)$\n"+timeouts, [2]string{"good", string(behave.Good)}, [2]string{"deaf", string(behave.NoAnswer)})
	}
	file := limits("") // what is to succeed has time to, however busy the machine
	call := []string{"tools", "call", "--format", "json", "--config", file, "--server"}
	if o := mcphud(t, append(call, "good", "echo", "text=hello")...); !strings.Contains(o.ok(t), "hello") {
		t.Error(o.out)
	}
	o := mcphud(t, append(call, "good", "methods")...)
	if e := o.errorLine(t); o.code != cli.ExitTool || e.Kind != "InvalidToolName" || !strings.Contains(e.Message, "not allowed") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	o = mcphud(t, "raw", "--config", file, "--server", "good", "tools/call", `{"name":"echo","name":"methods"}`)
	if e := o.errorLine(t); o.code != cli.ExitFailure || e.Kind != "Usage" || !strings.Contains(e.Message, "read in two ways") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	for _, args := range [][]string{
		{limits("  timeouts: {tool_call: 300ms}\n"), "--server", "good", "wait"},
		{limits("  timeouts: {connect: 400ms}\n"), "--server", "deaf", "echo"},
	} {
		if o := mcphud(t, append([]string{"tools", "call", "--format", "json", "--config"}, args...)...); o.code != cli.ExitTimeout || o.took > 10*time.Second {
			t.Errorf("%q: exit %d after %v, %s", args, o.code, o.took, o.stderr)
		}
	}
}

// A pattern with a mistake in it does not let everything through.
func TestC10_NothingIsCalledByABrokenPattern(t *testing.T) {
	t.Parallel()
	file := writeConfig(t, "  allowed_tool_pattern: ((\n", [2]string{"good", string(behave.Good)})
	o := mcphud(t, "tools", "call", "--config", file, "--format", "json", "--server", "good", "echo", "text=hello")
	if e := o.errorLine(t); o.code != cli.ExitTool || e.Kind != "InvalidToolName" || !strings.Contains(e.Message, "allowed_tool_pattern") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	if o := mcphud(t, "servers", "list", "--config", file, "--format", "text"); !strings.Contains(o.out+o.stderr, "no tool is called until it is corrected") {
		t.Errorf("%s%s", o.out, o.stderr)
	}
}

// Who is refused for lack of credentials is told of what there is: a header, and no login.
func TestRefusalAdvisesAHeader(t *testing.T) {
	t.Parallel()
	s := faketest.HTTP(t, behave.Good, behave.Fault{Status: 401})
	o := mcphud(t, "info", "--url", s.URL)
	if o.code != cli.ExitAuth || !strings.Contains(o.stderr, "-H") || strings.Contains(o.stderr, "log in") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}
