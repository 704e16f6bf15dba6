package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// --meta reaches the server with every request of every verb, but for the handshake.
func TestMetaGoesWithEveryRequest(t *testing.T) {
	t.Parallel()
	for _, verb := range [][]string{
		{"tools", "list"},
		{"tools", "call", "echo", "text=x"},
		{"resources", "list"},
		{"resources", "templates"},
		{"resources", "read", "fake://blob"},
		{"prompts", "list"},
		{"prompts", "get", "simple"},
		{"complete", "prompt:greet", "name", "a"},
		{"ping"},
		{"info"},
		{"raw", "tools/list"},
	} {
		for _, mode := range []behave.Mode{behave.Good, behave.Modern} {
			journal := filepath.Join(t.TempDir(), "journal.jsonl")
			o := mcphud(t, fake(t, mode, append(verb, "--meta", "tenant_id=acme", "--meta", "example.com/n:=7", "--journal", journal)...)...)
			record, err := os.ReadFile(journal)
			require.NoError(t, err)
			requests, greeted := 0, false
			for line := range strings.Lines(string(record)) {
				body := jsonrpc.Get([]byte(line), "frame")
				if jsonrpc.GetString([]byte(line), "dir") != "out" || jsonrpc.Get(body, "id") == nil {
					continue
				}
				method := jsonrpc.GetString(body, "method")
				if method == "initialize" || method == "server/discover" && !greeted {
					greeted = true
					continue
				}
				requests++
				if meta := jsonrpc.Get(body, "params", "_meta"); jsonrpc.GetString(meta, "tenant_id") != "acme" || string(jsonrpc.Get(meta, "example.com/n")) != "7" {
					t.Errorf("%s %q sends %s", mode, verb, body)
				}
			}
			if requests == 0 {
				t.Errorf("%s %q: no request in the journal: exit %d, %s\n%s", mode, verb, o.code, o.stderr, record)
			}
		}
	}
}

// An agent that was made for a tenant is read by saying which.
func TestT6_AgentOfATenantIsRead(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Store: filepath.Join(t.TempDir(), "agent.db")})
	mcphud(t, "tools", "call", "create_agent", "tenant_id=acme", "user_id=ada", "agent_name=helper", "description=x", `output_schema:={"type":"object"}`, "--url", url).ok(t)
	read := []string{"resources", "read", "agentlet://user/ada/helper", "--url", url}
	mcphud(t, read...).exits(t, cli.ExitTool)
	assert.Contains(t, mcphud(t, append(read, "--meta", "tenant_id=acme")...).ok(t), "user/ada/helper")
	mine := []string{"resources", "read", "my-agents://list", "--url", url, "--meta"}
	assert.Contains(t, mcphud(t, append(mine, "tenant_id=acme")...).ok(t), "user/ada/helper")
	assert.NotContains(t, mcphud(t, append(mine, "tenant_id=other")...).ok(t), "user/ada/helper")
	for _, wrong := range []string{"x", "x:={", "progressToken=1"} {
		if o := mcphud(t, append(mine, wrong)...); o.code != cli.ExitFailure || o.errorLine(t).Kind != "Usage" {
			t.Errorf("--meta %s: exit %d, %s", wrong, o.code, o.stderr)
		}
	}
	file := writeConfig(t, "", [2]string{"a", string(behave.Good)})
	mcphud(t, "status", "--config", file, "--meta", "tenant_id=acme").exits(t, 0)
}
