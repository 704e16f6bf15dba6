package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
)

// project is a folder with these calls, in which the test runs.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	faketest.Stdio(t, behave.Good) // it is built, which takes the folder of the test
	dir := filepath.Join(t.TempDir(), ".mcphud", "calls")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	t.Chdir(filepath.Dir(filepath.Dir(dir)))
	return dir
}

// A call of the history runs again where it was made, in another process; what was secret is asked for.
func TestHistoryRun(t *testing.T) {
	file := withCalls(t)
	mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "text=one", "api_key=hunter2")...).ok(t)
	mcphud(t, fake(t, behave.Good, "prompts", "get", "greet", "who=Ada")...).ok(t)
	mcphud(t, fake(t, behave.Good, "resources", "read", "fake://blob")...).ok(t)
	mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "text=x", "-e", "X=1")...).ok(t)
	mcphud(t, "history", "run", "1").exits(t, cli.ExitNeedsInput, "MCPHUD_SECRET_API_KEY")
	assert.Contains(t, mcphud(t, "history", "run", "1", "text=two", "api_key=again").ok(t), "two", "again")
	t.Setenv("MCPHUD_SECRET_API_KEY", "from the environment")
	assert.Contains(t, mcphud(t, "history", "run", "1").ok(t), "one", "from the environment")
	if b, err := os.ReadFile(file); err != nil || strings.Contains(string(b), "from the environment") {
		t.Errorf("the secret is in the file; %v", err)
	}
	assert.Contains(t, mcphud(t, "history", "run", "2").ok(t), "Ada")
	assert.Contains(t, mcphud(t, "history", "run", "3").ok(t), "fake://blob")
	mcphud(t, "history", "run", "4").exits(t, cli.ExitFailure, "not all kept")
	assert.Contains(t, mcphud(t, fake(t, behave.Good, "history", "run", "4")...).ok(t), "x")
	// Run says the same.
	assert.Contains(t, mcphud(t, "run", "1", "text=three").ok(t), "three", "from the environment")
	mcphud(t, "run", "4").exits(t, cli.ExitFailure, "not all kept")
	if o := mcphud(t, "run", "2", "3", "--format", "jsonl"); strings.Count(o.ok(t), "\n") != 2 || !strings.Contains(o.out, `"name":"3"`) {
		t.Errorf("%s", o.out)
	}
	if o := mcphud(t, "run", "2", "--compare", "protocol:2025-11-25"); !strings.Contains(o.out, `"same":true`) {
		t.Errorf("exit %d %s %s", o.code, o.out, o.stderr)
	}
	if o := mcphud(t, "run", "1", "--batch", batchFile(t, "{\"text\":\"a\"}\n{}\n")); strings.Count(o.ok(t), "from the environment") < 2 || !strings.Contains(o.out, "one") {
		t.Errorf("%s", o.out)
	}
	for says, words := range map[string][]string{"for a single call": {"1", "2", "--compare", "x"}, "--filter is for": {"1", "--filter", "tool:x"}, "there is no call": {"99"}} {
		if o := mcphud(t, append([]string{"run"}, words...)...); o.code == cli.ExitOK || !strings.Contains(o.stderr, says) {
			t.Errorf("%q: exit %d %s", words, o.code, o.stderr)
		}
	}
	if calls := callsOf(t, "--limit", "20"); calls[len(calls)-9].ID != 9 || calls[len(calls)-9].Target != "echo" {
		t.Errorf("%+v", calls)
	}
	require.NoError(t, os.WriteFile(file, bytes.Repeat([]byte("no database "), 1000), 0o600))
	mcphud(t, "run", "nix").exits(t, cli.ExitTool, "there is no call")
}

