package main

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// The commands that use one server use all agents of a router as one, in either era, tasks among them.
func TestR19_TheClientUsesAllAgentsAsOne(t *testing.T) {
	t.Parallel()
	a := serveAgent(t, "--ephemeral", "--port", "0")
	r := launch(t, routerCommand(t, `{"routes":{"one":{"url":"`+a.url+`"},"two":{"url":"`+a.url+`"}}}`, nil, "--port", "0"), routerReady)
	use := func(t *testing.T, version string) {
		run := func(args ...string) string {
			t.Helper()
			return mcphud(t, slices.Concat(args, []string{"--url", r.url + "/mcp", "--protocol", version})...).ok(t)
		}
		has := func(out string, texts ...string) {
			t.Helper()
			for _, text := range texts {
				if !strings.Contains(out, text) {
					t.Errorf("%s: no %s in %.1000s", version, text, out)
				}
			}
		}
		has(run("info"), `"protocolVersion":"`+version+`"`, `"subscribe":true`, "Tools that begin with mcp__one__:", "Tools that begin with mcp__two__:")
		has(run("tools", "list"), `"name":"mcp__one__add"`, `"name":"mcp__two__add"`)
		for _, name := range []string{"mcp__one__add", "mcp:two:add"} {
			has(run("tools", "call", name, "a=1", "b=2"), `{"sum":3`)
		}
		has(run("prompts", "get", "mcp__two__analyze-document", "document=x"), `"messages"`)
		has(run("resources", "list"), "my-agents://list", `"mcphud/collisions"`)
		has(run("resources", "read", "mcp:two:my-agents://list"), `"contents"`)
		has(run("complete", "prompt:mcp__one__analyze-document", "focus", ""), `"completion"`)
		has(run("ping"), "latencyMs")
		if o := mcphud(t, "tools", "call", "mcp__three__add", "--url", r.url+"/mcp", "--protocol", version); o.code != cli.ExitTool || o.errorLine(t).Kind != "InvalidToolName" {
			t.Errorf("%+v", o)
		}
	}
	const extension = `"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}`
	tasks := func(t *testing.T, version, more string) {
		raw := func(method, params string) string {
			t.Helper()
			return mcphud(t, "raw", method, params, "--url", r.url+"/mcp", "--protocol", version).ok(t)
		}
		var made struct {
			TaskID string
			Task   struct{ TaskID string }
		}
		out := raw("tools/call", `{"name":"mcp__two__sleep","arguments":{"seconds":1},`+more+`}`)
		if err := json.Unmarshal([]byte(out), &made); err != nil || !strings.HasPrefix(made.TaskID+made.Task.TaskID, "two.") {
			t.Fatalf("%s: %s", version, out)
		}
		id := made.TaskID + made.Task.TaskID
		require.Eventually(t, "the task is over", func() bool {
			return strings.Contains(raw("tasks/get", `{"taskId":"`+id+`",`+extension+`}`), `"status":"completed"`)
		})
	}
	for _, version := range []string{"2026-07-28", "2025-11-25", "2024-11-05"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			use(t, version)
		})
	}
	for version, more := range map[string]string{"2025-11-25": `"task":{"ttl":60000}`, "2026-07-28": extension} {
		t.Run("tasks, "+version, func(t *testing.T) {
			t.Parallel()
			tasks(t, version, more)
		})
	}
}

// Who reads a list of all agents is told which of them are not in it.
func TestR19_ListsSayWhoIsMissing(t *testing.T) {
	t.Parallel()
	r := launch(t, routerCommand(t, `{"routes":{"away":{"command":"./nowhere"}}}`, nil, "--port", "0"), routerReady)
	out := mcphud(t, "tools", "list", "--url", r.url+"/mcp", "--format", "text").ok(t)
	assert.Contains(t, out, "none\nmissing: away: ", "./nowhere")
}

// Who reads a list that is shorter than all agents' is told so, as the router's log and /health say it.
func TestR19_ListsSayWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	agent := serveAgent(t, "--ephemeral", "--port", "0")
	r := launch(t, routerCommand(t, `{"clients":[{"match":"MCPHUD*","maxTools":2}],"routes":{"demo":{"url":"`+agent.url+`"}}}`, nil, "--port", "0"), routerReady)
	out := mcphud(t, "tools", "list", "--url", r.url+"/mcp", "--format", "text").ok(t)
	said := regexp.MustCompile(`\d+ tools left out for MCPHUD\*: limit 2`).FindString(out)
	if said == "" || strings.Count(out, "mcp__demo__") != 2 || !strings.Contains(r.log(), said) {
		t.Errorf("%s\n%s", out, r.log())
	}
	assert.Contains(t, r.get("/health").body, said)
}
