package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/peertest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
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
	o.exits(t, cli.ExitFailure, "cannot read the kept failure")
}

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
	mcphud(t, "check", "cases").exits(t, cli.ExitUnreachable, "no such server in the configs")
	write(t, filepath.Join(dir, "b.yaml"), "server: fake\ntool: echo\nexpect: .[\n")
	mcphud(t, "check", "cases", "--config", "servers.json").exits(t, cli.ExitFailure, "b.yaml:3:9: expect is not a jq expression")
	t.Chdir(t.TempDir())
	mcphud(t, "check", "cases").exits(t, cli.ExitFailure, "there are no named calls")
}

// What a server writes for each of many calls would hide what is found; the journal has it, and --verbose prints it.
func TestCheckKeepsTheServersStderrApart(t *testing.T) {
	t.Parallel()
	exe := ownProgram(t)
	server := []string{"--", "env", asMain + "=1", exe, "agent", "--stdio", "--ephemeral"}
	file := filepath.Join(t.TempDir(), "j.jsonl")
	const said = "MCP tool called"
	args := []string{"check", "fuzz", "--runs", "2", "--only", "echo", "--failures=", "--fail-on", "never", "--journal", file}
	if o := mcphud(t, append(args, server...)...); o.code != 0 || strings.Contains(o.stderr, said) {
		t.Errorf("exit %d: %.400s", o.code, o.stderr)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), said) {
		t.Errorf("the journal has nothing of it: %v", err)
	}
	if o := mcphud(t, append(append(args, "--verbose"), server...)...); !strings.Contains(o.stderr, said) {
		t.Errorf("exit %d: %.400s", o.code, o.stderr)
	}
}

// Our own agent takes a gentle load, and a server that dies under it is a finding.
func TestCheckLoad(t *testing.T) {
	t.Parallel()
	url := serveAgent(t, "--ephemeral").url
	o := mcphud(t, "check", "load", "--load-for", "500ms", "--slo", "errors<1%", "--format", "json", "--url", url)
	var r check.Report
	if err := json.Unmarshal([]byte(o.out), &r); err != nil || o.code != 0 || r.Counts.Error != 0 || !strings.Contains(string(r.Sections[1].Figures), `"rate_held":`) {
		t.Errorf("exit %d, %v\n%s%s", o.code, err, o.out, o.stderr)
	}
	o = mcphud(t, "check", "load", "--load-for", "200ms", "--slo", "p50<1ns", "--format", "text", "--url", url)
	o.prints(t, cli.ExitAssertion, "load/slo", "8 clients")
	for _, args := range [][]string{{"--slo", "p50<fast"}, {"--load-rate", "1e9"}, {"--load-for", "-1s"}} {
		mcphud(t, slices.Concat([]string{"check", "load", "--url", url}, args)...).exits(t, cli.ExitFailure)
	}
	o = mcphud(t, fake(t, behave.Duplicate, "check", "load", "--load-for", "200ms", "--format", "json")...)
	o.prints(t, 0, `"name":"load"`)
}

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
	assert.Contains(t, out.String(), `"rule":"cost/over-budget","severity":"error"`, `"heaviest_tools":[{"place":{"kind":"tool","name":"form_gallery"}`)
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
	assert.Contains(t, o.out, "WHAT", "Dropping gzip-file-as-resource")
}

// What the hostile agent lists is found; the demo does nothing that is found.
func TestCheckSafety(t *testing.T) {
	t.Parallel()
	for profile, want := range map[string][]string{
		"hostile": {"safety/terminal-escapes", "safety/reordered-text", "safety/hidden-text", "safety/script-url", "safety/odd-url", "safety/invisible-characters", "hides the words \\\"ignore all previous"},
		"demo":    nil, "everything": nil,
	} {
		c := command(t, "check", "safety", "--format", "json")
		c.Args = append(c.Args, "--", c.Path, "agent", "--stdio", "--ephemeral", "--profile", profile)
		var out, stderr bytes.Buffer
		c.Stdout, c.Stderr = &out, &stderr
		err := c.Run()
		if want == nil && (err != nil || !strings.Contains(out.String(), `"findings":[]`)) {
			t.Errorf("%s: %v %s%s", profile, err, &out, &stderr)
		}
		if want != nil && c.ProcessState.ExitCode() != cli.ExitAssertion {
			t.Errorf("%s: %v %s", profile, err, &stderr)
		}
		for _, w := range want {
			if !strings.Contains(out.String(), w) {
				t.Errorf("%s: no %s", profile, w)
			}
		}
	}
}