// A call of the history becomes a file of the project, which runs, alone or with others.
func TestRunCalls(t *testing.T) {
	withCalls(t)
	dir := project(t, map[string]string{
		"a-fine.yaml": "tool: echo\narguments: {text: from a file}\nowner: ada\n", "b-fails.yaml": "tool: rpc_error\n", "c-unknown.yaml": "tool: nix\n",
		"d-prompt.yaml": "prompt: greet\narguments: {who: Ada}\n", "e-resource.yaml": "resource: fake://blob\n", "no call.md": "",
	})
	o := mcphud(t, fake(t, behave.Good, "run", "a-fine")...)
	if out := o.ok(t); !strings.Contains(out, "from a file") || !strings.Contains(o.stderr, `a-fine.yaml:3:1: unknown key "owner"`) {
		t.Errorf("%s %s", out, o.stderr)
	}
	assert.Contains(t, mcphud(t, fake(t, behave.Good, "run", "a-fine", "text=from here")...).ok(t), "from here")
	mcphud(t, fake(t, behave.Good, "run", "b-fails")...).exits(t, cli.ExitRPC)
	o = mcphud(t, fake(t, behave.Good, "run", ".")...)
	var all struct {
		Calls  []calls.Outcome
		Failed int
	}
	if err := json.Unmarshal([]byte(o.out), &all); err != nil || o.code != cli.ExitRPC || all.Failed != 2 || len(all.Calls) != 5 {
		t.Fatalf("%v, exit %d %s %s", err, o.code, o.out, o.stderr)
	}
	var verdicts []string
	for _, c := range all.Calls {
		verdicts = append(verdicts, c.Name+" "+c.Verdict)
	}
	assert.Equal(t, strings.Join(verdicts, ", "), "a-fine ok, b-fails error, c-unknown failed, d-prompt ok, e-resource ok")
	o = mcphud(t, fake(t, behave.Good, "run", dir, "--format", "text")...)
	if !strings.Contains(o.out, "✗ error  b-fails") || !strings.HasSuffix(o.out, "5 calls, 2 failed\n") {
		t.Errorf("%s", o.out)
	}
	if o := mcphud(t, fake(t, behave.Good, "run", "a-fine", filepath.Join(dir, "d-prompt.yaml"), "--format", "jsonl", "--concurrency", "1")...); strings.Count(o.ok(t), "\n") != 2 {
		t.Errorf("%s", o.out)
	}
	calls := callsOf(t, "--limit", "1")
	mcphud(t, "history", "save", fmt.Sprint(calls[0].ID), "kept").ok(t)
	if b, err := os.ReadFile(filepath.Join(dir, "kept.yaml")); err != nil || !strings.Contains(string(b), "prompt: greet\narguments:\n  who: Ada\n") {
		t.Errorf("%s %v", b, err)
	}
	mcphud(t, "history", "save", "1", "kept").exits(t, cli.ExitFailure, "--replace")
	mcphud(t, "history", "save", "1", "kept", "--replace").ok(t)
	for _, args := range [][]string{{"history", "save", "1", "../x"}, {"history", "save", "1", "/tmp/x"}} {
		mcphud(t, args...).exits(t, cli.ExitFailure)
	}
	mcphud(t, fake(t, behave.Good, "run", "a-fin")...).exits(t, cli.ExitTool, "did you mean a-fine")
	if o := mcphud(t, fake(t, behave.ExitAtOnce, "run", ".")...); o.code != cli.ExitUnreachable || strings.Count(o.out, `"failed"`) < 6 {
		t.Errorf("exit %d %s %s", o.code, o.out, o.stderr)
	}
}

