package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// ranReport is what run prints in the format json.
type ranReport struct {
	Calls                       []calls.Outcome
	Failed, Skipped, Assertions int
}

func runReport(t *testing.T, args ...string) (outcome, ranReport) {
	t.Helper()
	o := mcphud(t, append([]string{"run"}, args...)...)
	var r ranReport
	if err := json.Unmarshal([]byte(o.out), &r); err != nil {
		t.Fatalf("%v: exit %d %s %s", err, o.code, o.out, o.stderr)
	}
	return o, r
}

func (r ranReport) verdicts() string {
	var out []string
	for _, c := range r.Calls {
		out = append(out, c.Name+" "+c.Verdict)
	}
	return strings.Join(out, ", ")
}

// The steps of a file share a server and what was captured; assertions see numbers as they were sent.
func TestRunAssertions(t *testing.T) {
	url := agent(t, agentsrv.Options{})
	dir := project(t, map[string]string{
		"a-sum.yaml": `steps:
  - name: add
    tool: add
    arguments: {a: 12345678901234567890, b: 1}
    expect:
      - .structuredContent.sum == 12345678901234567891
      - .structuredContent.exact
    expectSchema: {type: object, required: [structuredContent]}
    isError: false
    maxLatency: 5m
    capture: {sum: .structuredContent.sum}
    repeat: 2
  - name: again
    tool: add
    arguments: {a: "${capture.sum}", b: 9}
    expect: .structuredContent.sum == 12345678901234567900
  - {name: fails, tool: fail, isError: true, expect: '.content | length > 0'}
  - {name: unknown, tool: nope, expectError: InvalidToolName}
`,
		"b-use.yaml":   "tool: echo\narguments: {message: \"sum is ${capture.sum}\"}\nexpect: '.content[0].text == \"sum is 12345678901234567891\"'\n",
		"c-wrong.yaml": "tool: echo\narguments: {message: x}\nexpect:\n  - .content\n  - .content[0].text == \"y\"\nexpectError: -32602\n",
		"d-none.yaml":  "steps:\n  - {name: take, tool: echo, arguments: {message: x}, capture: {id: .structuredContent.nothing}}\n  - {name: use, tool: echo, arguments: {message: \"${capture.id}\"}}\n",
	})
	o, r := runReport(t, ".", "--url", url)
	if got := r.verdicts(); o.code != cli.ExitAssertion || got != "a-sum/add ok, a-sum/again ok, a-sum/fails ok, a-sum/unknown ok, b-use ok, c-wrong assertion, d-none/take assertion, d-none/use skipped" {
		t.Fatalf("exit %d %s %s", o.code, got, o.stderr)
	}
	if f := r.Calls[5].Failures; len(f) != 1 || f[0].Assertion != expect.OfError || f[0].Line != 6 || f[0].Got != "a result" {
		t.Errorf("%+v", f)
	}
	if f := r.Calls[6].Failures; len(f) != 1 || f[0].Got != ".structuredContent.nothing gives null" || r.Failed != 3 || r.Skipped != 1 {
		t.Errorf("%+v", f)
	}
	o = mcphud(t, "run", ".", "--url", url, "--format", "text")
	for _, want := range []string{"✓ ok  a-sum/add", "  5/5\n", "    c-wrong.yaml:6:1: expectError: expected an error: code -32602, got a result\n", "✗ skipped  d-none/use", "8 calls, 3 failed\n"} {
		if !strings.Contains(o.out, want) {
			t.Errorf("%q is not in %s", want, o.out)
		}
	}
	if o := mcphud(t, "run", "b-use", "--url", url); o.code != cli.ExitFailure || !strings.Contains(o.stderr, `b-use.yaml:1: nothing captures \"sum\" before this call`) {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	// One call prints its result as the command for it does, and then what failed.
	write(t, filepath.Join(dir, "c-wrong.yaml"), "tool: echo\narguments: {message: x}\nexpect: .content[0].text == \"y\"\n")
	if o := mcphud(t, "run", "c-wrong", "--url", url); o.code != cli.ExitAssertion || !strings.Contains(o.out, `"text":"x"`) || assertionsOf(t, o)[0].Line != 3 {
		t.Errorf("exit %d %s %s", o.code, o.out, o.stderr)
	}
	write(t, filepath.Join(dir, "c-wrong.yaml"), "tool: fail\nisError: true\n")
	mcphud(t, "run", "c-wrong", "--url", url).ok(t)
	write(t, filepath.Join(dir, "c-wrong.yaml"), "tool: nope\nexpectError: InvalidToolName\n")
	if out := mcphud(t, "run", "c-wrong", "--url", url).ok(t); !strings.HasPrefix(out, `{"error":{"kind":"InvalidToolName"`) {
		t.Error(out)
	}
	write(t, filepath.Join(dir, "c-wrong.yaml"), "tool: echo\nexpect: .a[\n")
	if o := mcphud(t, "run", ".", "--url", url); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "c-wrong.yaml:2:9: expect is not a jq expression") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
}

