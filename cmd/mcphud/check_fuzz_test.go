package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
)

// fuzzed is what a run of check fuzz found, as "rule tool", with the report.
func fuzzed(t *testing.T, args ...string) (found []string, r check.Report) {
	t.Helper()
	o := mcphud(t, append([]string{"check", "fuzz", "--seed", "1", "--failures", "", "--fail-on", "never", "--format", "json"}, args...)...)
	return findings(t, []byte(o.ok(t)))
}

func findings(t *testing.T, report []byte) (found []string, r check.Report) {
	t.Helper()
	if err := json.Unmarshal(report, &r); err != nil {
		t.Fatalf("%v: %s", err, report)
	}
	for _, f := range r.Findings {
		found = append(found, strings.TrimSpace(strings.TrimPrefix(f.ID, "fuzz/")+" "+f.Place.Name))
	}
	return found, r
}

// TestCheckFuzzFindsNothingInTheDemo: the tools whose schemas say what they take do as they say.
func TestCheckFuzzFindsNothingInTheDemo(t *testing.T) {
	long(t, "TestCheckFuzzFindsInjectedFaults")
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	found, r := fuzzed(t, "--runs", "20", "--allow", "*", "--only", "add,echo,log,search_knowledge_base,lookup_entity", "--url", url)
	for i, f := range r.Findings {
		// Under load anything is slow, and a call may find no answer in time once.
		if f.ID != "fuzz/slow" && !strings.Contains(f.Message, "seen once, and not again") {
			t.Errorf("%s: %s", found[i], f.Message)
		}
	}
	if len(r.Sections) != 2 || !strings.Contains(string(r.Sections[1].Figures), `"name":"lookup_entity","calls":2`) {
		t.Errorf("%s", r.Sections[1].Figures)
	}
}

// TestCheckFuzzReplays: a failure is a command line and a file, and is fixed where the server is.
func TestCheckFuzzReplays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run := func(args ...string) outcome {
		return mcphud(t, append(append([]string{"check", "fuzz", "--failures", dir, "--allow", "rpc_error", "--only", "rpc_error"}, args...), fake(t, behave.Good)...)...)
	}
	o := run("--seed", "9", "--runs", "2", "--format", "text", "--fail-on", "warning")
	o.prints(t, cli.ExitAssertion, "seed 9", "mcphud tools call rpc_error -- ")
	o = run("--replay", "--format", "text", "--fail-on", "never")
	if !strings.Contains(o.ok(t), "still there") || !strings.Contains(o.out, "0 of 1 kept failures are fixed") {
		t.Errorf("%s", o.out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err == nil {
		err = os.WriteFile(files[0], bytes.ReplaceAll(raw, []byte(`"cause": "-32050"`), []byte(`"cause": "-32051"`)), 0o600)
	}
	require.NoError(t, err)
	if o = run("--replay", "--format", "text"); !strings.Contains(o.ok(t), "1 of 1 kept failures are fixed") {
		t.Errorf("%s", o.out)
	}
	require.NoError(t, os.WriteFile(files[0], []byte("{\n"), 0o600))
	if o = run("--replay"); !strings.Contains(o.out+o.stderr, "cannot read the kept failure") {
		t.Errorf("exit %d: %s %s", o.code, o.out, o.stderr)
	}
}

// TestPeerCheckFuzz: of server-everything nothing is an error, and that it answers for a tool that it does not have is a command away.
func TestPeerCheckFuzz(t *testing.T) {
	t.Parallel()
	s := peertest.Everything(t)
	o := mcphud(t, target(s, "check", "fuzz", "--seed", "1", "--runs", "25", "--only", "echo,get-sum,get-resource-links,get-structured-content", "--failures", "", "--format", "json")...)
	_, r := findings(t, []byte(o.ok(t)))
	if r.Counts.Error > 0 || len(r.Findings) == 0 || !strings.HasPrefix(r.Findings[0].Repro, `mcphud raw tools/call '{"name":"no_such_tool"}' `) {
		t.Errorf("%+v", r.Findings)
	}
}