// A file of a project starts no server, and contacts none, that is not trusted; nor does it get at variables.
func TestRunNeedsTrust(t *testing.T) {
	withCalls(t)
	mark := filepath.Join(t.TempDir(), "started")
	s := faketest.Stdio(t, behave.Good)
	project(t, map[string]string{
		"touch.yaml":  "command: [touch, " + mark + "]\ntool: echo\n",
		"url.yaml":    "url: http://127.0.0.1:1/mcp\ntool: echo\n",
		"named.yaml":  "server: fake\ntool: echo\narguments: {text: x}\n",
		"wrong.yaml":  "tool: echo\narguments: [1\n",
		"secret.yaml": "tool: echo\narguments: {path: '***'}\nsecrets: [/path]\n",
	})
	entry, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"fake": map[string]any{"command": s.Command, "args": s.Args}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(".mcp.json", entry, 0o644))
	for _, name := range []string{"touch", "url", "named", ".mcphud/calls/touch.yaml", ".mcphud/calls"} {
		if o := mcphud(t, "run", name); o.code == 0 || name != ".mcphud/calls" && !strings.Contains(o.stderr, "not trusted yet") {
			t.Errorf("%s: exit %d %s", name, o.code, o.stderr)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command of a project's file was run")
	}
	mcphud(t, "run", "wrong").exits(t, cli.ExitFailure, "wrong.yaml:", "is not valid YAML")
	assert.Contains(t, mcphud(t, "run", "named", "--config", ".mcp.json").ok(t), "x")
	if o := mcphud(t, fake(t, behave.Good, "run", "secret")...); o.code != cli.ExitNeedsInput || strings.Contains(o.out+o.stderr, os.Getenv("PATH")) {
		t.Errorf("exit %d %s %s", o.code, o.out, o.stderr)
	}
}

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
		assert.Contains(t, o.out, want)
	}
	mcphud(t, "run", "b-use", "--url", url).exits(t, cli.ExitFailure, `b-use.yaml:1: nothing captures \"sum\" before this call`)
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
	mcphud(t, "run", ".", "--url", url).exits(t, cli.ExitFailure, "c-wrong.yaml:2:9: expect is not a jq expression")
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
	o.exits(t, cli.ExitAssertion, "snapshot: expected the same as a.snapshot.json, got 2 differences", "changed /structuredContent/sum: 3 → 4")
	mcphud(t, "run", "a", "b=3", "--url", url, "--update").exits(t, cli.ExitOK, "snapshot written: a.snapshot.json")
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
	mcphud(t, "run", ".", "--concurrency", "0").exits(t, cli.ExitFailure, "--concurrency is 0")
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
	assert.NoError(t, cmd.Process.Signal(syscall.SIGINT))
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

// A call of a file is the same whole call for each object, and at a second server: what it expects, its metadata and its time limit.
func TestRunBatchOfAFile(t *testing.T) {
	url := agent(t, agentsrv.Options{})
	project(t, map[string]string{
		"add.yaml":   "tool: add\narguments: {b: 1}\nmeta: {com.example/tenant: acme}\nexpect: .structuredContent.sum == 3\n",
		"slow.yaml":  "tool: sleep\narguments: {seconds: 5, steps: 1}\ntimeout: 100ms\n",
		"error.yaml": "tool: add\narguments: {b: 1}\nisError: true\n",
	})
	objects, journal := batchFile(t, `[{"a":2},{"a":3},{"a":2}]`), filepath.Join(t.TempDir(), "j.jsonl")
	tenants := func() int {
		b, err := os.ReadFile(journal)
		require.NoError(t, err)
		return strings.Count(string(b), "com.example/tenant")
	}
	o := mcphud(t, "run", "add", "--batch", objects, "--journal", journal, "--url", url, "--format", "json")
	if got := outcomes(t, o.out); o.code != cli.ExitAssertion || !slices.Equal(got, []string{"ok", "failed", "ok"}) || !strings.Contains(o.out, "sum == 3") || tenants() != 3 {
		t.Errorf("exit %d, %q, %d with metadata\n%s%s", o.code, got, tenants(), o.out, o.stderr)
	}
	o = mcphud(t, "run", "error", "--batch", batchFile(t, `[{"a":"x"},{"a":1}]`), "--url", url, "--format", "json")
	if got := outcomes(t, o.out); o.code != cli.ExitAssertion || !slices.Equal(got, []string{"ok", "failed"}) {
		t.Errorf("isError: exit %d, %q\n%s", o.code, got, o.stderr)
	}
	o = mcphud(t, "run", "slow", "--batch", batchFile(t, `{}`), "--url", url, "--format", "json")
	if got := outcomes(t, o.out); !slices.Equal(got, []string{"timeout"}) {
		t.Errorf("a time limit: exit %d, %q\n%s", o.code, got, o.stderr)
	}
	require.NoError(t, os.Remove(journal))
	o = mcphud(t, "run", "add", "a=2", "--compare", "protocol:2025-11-25", "--journal", journal, "--url", url, "--format", "json")
	if d := difference(t, o); o.code != cli.ExitOK || !d.Same || tenants() < 2 || !strings.Contains(o.stderr, "what add expects is not judged") {
		t.Errorf("exit %d, %d with metadata\n%s%s", o.code, tenants(), o.out, o.stderr)
	}
}

