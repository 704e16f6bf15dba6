package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

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
	if out := run(own, "key").ok(t); !strings.Contains(out, "one") || !strings.Contains(out, "two") {
		t.Errorf("%s", out)
	}
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
	if o := mcphud(t, fake(t, behave.Good, "run", id)...); o.code != cli.ExitFailure || !strings.Contains(o.stderr, "are not kept") {
		t.Errorf("exit %d %s", o.code, o.stderr)
	}
	if out := run(`[{"text":"here"}]`, id).ok(t); !strings.Contains(out, "here") {
		t.Errorf("%s", out)
	}
}
