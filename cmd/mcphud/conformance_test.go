package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// TestConformanceClient: the official suite's scenarios for clients pass in each revision, without a list of exceptions, and every message
// that was sent is what the revision's schema allows. So they do where the client has to find out what the server speaks.
func TestConformanceClient(t *testing.T) {
	ways := map[string][]string{"told": nil}
	if budget.All() {
		ways["detected"] = []string{"--protocol", "auto"}
	}
	for _, revision := range peertest.ClientRevisions() {
		var frames *peertest.Frames
		if revision.HasSchema() {
			frames = peertest.NewFrames(t, revision.Name)
		}
		for _, scenario := range revision.ClientScenarios(t) {
			for name, flags := range ways {
				t.Run(revision.Name+"/"+scenario+"/"+name, func(t *testing.T) {
					t.Parallel()
					file := filepath.Join(t.TempDir(), "journal")
					client := command(t, append(flags, "conformance", "--journal", file)...)
					revision.RunClient(t, scenario, strings.Join(client.Args, " "), client.Env...)
					if frames != nil {
						checkFrames(t, frames, file, "out")
					}
				})
			}
		}
	}
}

// TestConformanceByHand: without the suite's environment nothing is asked of a server.
func TestConformanceByHand(t *testing.T) {
	t.Setenv("MCP_CONFORMANCE_SCENARIO", "")
	got := mcphud(t, "conformance", "http://127.0.0.1:1/mcp")
	if e := got.errorLine(t); got.code != cli.ExitFailure || !strings.Contains(e.Message, "MCP_CONFORMANCE_SCENARIO is not set") {
		t.Errorf("exit code %d: %+v", got.code, e)
	}
	t.Setenv("MCP_CONFORMANCE_SCENARIO", "http-custom-headers")
	t.Setenv("MCP_CONFORMANCE_CONTEXT", "[]")
	got = mcphud(t, "conformance", "http://127.0.0.1:1/mcp")
	if e := got.errorLine(t); got.code != cli.ExitFailure || !strings.Contains(e.Message, "MCP_CONFORMANCE_CONTEXT") {
		t.Errorf("exit code %d: %+v", got.code, e)
	}
	assert.NotContains(t, mcphud(t, "--help").ok(t), "conformance")
}

// TestConformanceFrames: what goes over the wire while all of the agent's tools, resources and prompts are used is what the revision's
// schema allows, in both directions.
func TestConformanceFrames(t *testing.T) {
	rules := filepath.Join(t.TempDir(), "rules.json")
	require.NoError(t, os.WriteFile(rules, []byte(`[
		{"kind": "sampling", "answer": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}}},
		{"fields": ["name"], "answer": {"name": "n"}}, {"fields": ["ok"], "answer": {"ok": true}}, {"fields": ["confirm"], "answer": {"confirm": true}},
		{"fields": ["username"], "answer": {"username": "u", "email": "u@example.com"}}, {"fields": ["color"], "answer": {"color": "red"}},
		{"fields": ["context"], "answer": {"context": "c"}}, {"kind": "elicitation", "answer": "accept"}
	]`), 0o600))
	more := map[string][]string{ // what a tool needs besides the example of its schema
		"greet": {"name=n"}, "test_elicitation": {"message=m"}, "test_sampling": {"prompt=p"}, "sleep": {"seconds=0.1"}, "call_agent": {"agent=a", "tool=t"},
	}
	wanted := map[string][]string{ // among what is checked
		"2025-11-25": {"in request elicitation/create", "out response elicitation/create", "out response sampling/createMessage", "out response roots/list", "out request tasks/get"},
		"2026-07-28": {"out request subscriptions/listen", "out request tasks/update", "in notification notifications/subscriptions/acknowledged"},
	}
	for _, revision := range peertest.Revisions() {
		frames := peertest.NewFrames(t, revision.Name)
		t.Run(revision.Name, func(t *testing.T) {
			url, seen := agent(t, agentsrv.Options{Profile: agentsrv.Everything}), map[string]bool{}
			use := func(args ...string) string {
				file := filepath.Join(t.TempDir(), "journal")
				got := mcphud(t, append(args, "--url", url, "--protocol", revision.Name, "--root", ".", "--log-level", "debug", "--yes", "--answer", "@"+rules, "--journal", file)...)
				if got.code != 0 && got.code != cli.ExitTool && got.code != cli.ExitRPC {
					t.Errorf("%q: exit code %d, %s", args, got.code, got.stderr)
				}
				for _, what := range checkFrames(t, frames, file, "") {
					seen[what] = true
				}
				return got.out
			}
			for _, args := range [][]string{
				{"info"},
				{"ping"},
				{"complete", "test_prompt_with_arguments", "arg1", "t"},
				{"skills", "list"},
				{"skills", "verify"},
				{"tools", "call", "slow_compute", "--task"},
			} {
				use(args...)
			}
			if revision.Name < "2026-07-28" { // later ones have no list of tasks
				use("tasks", "list")
			}
			for _, tool := range listed(t, use("tools", "list", "--format", "json")) {
				use(append([]string{"tools", "call", tool.Name, "--args", use("tools", "show", tool.Name, "--example")}, more[tool.Name]...)...)
			}
			for _, resource := range listed(t, use("resources", "list", "--format", "json")) {
				use("resources", "read", resource.URI)
			}
			for _, prompt := range listed(t, use("prompts", "list", "--format", "json")) {
				args := []string{"prompts", "get", prompt.Name}
				for _, arg := range prompt.Arguments {
					args = append(args, arg.Name+"=x")
				}
				use(args...)
			}
			for _, what := range append(wanted[revision.Name], "in response tools/call", "in notification notifications/progress", "in notification notifications/message") {
				if !seen[what] {
					t.Errorf("there was no %s", what)
				}
			}
		})
	}
}

type listedItem struct {
	Name, URI string
	Arguments []struct{ Name string }
}

// listed are the items of a list's result.
func listed(t *testing.T, result string) []listedItem {
	t.Helper()
	var lists struct{ Tools, Resources, Prompts []listedItem }
	require.NoError(t, json.Unmarshal([]byte(result), &lists))
	items := slices.Concat(lists.Tools, lists.Resources, lists.Prompts)
	if items == nil {
		t.Errorf("an empty list: %s", result)
	}
	return items
}

// checkFrames checks the messages that a journal has, those of one direction or of both, and returns what they were.
func checkFrames(t *testing.T, frames *peertest.Frames, journal, dir string) (seen []string) {
	t.Helper()
	f, err := os.Open(journal)
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e struct {
			Dir, Kind, Method string
			Frame             json.RawMessage
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &e))
		if e.Frame == nil || dir != "" && e.Dir != dir {
			continue
		}
		seen = append(seen, e.Dir+" "+e.Kind+" "+e.Method)
		if err := frames.Check(e.Method, e.Frame); err != nil {
			t.Errorf("%s %s: %v\n%s", e.Dir, e.Method, err, e.Frame)
		}
	}
	if err := lines.Err(); err != nil || seen == nil {
		t.Errorf("%d messages were checked: %v", len(seen), err)
	}
	return seen
}
