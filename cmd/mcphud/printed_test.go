package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// --select prints what an expression gives, whatever the verb, and refuses what it cannot filter before anything is done.
func TestSelect(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	assert.Equal(t, mcphud(t, "tools", "call", "add", "a=1", "b=2", "--select", ".structuredContent.sum, .isError", url).ok(t), "3\nnull\n")
	assert.Equal(t, mcphud(t, "tools", "call", "echo", "message=two\nlines", "--select", ".content[0].text", "--format", "text", url).ok(t), "two\nlines\n")
	assert.Equal(t, mcphud(t, "tools", "call", "echo", "message=hi", "--select", ".result.content[0].text", "--format", "raw", url).ok(t), `"hi"`+"\n")
	names := strings.Fields(mcphud(t, "tools", "list", "--select", ".tools[].name", "--format", "text", url).ok(t))
	if !slices.Contains(names, "add") || !slices.Contains(names, "echo") {
		t.Error(names)
	}
	// Assertions are of the whole answer.
	mcphud(t, "tools", "call", "add", "a=1", "b=2", "--select", ".nothing", "--expect", ".structuredContent.sum == 3", url).prints(t, cli.ExitOK, "null\n")
	mcphud(t, "tools", "call", "add", "a=1", "b=2", "--select", ".structuredContent.sum", "--expect", ".structuredContent.sum == 4", url).prints(t, cli.ExitAssertion, "3\n")

	o := mcphud(t, "tools", "list", "--select", ".tools[] | select(.name == \"none\")", url)
	if o.ok(t) != "" || !strings.Contains(o.stderr, "gave nothing") {
		t.Errorf("%q %q", o.out, o.stderr)
	}
	o = mcphud(t, "tools", "list", "--select", ".tools.name", url)
	o.exits(t, cli.ExitFailure, "--select: expected an object", "correct the expression")
	assert.Equal(t, o.errorLine(t).Kind, "Usage")
	for _, wrong := range []string{".[", "lenght", "", "input"} {
		o := mcphud(t, "tools", "list", "--select", wrong, url)
		if o.exits(t, cli.ExitFailure, "is not a jq expression", "--select"); o.out != "" {
			t.Error(o.out)
		}
	}
	mcphud(t, "tools", "list", "--select", ".", "--format", "brief", url).exits(t, cli.ExitFailure, "--format brief prints text")
	mcphud(t, "--select", ".").exits(t, cli.ExitFailure, "--select is for what a command prints")
	mcphud(t, "help", "keys", "--format", "text", "--select", ".topic").prints(t, cli.ExitOK, "keys\n")
	mcphud(t, "agent", "--select", ".").exits(t, cli.ExitFailure, "--select does not apply to the agent")
	mcphud(t, "journal", "cut", "x.jsonl", "--max-bytes", "5").exits(t, cli.ExitFailure, "--max-bytes does not apply to mcphud journal cut")
}

// A report for stdout that is not JSON is refused before the server is asked for anything; one in a file stands beside what is selected.
func TestSelectAndReports(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "traffic.jsonl")
	o := mcphud(t, fake(t, behave.Good, "check", "--select", ".counts", "--report", "junit=-", "--journal", journal)...)
	o.exits(t, cli.ExitFailure, "--report junit prints something else")
	if _, err := os.Stat(journal); err == nil || o.out != "" {
		t.Errorf("the server was started: %s", o.out)
	}
	file := filepath.Join(t.TempDir(), "report.xml")
	out := mcphud(t, fake(t, behave.Good, "check", "--fail-on", "never", "--select", ".sections[].name", "--format", "text", "--report", "junit="+file)...).ok(t)
	if !strings.Contains(out, "lint\n") || !strings.HasPrefix(contents(file), "<?xml") {
		t.Errorf("%s\n%s", out, contents(file))
	}
	mcphud(t, fake(t, behave.Good, "check", "--fail-on", "never", "--select", ".runs[].tool.driver.name", "--report", "sarif=-")...).prints(t, cli.ExitOK, `"mcphud"`)
}