// What a batch or a comparison has no use for is refused, and not dropped.
func TestRunBatchRefuses(t *testing.T) {
	t.Parallel()
	faked := fake(t, behave.Good)
	dir := t.TempDir()
	for key, rest := range map[string]string{
		"snapshot": "snapshot: true\n", "capture": "capture: {id: .content}\n", "repeat": "repeat: 2\n", "retry": "expect: .content\nretry: {for: 1s}\n", "--update": "",
	} {
		file := filepath.Join(dir, "call.yaml")
		write(t, file, "tool: echo\narguments: {text: x}\n"+rest)
		for _, special := range [][]string{{"--batch", batchFile(t, `{"text":"y"}`)}, {"--compare", "protocol:2025-11-25"}} {
			words := append([]string{"run", file}, special...)
			if key == "--update" {
				words = append(words, key)
			}
			if o := mcphud(t, append(words, faked...)...); o.code != cli.ExitFailure || !strings.Contains(o.stderr, key) || !strings.Contains(o.stderr, special[0]) || o.out != "" {
				t.Errorf("%s with %s: exit %d %s%s", key, special[0], o.code, o.out, o.stderr)
			}
		}
	}
}

// A batch needs the secrets, and the arguments that are not kept, only for objects that have none of their own.
func TestRunBatchWithSecretsOfItsOwn(t *testing.T) {
	withCalls(t)
	dir := project(t, map[string]string{"key.yaml": "tool: echo\narguments: {text: x, api_key: '***'}\nsecrets: [/api_key]\n"})
	run := func(objects string, words ...string) outcome {
		t.Helper()
		return mcphud(t, append(append([]string{"run"}, words...), fake(t, behave.Good, "--format", "json", "--batch", batchFile(t, objects))...)...)
	}
	own := `[{"api_key":"one"},{"api_key":"two"}]`
	assert.Contains(t, run(own, "key").ok(t), "one", "two")
	if o := run(`[{"api_key":"one"},{"text":"y"}]`, "key"); o.code != cli.ExitNeedsInput || !strings.Contains(o.stderr, "MCPHUD_SECRET_API_KEY") || o.out != "" {
		t.Errorf("exit %d %s%s", o.code, o.out, o.stderr)
	}
	t.Setenv("MCPHUD_SECRET_API_KEY", "of the environment")
	if out := run(own, "key").ok(t); !strings.Contains(out, "one") || !strings.Contains(out, "two") || strings.Contains(out, "of the environment") {
		t.Errorf("%s", out)
	}
	if out := run(`[{"api_key":"one"},{"text":"y"}]`, "key").ok(t); !strings.Contains(out, "one") || strings.Count(out, "of the environment") == 0 {
		t.Errorf("%s", out)
	}
	// Arguments that were too large to keep.
	large := filepath.Join(dir, "large.json")
	write(t, large, `{"text":"`+strings.Repeat("x", 1<<20)+`"}`)
	mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "--args", "@"+large)...).ok(t)
	id := "last"
	mcphud(t, fake(t, behave.Good, "run", id)...).exits(t, cli.ExitFailure, "are not kept")
	assert.Contains(t, run(`[{"text":"here"}]`, id).ok(t), "here")
}

// A reference that a file writes with two dollars is sent as a text, however the one call of the file is made.
func TestRunEscapedReference(t *testing.T) {
	project(t, map[string]string{
		"plain.yaml":    "tool: echo\narguments: {text: 'not $${capture.id}'}\n",
		"expected.yaml": "tool: echo\narguments: {text: 'not $${capture.id}'}\nmaxLatency: 1m\n",
	})
	for _, words := range [][]string{{"plain"}, {"expected"}, {"plain", "--batch", batchFile(t, "{}\n")}} {
		out := mcphud(t, fake(t, behave.Good, append([]string{"run"}, words...)...)...).ok(t)
		assert.Contains(t, out, "not ${capture.id}")
		assert.NotContains(t, out, "$${")
	}
	record := filepath.Join(t.TempDir(), "sent.jsonl")
	mcphud(t, fake(t, behave.Good, "run", "plain", "--compare", "protocol:2025-11-25", "--twice", "--journal", record)...).ok(t)
	sent, err := os.ReadFile(record)
	require.NoError(t, err)
	assert.Contains(t, string(sent), "not ${capture.id}")
	assert.NotContains(t, string(sent), "$${")
}
