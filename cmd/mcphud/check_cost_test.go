package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// checkCost is a report with the figures of the section cost.
func checkCost(t *testing.T, args ...string) (o outcome, r check.Report, f cost.Figures) {
	t.Helper()
	o = mcphud(t, args...)
	if err := json.Unmarshal([]byte(o.out), &r); err != nil {
		t.Fatalf("%v: %s %s", err, o.out, o.stderr)
	}
	for _, s := range r.Sections {
		if s.Name == "cost" {
			require.NoError(t, json.Unmarshal(s.Figures, &f))
		}
	}
	return o, r, f
}

// A real server's lists are counted, and a budget that they do not keep is an error.
func TestCheckCost(t *testing.T) {
	c := command(t, "check", "cost", "--budget", "1000", "--format", "json")
	c.Args = append(c.Args, "--", c.Path, "agent", "--stdio", "--ephemeral")
	var out, stderr bytes.Buffer
	c.Stdout, c.Stderr = &out, &stderr
	if err := c.Run(); c.ProcessState.ExitCode() != cli.ExitAssertion {
		t.Fatalf("%v: %s", err, &stderr)
	}
	if !strings.Contains(out.String(), `"rule":"cost/over-budget","severity":"error"`) || !strings.Contains(out.String(), `"heaviest_tools":[{"place":{"kind":"tool","name":"form_gallery"}`) {
		t.Error(out.String())
	}
}

// server-everything costs about 1,100 tokens, and nothing that it does is an error or a warning.
func TestPeerCheckCost(t *testing.T) {
	t.Parallel()
	s := peertest.Everything(t)
	o, r, f := checkCost(t, target(s, "check", "cost", "--budget", "20000", "--format", "json")...)
	if o.code != 0 || r.Counts.Error+r.Counts.Warning > 0 {
		t.Errorf("exit %d, %+v, %s", o.code, r.Findings, o.stderr)
	}
	if f.Tools.Count < 10 || f.Tools.Tokens < 800 || f.Tools.Tokens > 2000 || len(f.Heaviest) != 5 || f.Prompts.Tokens == 0 || f.Instructions.Tokens == 0 {
		t.Errorf("%+v", f)
	}
	o = mcphud(t, target(s, "check", "cost", "--format", "text")...)
	if !strings.Contains(o.out, "WHAT") || !strings.Contains(o.out, "Dropping gzip-file-as-resource") {
		t.Error(o.out)
	}
}
