package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// assertionsOf are those that failed, by the error line.
func assertionsOf(t *testing.T, o outcome) []expect.Failed {
	t.Helper()
	var line struct {
		Error struct {
			Kind string
			Data struct{ Assertions []expect.Failed }
		}
	}
	text := strings.TrimSpace(o.stderr)
	if err := json.Unmarshal([]byte(text[strings.LastIndexByte(text, '\n')+1:]), &line); err != nil || line.Error.Kind != "Assertion" {
		t.Fatalf("%v: %s", err, o.stderr)
	}
	return line.Error.Data.Assertions
}

// What every verb prints can be judged: by expressions, a schema and a time limit. The answer is printed all the same.
func TestExpectOnEveryVerb(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	dir := t.TempDir()
	never := filepath.Join(dir, "never.json")
	require.NoError(t, os.WriteFile(never, []byte(`{"type":"object","required":["nobody/has.this"]}`), 0o600))
	config := filepath.Join(dir, "mcp.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"mcpServers":{"demo":{"url":"`+url+`"}}}`), 0o600))
	everything := serveAgent(t, "--ephemeral", "--port", "0", "--profile", "everything").url
	for verb, holds := range map[string]string{
		"info":                                `.serverInfo.name | length > 0`,
		"tools list":                          `[.tools[].name] | index("echo") != null`,
		"tools list --all --config " + config: `.tools | length > 3`,
		"tools show echo":                     `.name == "echo"`,
		"tools call echo message=12345":       `.content[0].text | contains("12345")`,
		"resources list":                      `.resources | type == "array"`,
		"resources templates":                 `.resourceTemplates | type == "array"`,
		"prompts list":                        `.prompts | length > 0`,
		"ping":                                `.latencyMs > 0`,
		"raw tools/list":                      `.tools[0].inputSchema.type == "object"`,
		"status --config " + config:           `.servers[0].connected`,
		"skills list --url " + everything:     `. != null`,
		"check lint --fail-on never":          `.counts.error == 0 and .server.tools > 3`,
		"check lint cost --all --fail-on never --config " + config: `.reports[0].server.name == "demo"`,
		"doctor":                               `.steps | length > 3`,
		"doctor --all --config " + config:      `.servers[0].server == "demo"`,
		"trace echo message=12345":             `.spans | length > 0`,
		"resources list --url " + everything:   `.resources | length > 0`,
		"prompts get greet who=Ada FAKE":       `.messages[0].content.text | contains("Ada")`,
		"resources read fake://text FAKE":      `.contents[0].uri == "fake://text"`,
		"complete ref/prompt:greet who A FAKE": `.completion.values | length == 2`,
	} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			words := strings.Fields(verb)
			with := func(flags ...string) outcome {
				args := append(append([]string{}, words...), flags...)
				switch {
				case args[len(words)-1] == "FAKE":
					args = append(args[:len(words)-1], args[len(words):]...)
					return mcphud(t, fake(t, behave.Good, args...)...)
				case !strings.Contains(verb, "--url") && !strings.Contains(verb, "--config"):
					args = append(args, "--url", url)
				}
				return mcphud(t, args...)
			}
			with("--expect", holds, "--expect", "true", "--max-latency", "10m").ok(t)
			o := with("--expect", holds, "--expect", "("+holds+") | not", "--expect-schema", never, "--max-latency", "1ns")
			if o.code != cli.ExitAssertion || o.out == "" {
				t.Fatalf("exit %d %s %s", o.code, o.out, o.stderr)
			}
			failed := assertionsOf(t, o)
			if len(failed) != 3 || failed[0].Expected != "("+holds+") | not" || failed[0].Got != "false" || failed[1].Assertion != expect.OfSchema || failed[2].Assertion != expect.OfLatency {
				t.Errorf("%+v", failed)
			}
		})
	}
}

// Numbers are judged as they were sent, and a tool's own error does not count as a failure where it was asked for.
func TestExpectOfACall(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	big := []string{"tools", "call", "add", "a=12345678901234567890", "b=1", "--url", url, "--expect"}
	mcphud(t, append(big, ".structuredContent.sum == 12345678901234567891")...).ok(t)
	mcphud(t, append(big, ".structuredContent.sum == 12345678901234567890")...).exits(t, cli.ExitAssertion)
	fails := []string{"tools", "call", "fail", "--url", url}
	if o := mcphud(t, fails...); o.code != cli.ExitTool {
		t.Fatalf("exit %d %s", o.code, o.stderr)
	}
	for _, c := range []struct {
		expr string
		code int
	}{
		{".isError", cli.ExitOK},
		{".content | length > 0", cli.ExitTool},
		{".isError | not", cli.ExitAssertion},
		{".structuredContent.id", cli.ExitAssertion},
	} {
		mcphud(t, append(fails, "--expect", c.expr)...).exits(t, c.code)
	}
	o := mcphud(t, append(fails, "--expect", ".isError | not", "--expect", ".x", "--format", "text")...)
	if !strings.Contains(o.stderr, "error: assertion failed: .isError | not gave false (and 1 more)") || !strings.Contains(o.stderr, ".x gave null") || strings.Contains(o.stderr, `"assertions"`) {
		t.Errorf("%s", o.stderr)
	}
}

// What is wrong with an assertion is said before anything is sent.
func TestExpectRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"type":7}`), 0o600))
	for flags, want := range map[string]string{
		"--expect .tools[":                "at character 8, at its end",
		"--expect lenght":                 "function not defined: lenght/0 at character 1",
		"--expect-schema " + bad:          "type 7 is not checked",
		"--expect-schema /nowhere/at/all": "no such file",
		"--max-latency 0s":                "must be more than 0",
	} {
		args := append([]string{"tools", "list"}, strings.SplitN(flags, " ", 2)...)
		mcphud(t, append(args, "--", "sh", "-c", "touch "+dir+"/started")...).exits(t, cli.ExitFailure, want)
	}
	if _, err := os.Stat(filepath.Join(dir, "started")); err == nil {
		t.Error("the server was started")
	}
	mcphud(t, "trace", "calls.jsonl", "--max-latency", "1s").exits(t, cli.ExitFailure, "are for a call, and no server was named")
	mcphud(t, "resources", "subscribe", "x://y", "--expect", ".", "--url", agent(t, agentsrv.Options{})).exits(t, cli.ExitFailure, "a subscription has no answer")
}
