package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check/bench"
	"github.com/mcphud/mcphud/session/test/require"
)

// benched is the report of a measurement in JSON.
func benched(t *testing.T, o outcome) bench.Report {
	t.Helper()
	var r bench.Report
	if err := json.Unmarshal([]byte(o.out), &r); err != nil {
		t.Fatalf("exit %d: %v\n%s%s", o.code, err, o.out, o.stderr)
	}
	return r
}

// A tool and a ping are measured in both eras, over HTTP and stdio, by clients and at a rate.
func TestBench(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, "--ephemeral")
	dir := t.TempDir()
	batch := filepath.Join(dir, "batch.jsonl")
	require.NoError(t, os.WriteFile(batch, []byte("{\"a\":1}\n{\"a\":2,\"b\":5}\n"), 0o600))
	exe := ownProgram(t)
	for _, era := range eras {
		md, js := filepath.Join(dir, era+".md"), filepath.Join(dir, era+".json")
		o := mcphud(t, "bench", "add", "b=2", "--batch", batch, "--count", "20", "--clients", "3", "--connections", "2", "--slo", "errors<1%", "-o", md, "-o", js, "--format", "json", "--protocol", era, "--url", s.url)
		r := benched(t, o)
		one := r.Targets[0]
		if o.code != 0 || one.Answered != 20 || one.Failed != 0 || one.Protocol != era || one.Connections != 2 || r.Plan.Tool != "add" || r.Plan.Arguments != 2 || !r.Objectives[0].Met || one.Latency.Histogram == "" {
			t.Errorf("%s: exit %d\n%s%s", era, o.code, o.out, o.stderr)
		}
		file, err := os.ReadFile(js)
		if err != nil || string(file) != o.out {
			t.Errorf("%s: %v\n%s", js, err, file)
		}
		if file, err = os.ReadFile(md); err != nil || !strings.Contains(string(file), "20 answered, none failed") {
			t.Errorf("%s: %v\n%s", md, err, file)
		}
	}
	o := mcphud(t, "bench", "--rate", "100", "--count", "20", "--warmup", "50ms", "--format", "json", "-e", asMain+"=1", "--", exe, "agent", "--stdio", "--ephemeral")
	if r := benched(t, o); o.code != 0 || r.Targets[0].Answered != 20 || r.Targets[0].Transport != "stdio" || !*r.Targets[0].RateHeld || r.Plan.Method != "ping" {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
	o = mcphud(t, "bench", "--method", "tools/list", "--count", "5", "--format", "text", "--url", s.url)
	if o.code != 0 || !strings.Contains(o.out, "5 answered, none failed") || !strings.Contains(o.out, "first byte") || !strings.Contains(o.out, "█") {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
}

// A missed threshold, and a run in which nothing succeeds, are exit code 9; the report is printed before.
func TestBenchFails(t *testing.T) {
	t.Parallel()
	url := serveAgent(t, "--ephemeral").url
	o := mcphud(t, "bench", "--count", "5", "--slo", "p50<1ns", "--slo", "errors<=0", "--format", "text", "--url", url)
	if o.code != cli.ExitAssertion || !strings.Contains(o.out, "missed  p50<1ns") || !strings.Contains(o.out, "met     errors<=0") || !strings.Contains(o.stderr, "1 threshold missed: p50<1ns") {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
	o = mcphud(t, "bench", "add", "a=1", "--args", `{"b":"no number"}`, "--count", "5", "--format", "json", "--url", url)
	if r := benched(t, o); o.code != cli.ExitAssertion || r.Targets[0].Failed != 5 || !strings.Contains(o.stderr, "no request succeeded") {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"ask_agent", "prompt=hi"}, "not marked as read-only"}, // and nobody is asked
		{[]string{"call_agent"}, "marked as destructive"},
		{[]string{"ask_agent", "prompt=hi", "--yes", "--read-only"}, "--read-only refuses it"},
		{[]string{"--method", "logging/setLevel"}, "may change something"},
		{[]string{"--method", "tools/call", "--yes"}, "needs a tool"},
		{[]string{"ad"}, `there is no tool \"ad\"`},
		{[]string{"add", "a=1", "b=1", "--method", "ping"}, "called by tools/call"},
		{[]string{"--args", "{}"}, "none was named"},
		{[]string{"--params", "[1]"}, "not a JSON object"},
		{[]string{"add", "--args", "[1]"}, "not a JSON object"},
		{[]string{"add", "--args", "{}", "--batch", "x"}, "both give arguments"},
		{[]string{"add", "--batch", "there-is-none"}, "no such file"},
		{[]string{"--slo", "p99<fast"}, "has no duration"},
		{[]string{"--rate", "1e9"}, "is not possible"},
		{[]string{"--rate", "0"}, "--rate 0 would send nothing"},
		{[]string{"--for", "0s"}, "--for 0 would send nothing"},
		{[]string{"--clients", "0", "--count", "1"}, "--clients 0 would send nothing"},
		{[]string{"--count", "0"}, "--count 0 would send nothing"},
		{[]string{"add", "--batch", os.DevNull}, "no objects in " + os.DevNull},
		{[]string{"--rate", "10", "--clients", "2"}, "exclude each other"},
		{[]string{"--connections", "0"}, "connections are not possible"},
		{[]string{"--compare", ""}, "no second target"},
		{[]string{"--count", "1", "-o", "there/is/none.json"}, "there/is is not a folder"},
		{[]string{"--count", "1", "-o", "."}, "it is a folder"},
	} {
		o := mcphud(t, append([]string{"bench", "--format", "json", "--url", url}, c.args...)...)
		if (o.code != cli.ExitFailure && o.code != cli.ExitTool) || !strings.Contains(o.stderr, c.says) {
			t.Errorf("%q: exit %d, want %q\n%s%s", c.args, o.code, c.says, o.out, o.stderr)
		}
	}
}