// --max-bytes prints no more, JSON that is JSON, and says what is left out and how to get it; that works.
func TestMaxBytes(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	whole := mcphud(t, "tools", "list", url).ok(t)
	type tool struct{ Name string }
	var all struct{ Tools []tool }
	require.NoError(t, json.Unmarshal([]byte(whole), &all))
	o := mcphud(t, "tools", "list", "--max-bytes", "4KiB", url)
	if o.ok(t); !json.Valid([]byte(o.out)) || len(o.out) > 4096 || len(o.out) < 2048 {
		t.Fatalf("%d bytes: %s", len(o.out), o.out)
	}
	_, expr, _ := strings.Cut(o.stderr, "prints all, --select ")
	expr, _, found := strings.Cut(strings.Trim(expr, "'"), "' what is left")
	if !found {
		t.Fatal(o.stderr)
	}
	var rest []tool
	require.NoError(t, json.Unmarshal([]byte(mcphud(t, "tools", "list", "--select", expr, url).ok(t)), &rest))
	if first := len(all.Tools) - len(rest); first < 1 || !slices.Equal(rest, all.Tools[first:]) || !strings.Contains(o.out, `"name":"`+all.Tools[first-1].Name+`"`) {
		t.Errorf("%d of %d tools are the rest: %s", len(rest), len(all.Tools), o.stderr)
	}
	_, enough, _ := strings.Cut(o.stderr, "): --max-bytes ")
	enough, _, _ = strings.Cut(enough, " ")
	assert.Equal(t, mcphud(t, "tools", "list", "--max-bytes", enough, url).ok(t), whole)

	o = mcphud(t, "tools", "list", "--format", "text", "--max-bytes", "300", url)
	if lines := strings.SplitAfter(o.ok(t), "\n"); len(o.out) > 300 || len(lines) < 3 || lines[len(lines)-1] != "" || !strings.Contains(o.stderr, "lines)") {
		t.Errorf("%q %q", o.out, o.stderr)
	}
	for _, format := range []string{"json", "text", "jsonl", "raw", "brief"} {
		o = mcphud(t, "tools", "list", "--format", format, "--max-bytes", "1", url)
		if o.ok(t) != "" || !strings.Contains(o.stderr, "--max-bytes 1 left out ") {
			t.Errorf("%s: %q %q", format, o.out, o.stderr)
		}
	}
	for _, wrong := range []string{"0", "-1", "x", ""} {
		mcphud(t, "tools", "list", "--max-bytes", wrong, url).exits(t, cli.ExitFailure, "--max-bytes")
	}
	mcphud(t, "--max-bytes", "5").exits(t, cli.ExitFailure, "--max-bytes is for what a command prints")
	mcphud(t, "version", "--max-bytes", "10").exits(t, cli.ExitOK, "--max-bytes 10 left out ")
	mcphud(t, "help", "keys", "--max-bytes", "1KiB").exits(t, cli.ExitOK, "--max-bytes 1KiB left out ")
	o = mcphud(t, "check", "--format", "json", "--max-bytes", "2KiB", "--fail-on", "info", url)
	if o.exits(t, cli.ExitAssertion, "--max-bytes 2KiB left out ", `"kind":"Assertion"`); len(o.out) > 2048 || !json.Valid([]byte(o.out)) {
		t.Error(o.out)
	}
	assert.Equal(t, o.errorLine(t).Kind, "Assertion")
}

// Of a call, nobody is told to make it again: the history has the rest, or it says that nothing has.
func TestMaxBytesOfACall(t *testing.T) {
	withCalls(t)
	call := fake(t, behave.Good, "tools", "call", "echo", "text="+strings.Repeat("long ", 200), "--max-bytes", "100")
	o := mcphud(t, call...)
	if o.ok(t); !json.Valid([]byte(o.out)) || len(o.out) > 100 || !strings.Contains(o.stderr, "mcphud history show last prints a call's result") || strings.Contains(o.stderr, "prints all") {
		t.Errorf("%q %q", o.out, o.stderr)
	}
	assert.Contains(t, mcphud(t, "history", "show", "last", "--select", ".result.content[0].text").ok(t), "long long")
	o = mcphud(t, append(call[:6:6], append([]string{"--select", ".content.text"}, call[6:]...)...)...)
	o.exits(t, cli.ExitFailure, "--select", "mcphud history show last prints a call's result")

	o = mcphud(t, append([]string{"tools", "call", "--no-history"}, call[2:]...)...)
	if o.ok(t); !strings.Contains(o.stderr, "is not kept: --journal FILE keeps it of the next one") {
		t.Errorf("%q %q", o.out, o.stderr)
	}
	file := filepath.Join(t.TempDir(), "call.jsonl")
	o = mcphud(t, append([]string{"tools", "call", "--no-history", "--journal", file}, call[2:]...)...)
	o.exits(t, cli.ExitOK, "mcphud open "+file+" prints a call's result")
	mcphud(t, fake(t, behave.Good, "resources", "read", "fake://text", "--max-bytes", "20")...).exits(t, cli.ExitOK, "prints all")
}

