package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/require"
)

// A file of this machine that a section cannot use is an error of the command, also where all servers are examined, and says nothing about a server.
func TestCheckAllOwnFault(t *testing.T) {
	t.Parallel()
	agent := ownAgent(t, "demo")[1:]
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"one": map[string]any{"command": agent[0], "args": agent[1:], "env": map[string]string{asMain: "1"}}}})
	require.NoError(t, err)
	files := map[string]string{"all.json": string(config), "kept/mcphud-agent/a.json": "{\n"}
	o, _ := checkedIn(t, files, "fuzz", "--all", "--config", "all.json", "--failures", "kept", "--replay", "--format", "json")
	var all struct {
		Reports []check.Report `json:"reports"`
	}
	if err := json.Unmarshal([]byte(o.out), &all); err != nil || len(all.Reports) != 1 || len(all.Reports[0].Findings) != 0 {
		t.Errorf("%v: %s", err, o.out)
	}
	if o.code != cli.ExitFailure || !strings.Contains(o.stderr, "cannot read the kept failure") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
}