// An agent is measured directly, and in turn through the router.
func TestBenchThroughTheRouter(t *testing.T) {
	t.Parallel()
	tm := teamOf(t, nil, "demo")
	cmd := command(t, "bench", "add", "a=1", "b=2", "--clients", "2", "--count", "20", "--format", "json", "--compare", "agent:demo", "--url", tm.agents["demo"].url)
	cmd.Env = append(cmd.Env, "ROUTER_HOST=localhost", fmt.Sprintf("ROUTER_PORT=%d", portOf(tm.router)))
	o := finish(t, cmd)
	r := benched(t, o)
	if o.code != 0 || len(r.Targets) != 2 || r.Targets[0].Answered != 20 || r.Targets[1].Answered != 20 || r.Targets[0].Name == r.Targets[1].Name {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
	cmd = command(t, append(slices.Clone(cmd.Args[1:len(cmd.Args)-6]), "--format", "text", "--compare", "agent:demo", "--url", tm.agents["demo"].url)...)
	cmd.Env = append(cmd.Env, "ROUTER_HOST=localhost", fmt.Sprintf("ROUTER_PORT=%d", portOf(tm.router)))
	if o = finish(t, cmd); o.code != 0 || !strings.Contains(o.out, "difference") {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
}

// On a terminal one sees how far it is, and ends it early with what was measured.
func TestBenchOnATerminal(t *testing.T) {
	t.Parallel()
	url := serveAgent(t, "--ephemeral").url
	s := startUI(t, "bench", "--rate", "50", "--for", "10h", "--url", url)
	for _, shown := range []string{"in flight", "p99.9", "rate  ", "█"} {
		require.Eventually(t, "the terminal to show "+shown, func() bool { return strings.Contains(s.written(), shown) })
	}
	s.signal(syscall.SIGINT)
	if code := s.exit(); code != cli.ExitInterrupted || !strings.Contains(s.written(), "ended early: interrupted") || !strings.Contains(s.written(), "none failed") {
		t.Errorf("exit %d\n%s", code, s.written())
	}
	// A tool that is not read-only is asked about, once.
	s = startUI(t, "bench", "ask_agent", "prompt=hi", "--count", "3", "--url", url)
	require.Eventually(t, "the question", func() bool { return strings.Contains(s.written(), "[y/N]") })
	if _, err := s.f.WriteString("n\n"); err != nil {
		t.Fatal(err)
	}
	if code := s.exit(); code != cli.ExitFailure || !strings.Contains(s.written(), "not called; nothing was sent") {
		t.Errorf("exit %d\n%s", code, s.written())
	}
}
