package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// The named calls of a project are a section of check: at a target, or at the servers that the files name.
func TestCheckCases(t *testing.T) {
	url := agent(t, agentsrv.Options{})
	fakeServer := faketest.Stdio(t, behave.Good)
	dir := project(t, map[string]string{
		"a.yaml": "server: agent\nsteps:\n  - {name: sum, tool: add, arguments: {a: 1, b: 2}, expect: .structuredContent.sum == 3, capture: {n: .structuredContent.none}}\n  - {name: next, tool: add, arguments: {a: \"${capture.n}\", b: 2}}\n",
		"b.yaml": "server: fake\ntool: echo\narguments: {text: hi, message: hi}\nexpect:\n  - .content\n  - .nothing\n",
		"c.yaml": "server: agent\ntool: fail\n",
	})
	entries, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"agent": map[string]any{"url": url}, "fake": map[string]any{"command": fakeServer.Command, "args": fakeServer.Args}}})
	require.NoError(t, err)
	write(t, "servers.json", string(entries))
	report := func(args ...string) (outcome, check.Report, string) {
		t.Helper()
		o := mcphud(t, append([]string{"check", "cases", "--format", "json"}, args...)...)
		var r check.Report
		if err := json.Unmarshal([]byte(o.out), &r); err != nil {
			t.Fatalf("%v: exit %d %s %s", err, o.code, o.out, o.stderr)
		}
		var found []string
		for _, f := range r.Findings {
			found = append(found, f.ID+" "+f.Place.Name)
		}
		return o, r, strings.Join(found, ", ")
	}
	o, r, found := report("--config", "servers.json")
	if o.code != cli.ExitAssertion || found != "cases/capture a/sum, cases/expect b, cases/is-error c" {
		t.Fatalf("exit %d %s %s", o.code, found, o.stderr)
	}
	if f := r.Findings[1]; f.File != filepath.Join(".mcphud", "calls", "b.yaml") || f.Line != 6 || !strings.Contains(f.Evidence, "got: null") || f.Repro != "mcphud run .mcphud/calls/b.yaml" {
		t.Errorf("%+v", f)
	}
	if got := r.Sections[0].Outcomes; len(got) != 1 || got[0].Verdict != check.Skipped || got[0].Place.Name != "a/next" {
		t.Errorf("%+v", got)
	}
	if _, _, found := report("--calls", filepath.Join(dir, "b.yaml"), "--config", "servers.json"); found != "cases/expect b" {
		t.Error(found)
	}
	for _, args := range [][]string{{"--config", "servers.json"}, {"--url", url}} {
		o := mcphud(t, append([]string{"check", "cases", "--format", "json", "--calls", "nosuch"}, args...)...)
		if o.code != cli.ExitFailure || o.errorLine(t).Kind != "Usage" || !strings.Contains(o.stderr, `there is no call \"nosuch\"`) || !strings.Contains(o.stderr, "a, b, c") {
			t.Errorf("exit %d %s", o.code, o.stderr)
		}
	}
	// A target is called instead of what the files name; of all sections it is for the files about it only.
	if _, r, found := report("--url", url); found != "cases/capture a/sum, cases/expect b, cases/is-error c" || r.Server.Tools == 0 {
		t.Error(found)
	}
	if o := mcphud(t, "check", "cases", "--report", "sarif", "--config", "servers.json"); !strings.Contains(o.out, `"uri":".mcphud/calls/b.yaml"`) && !strings.Contains(o.out, `"uri": ".mcphud/calls/b.yaml"`) {
		t.Error(o.out)
	}
	if o := mcphud(t, "check", "cases"); o.code != cli.ExitUnreachable || !strings.Contains(o.stderr, "no such server in the configs") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	write(t, filepath.Join(dir, "b.yaml"), "server: fake\ntool: echo\nexpect: .[\n")
	if o := mcphud(t, "check", "cases", "--config", "servers.json"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "b.yaml:3:9: expect is not a jq expression") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	t.Chdir(t.TempDir())
	if o := mcphud(t, "check", "cases"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "there are no named calls") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
}
