package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// The format brief is a line a tool, also of all servers, and of the other lists.
func TestBrief(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	out := mcphud(t, "tools", "list", "--format", "brief", url).ok(t)
	var list struct{ Tools []any }
	require.NoError(t, json.Unmarshal([]byte(mcphud(t, "tools", "list", "--format", "json", url).ok(t)), &list))
	if !strings.Contains(out, "add(a: number, b: number) — ") || strings.Count(out, "\n") != len(list.Tools) {
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