// Real servers are not accused; one beside another of the same kind has its names.
func TestPeerCheckSafety(t *testing.T) {
	t.Parallel()
	for _, s := range []config.Server{peertest.Everything(t), peertest.Memory(t), peertest.Filesystem(t, t.TempDir())} {
		mcphud(t, target(s, "check", "safety", "--format", "json")...).prints(t, 0, `"findings":[]`)
	}
	file := filepath.Join(t.TempDir(), "mcphud.yaml")
	s := peertest.Memory(t)
	require.NoError(t, os.WriteFile(file, []byte("servers:\n  notes:\n    command: "+s.Command+"\n    args: ["+strings.Join(s.Args, ", ")+"]\n"), 0o600))
	o := mcphud(t, target(s, "check", "safety", "--beside", "notes", "--config", file, "--format", "text")...)
	o.prints(t, 0, "safety/shadowed-name", "notes has a tool of this name too")
}

// A lock is made, nothing is found, and what changed since another lock is said with the calls that it breaks.
func TestPeerCheckContract(t *testing.T) {
	t.Parallel()
	s, dir := peertest.Everything(t), t.TempDir()
	lock, calls := filepath.Join(dir, "own.lock"), filepath.Join(dir, "calls.jsonl")
	if o := mcphud(t, target(s, "check", "contract", "--lock", lock)...); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "there is no lock: "+lock) || !strings.Contains(o.stderr, "--accept") {
		t.Fatalf("exit %d %s", o.code, o.stderr)
	}
	if o := mcphud(t, target(s, "check", "contract", "--accept", "--lock", lock, "--format", "text")...); o.code != 0 || !strings.Contains(o.out, "made the contract of ") {
		t.Fatalf("exit %d %s%s", o.code, o.out, o.stderr)
	}
	if o := mcphud(t, target(s, "check", "contract", "--lock", lock, "--format", "text")...); o.code != 0 || !strings.Contains(o.out, "nothing changed since the lock") {
		t.Fatalf("exit %d %s%s", o.code, o.out, o.stderr)
	}
	for _, sum := range []string{"1", "2"} {
		if o := mcphud(t, target(s, "tools", "call", "get-sum", "--journal", calls, "a:="+sum, "b:=2")...); o.code != 0 {
			t.Fatal(o.stderr)
		}
	}
	// The lock of an earlier version, in which get-sum took words and echo had another name.
	l, err := contract.Read(lock)
	require.NoError(t, err)
	raw := strings.NewReplacer(`"echo": {`, `"repeat": {`, `"b": {"description":"Second number","type":"number"}`, `"b": {"description":"Second number","type":["number","string"]}`).Replace(string(l.Bytes()))
	require.NoError(t, os.WriteFile(lock, []byte(raw), 0o600))
	o := mcphud(t, target(s, "check", "contract", "--lock", lock, "--evidence", calls, "--format", "json")...)
	for _, want := range []string{
		`"rule":"contract/tool-removed"`, `was removed; echo has the same definition: was it renamed?`, `"rule":"contract/input-narrowed"`, "`b` type string | number → number", `"calls":2,"refused":0`,
	} {
		assert.Contains(t, o.out, want)
	}
	if o.code != cli.ExitAssertion || !json.Valid([]byte(o.out)) {
		t.Errorf("exit %d", o.code)
	}
	o = mcphud(t, target(s, "check", "contract", "--lock", lock, "--accept", "--format", "text")...)
	o.prints(t, 0, "breaking: tool repeat: was removed")
}