// What follows something without an end stops where the limit is reached.
func TestMaxBytesOfAStream(t *testing.T) {
	t.Parallel()
	name := recorded(t)
	o := mcphud(t, "open", name, "--max-bytes", "300")
	if lines := strings.Count(o.ok(t), "\n"); lines < 1 || len(o.out) > 300 || !strings.Contains(o.stderr, "--max-bytes 300 ") {
		t.Errorf("%q %q", o.out, o.stderr)
	}
	assert.Contains(t, mcphud(t, "open", name, "--select", "select(.method == \"tools/call\") | .seq").ok(t), "\n")
	assert.NotContains(t, mcphud(t, "open", name, "--format", "text", "--select", ".method // \"none\"").ok(t), `"`)
}

// A limit and a selection write as everything else does: whoever closes the output ends the program in silence.
func TestBrokenPipeOfALimit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no SIGPIPE")
	}
	for _, flags := range [][]string{{"--select", ".tools[]"}, {"--max-bytes", "2MiB"}, {"--format", "brief", "--max-bytes", "100KiB"}} {
		leaveEarly(t, command(t, fake(t, behave.ManyTools, append([]string{"tools", "list"}, flags...)...)...))
	}
}

// A file of another program is filtered where it is JSON.
func TestSelectOfAConvertedFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mcp.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers":{"a":{"command":"node","args":["x.js"]},"b":{"url":"http://127.0.0.1:1/mcp"}}}`), 0o600))
	convert := []string{"config", "convert", "--config", file, "--to"}
	assert.Equal(t, mcphud(t, append(convert, "vscode", "--select", ".servers | keys[]")...).ok(t), "\"a\"\n\"b\"\n")
	mcphud(t, append(convert, "codex", "--select", ".")...).exits(t, cli.ExitFailure, "prints something else")
	o := mcphud(t, append(convert, "codex", "--max-bytes", "40")...)
	if o.exits(t, cli.ExitOK, "left out"); len(o.out) > 40 {
		t.Error(o.out)
	}
}

// The format brief is a line a tool, also of all servers, and of the other lists.
func TestBrief(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	out := mcphud(t, "tools", "list", "--format", "brief", url).ok(t)
	if !strings.Contains(out, "add(a: number, b: number) — ") || strings.Count(out, "\n") != strings.Count(mcphud(t, "tools", "list", "--select", ".tools[].name", url).ok(t), "\n") {
		t.Error(out)
	}
	file := filepath.Join(t.TempDir(), "mcp.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"mcpServers":{"one":{"url":"`+url+`"}}}`), 0o600))
	all := mcphud(t, "tools", "list", "--all", "--config", file, "--format", "brief").ok(t)
	assert.Contains(t, all, "mcp__one__add(a: number, b: number) — ")
	assert.Contains(t, mcphud(t, "prompts", "list", "--format", "brief", url).ok(t), "(")
	assert.Contains(t, mcphud(t, "resources", "list", "--format", "brief", url).ok(t), "://")
	assert.Contains(t, mcphud(t, "resources", "templates", "--format", "brief", url).ok(t), "{")
	assert.Contains(t, mcphud(t, "skills", "list", "--format", "brief", url).ok(t), " — ")
	for _, args := range [][]string{{"tools", "call", "echo", url}, {"info", url}, {"status"}, {"version"}} {
		mcphud(t, append(args, "--format", "brief")...).exits(t, cli.ExitFailure, "--format brief is for lists of a server")
	}
}