// A snapshot is written when that is asked for, and what differs from it later is named by pointers.
func TestRunSnapshots(t *testing.T) {
	url := agent(t, agentsrv.Options{})
	dir := project(t, map[string]string{
		"a.yaml": "tool: add\narguments: {a: 1, b: 2}\nsnapshot: {ignore: [/_meta]}\n",
		"b.yaml": "tool: add\narguments: {a: 1, b: 2}\nsnapshot: true\nexpect: .isError\n",
	})
	if o, r := runReport(t, ".", "--url", url); o.code != cli.ExitAssertion || r.Failed != 2 || r.Calls[0].Failures[0].Got != "no such snapshot yet" || !strings.Contains(o.stderr, "--update") {
		t.Errorf("exit %d %+v", o.code, r)
	}
	if o, r := runReport(t, ".", "--url", url, "--update"); o.code != cli.ExitAssertion || r.Failed != 1 || r.Calls[0].Snapshot != "a.snapshot.json" || r.Calls[1].Snapshot != "" {
		t.Errorf("exit %d %+v", o.code, r)
	}
	mcphud(t, "run", "a", "--url", url).ok(t)
	o := mcphud(t, "run", "a", "b=3", "--url", url, "--format", "text")
	if o.code != cli.ExitAssertion || !strings.Contains(o.stderr, "snapshot: expected the same as a.snapshot.json, got 2 differences") || !strings.Contains(o.stderr, "changed /structuredContent/sum: 3 → 4") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	if o := mcphud(t, "run", "a", "b=3", "--url", url, "--update"); o.code != cli.ExitOK || !strings.Contains(o.stderr, "snapshot written: a.snapshot.json") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	if info, err := os.Stat(filepath.Join(dir, "a.snapshot.json")); err != nil || info.Mode().Perm()&0o044 == 0 {
		t.Errorf("%v %v", info, err)
	}
}

// A call is made again until its assertions hold.
func TestRunRetry(t *testing.T) {
	url := agent(t, agentsrv.Options{})
	project(t, map[string]string{
		"until.yaml": "tool: queue_status\nexpect: .content\nretry: {for: 1m, every: 10ms}\n",
		"never.yaml": "tool: queue_status\nexpect: .nothing\nretry: {for: 30ms, every: 10ms}\n",
	})
	if o, r := runReport(t, "never", "until", "--url", url); o.code != cli.ExitAssertion || r.verdicts() != "never assertion, until ok" {
		t.Errorf("exit %d %s", o.code, r.verdicts())
	}
}

// Each file has a server of its own, many files run at a time, and what came of them is in the order of their names.
func TestRunManyFiles(t *testing.T) {
	const n = 40
	files := map[string]string{}
	for i := range n {
		files[fmt.Sprintf("call-%03d.yaml", i)] = fmt.Sprintf("tool: echo\narguments: {text: \"%d\"}\nexpect: '.content[0].text | contains(\"%d\")'\n", i, i)
	}
	project(t, files)
	o, r := runReport(t, fake(t, behave.Good, ".", "--concurrency", "8", "--no-history")...)
	if o.code != cli.ExitOK || len(r.Calls) != n || r.Assertions != n {
		t.Fatalf("exit %d %d %s", o.code, len(r.Calls), o.stderr)
	}
	for i, c := range r.Calls {
		if c.Name != fmt.Sprintf("call-%03d", i) {
			t.Fatalf("%d is %s", i, c.Name)
		}
	}
	if o := mcphud(t, "run", ".", "--concurrency", "0"); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "--concurrency is 0") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
}

// An interrupt ends the servers of all files, and what was not made is listed as such.
func TestRunInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("processes are signalled")
	}
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	server := append([]string{"sh", "-c", `echo $$ >> "$0"; exec "$@"`, pids}, fake(t, behave.Good)[1:]...)
	for i := range 5 {
		file := filepath.Join(dir, ".mcphud", "calls", fmt.Sprintf("%d.yaml", i))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		write(t, file, "tool: echo\nexpect: .nothing\nretry: {for: 9m, every: 10ms}\n")
	}
	cmd := command(t, append([]string{"run", dir, "--concurrency", "3", "--"}, server...)...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	start := time.Now()
	require.NoError(t, cmd.Start())
	for n := 0; n < 1200 && len(strings.Fields(contents(pids))) < 3; n++ {
		time.Sleep(25 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	o := wait(t, cmd, &out, &stderr, start)
	var r ranReport
	if err := json.Unmarshal([]byte(o.out), &r); err != nil || o.code != cli.ExitInterrupted || len(r.Calls) != 5 || r.Skipped < 2 || r.Calls[4].Skipped != "not made: interrupted" {
		t.Errorf("exit %d %v %s %s", o.code, err, o.out, o.stderr)
	}
	for _, pid := range strings.Fields(contents(pids)) {
		if err := exec.Command("kill", "-0", pid).Run(); err == nil {
			t.Errorf("process %s is left", pid)
		}
	}
}
