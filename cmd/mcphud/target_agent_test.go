package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// tokenFile is a router's file of tokens, which are given with the agents that each may call.
func tokenFile(t *testing.T, targets map[string]string) string {
	t.Helper()
	var entries []string
	for token, list := range targets {
		sum := sha256.Sum256([]byte(token))
		entries = append(entries, fmt.Sprintf(`{"sha256":%q,"name":%q,"allowedTargets":%s}`, hex.EncodeToString(sum[:]), "of-"+hex.EncodeToString(sum[:2]), list))
	}
	file := filepath.Join(t.TempDir(), "tokens.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"tokens":[`+strings.Join(entries, ",")+`]}`), 0o600))
	return file
}

func TestR16_ToolsCallNamesAnAgent(t *testing.T) {
	t.Parallel()
	const token = "t0p-secret-value"
	tm := teamOf(t, []string{"--tokens", tokenFile(t, map[string]string{token: `["b","ghost"]`})}, "b", "c")
	run := func(env []string, args ...string) outcome {
		t.Helper()
		if args[0] != "__complete" {
			args = append([]string{"--format", "json"}, args...)
		}
		cmd := command(t, args...)
		cmd.Env = append(append(cmd.Env, "ROUTER_HOST=localhost", fmt.Sprintf("ROUTER_PORT=%d", portOf(tm.router)), "AGENT_TOKEN="+token), env...)
		return finish(t, cmd)
	}
	assert.Contains(t, run(nil, "tools", "call", "add", "a=1", "b=2", "--agent", "b").ok(t), `"sum":3`)
	assert.Contains(t, run(nil, "resources", "read", "status://queue", "--agent=b").ok(t), "concurrency")
	for _, c := range []struct {
		env  string
		args string
		code int
		kind string
		says string
	}{
		{"", "info --agent c", cli.ExitAuth, "OAuth", "403"},
		{"AGENT_TOKEN=other", "info --agent b", cli.ExitAuth, "OAuth", "401"},
		{"AGENT_TOKEN=", "info --agent b", cli.ExitAuth, "OAuth", "401"},
		{"ROUTER_PORT=1", "info --agent b", cli.ExitUnreachable, "Transport", "127.0.0.1:1"},
		{"", "info --agent ../b", cli.ExitFailure, "Usage", "not a valid agent name"},
		{"", "info --agent=", cli.ExitFailure, "Usage", "not a valid agent name"},
		{"", "info --agent b --url http://127.0.0.1:1/mcp", cli.ExitFailure, "Usage", "--url and --agent"},
		{"", "info --agent b --server x", cli.ExitFailure, "Usage", "--agent and --server"},
		{"", "info --agent b -- x", cli.ExitFailure, "Usage", "-- COMMAND and --agent"},
		{"", "http://127.0.0.1:1/mcp --agent b", cli.ExitFailure, "Usage", "more than one server"},
		{"", "demo --agent b", cli.ExitFailure, "Usage", "--agent does not apply to the demo"},
		{"", "demo --config x.yaml", cli.ExitFailure, "Usage", "--config does not apply to the demo"},
		{"", "info", cli.ExitFailure, "Usage", "no server was named"},
		{"ROUTER_PORT=abc", "info --agent b", cli.ExitFailure, "Usage", `ROUTER_PORT is "abc"`},
		{"ROUTER_HOST=a/b", "info --agent b", cli.ExitFailure, "Usage", `"a/b"`},
		{"AGENT_TOKEN=t0p secret value", "info --agent b", cli.ExitFailure, "Usage", "router token is not valid"},
	} {
		o := run([]string{c.env}, strings.Fields(c.args)...)
		if e := o.errorLine(t); o.code != c.code || e.Kind != c.kind || !strings.Contains(e.Message, c.says) || strings.Contains(o.stderr+o.out, "secret") {
			t.Errorf("%s %s: exit %d, stdout %q, stderr %s", c.env, c.args, o.code, o.out, o.stderr)
		}
	}
	if o := run(nil, "info", "--agent", "ghost"); o.code != cli.ExitUnreachable || o.errorLine(t).Kind != "ServerNotFound" || !strings.Contains(o.stderr, "Agent 'ghost' not found; correct the name") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	if out := run(nil, "__complete", "tools", "list", "--agent", "").ok(t); !strings.HasPrefix(out, "b\n") || strings.Contains(out, "c\n") {
		t.Errorf("%q", out)
	}
	assert.NotContains(t, tm.router.log(), token)
}
