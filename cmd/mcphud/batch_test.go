package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// outcomes are the lines that many calls print.
func outcomes(t *testing.T, out string) (verdicts []string) {
	t.Helper()
	for line := range strings.Lines(out) {
		var c runner.BatchCall
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if c.Index != len(verdicts) {
			t.Errorf("call %d comes at place %d", c.Index, len(verdicts))
		}
		verdicts = append(verdicts, c.Verdict)
	}
	return verdicts
}

func batchFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "batch.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// Outcomes come in the order of the file, however long each call takes; the first that failed gives the exit code.
func TestBatch(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	var in strings.Builder
	for i := range 12 {
		fmt.Fprintf(&in, "{\"seconds\":%g,\"steps\":1}\n", float64(i%3)/50)
	}
	o := mcphud(t, "tools", "call", "sleep", "--batch", batchFile(t, in.String()), "--concurrency", "5", "--format", "json", "--url", url)
	if got := outcomes(t, o.out); o.code != 0 || len(got) != 12 || slices.Contains(got, "failed") {
		t.Errorf("exit %d, %q\n%s", o.code, got, o.stderr)
	}
	numbers := batchFile(t, `[{"a":1},{"a":"x"},{"a":3}]`)
	add := []string{"tools", "call", "add", "b=4", "--batch", numbers, "--url", url}
	o = mcphud(t, append(add, "--format", "json")...)
	if got := outcomes(t, o.out); o.code != cli.ExitTool || !slices.Equal(got, []string{"ok", "isError", "ok"}) || !strings.Contains(o.out, `"sum":7`) || !strings.Contains(o.stderr, "a must be a number") {
		t.Errorf("exit %d, %q\n%s", o.code, got, o.stderr)
	}
	o = mcphud(t, append(add, "--format", "text")...)
	o.prints(t, cli.ExitTool, "✓ ok  0  ", "3 calls, 1 failed")
	o = mcphud(t, append(add, "--format", "raw", "--expect", ".isError or .structuredContent.sum == 5")...)
	if o.code != cli.ExitAssertion || strings.Count(o.out, `"jsonrpc":"2.0"`) != 3 {
		t.Errorf("exit %d\n%s%s", o.code, o.out, o.stderr)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"add", "--concurrency", "2"}, "is for the calls of --batch"},
		{[]string{"add", "--batch", ""}, "names no file"},
		{[]string{"add", "--batch", numbers, "--concurrency", "0"}, "is not possible"},
		{[]string{"add", "--batch", numbers, "--task"}, "leave them out"},
		{[]string{"add", "--batch", numbers, "--args", "{}"}, "leave them out"},
		{[]string{"add", "--batch", numbers, "--compare", "x"}, "leave them out"},
		{[]string{"add", "--batch", "there-is-none"}, "no such file"},
		{[]string{"add", "--batch", batchFile(t, "")}, "no objects in "},
		{[]string{"add", "--batch", batchFile(t, " [ ]\n")}, "no objects in "},
		{[]string{"add", "--batch", batchFile(t, "{\"a\":1,\"b\":2}\n\n[]\n")}, "object 2, line 3: is not a JSON object"},
		{[]string{"add", "--batch", batchFile(t, `{"a":1}`), "x[=1"}, "nothing was sent"},
		{[]string{"call_agent", "--batch", numbers, "--read-only"}, "--read-only refuses it"},
	} {
		o := mcphud(t, append([]string{"tools", "call", "--format", "json", "--url", url}, c.args...)...)
		if o.code != cli.ExitFailure || !strings.Contains(o.stderr, c.says) || o.out != "" {
			t.Errorf("%q: exit %d, want %q\n%s%s", c.args, o.code, c.says, o.out, o.stderr)
		}
	}
}

// Standard input may be a file, which cannot be waited for as a pipe can.
func TestBatchFromAFileOnStdin(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{})
	for text, want := range map[string]string{`{"a":1,"b":2}`: `"verdict":"ok"`, "": "no objects in stdin"} {
		in, err := os.Open(batchFile(t, text))
		require.NoError(t, err)
		cmd := command(t, "tools", "call", "add", "--batch", "-", "--format", "json", "--url", url)
		cmd.Stdin = in
		out, _ := cmd.CombinedOutput() // of one the exit code is 1
		if err := in.Close(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %s; want %s", err, out, want)
		}
	}
}

// A server that dies ends the batch, after what was answered.
func TestBatchOfAServerThatDies(t *testing.T) {
	t.Parallel()
	file := batchFile(t, strings.Repeat("{}\n", 100))
	o := mcphud(t, fake(t, behave.Good, "tools", "call", "crash", "--batch", file, "--concurrency", "2", "--format", "json")...)
	if got := outcomes(t, o.out); o.code != cli.ExitUnreachable || len(got) == 0 || len(got) > 10 || slices.Contains(got, "ok") || !strings.Contains(o.stderr, fmt.Sprintf("%d of 100 calls were not made", 100-len(got))) {
		t.Errorf("exit %d, %q\n%s", o.code, got, o.stderr)
	}
}

// A batch that is fed as it goes prints as it goes. An interrupt ends it, and what runs at the server, though nobody closes stdin.
func TestBatchIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"", `{"ms":600000}`} {
		journal := filepath.Join(t.TempDir(), "j.jsonl")
		cmd := command(t, fake(t, behave.Good, "tools", "call", "sleep", "--batch", "-", "--concurrency", "2", "--format", "json", "--timeout", "20m", "--journal", journal)...)
		var stdout faketest.Buffer
		var stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		if _, err := io.WriteString(in, `{"ms":1}`+"\n"); err != nil {
			t.Fatal(err)
		}
		require.Eventually(t, "the first outcome", func() bool { return strings.Contains(stdout.String(), `"index":0`) })
		if last != "" {
			if _, err := io.WriteString(in, last+"\n"); err != nil {
				t.Fatal(err)
			}
			require.Eventually(t, "the second call", func() bool { return strings.Contains(contents(journal), "600000") })
		}
		require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
		o := wait2(t, cmd, &bytes.Buffer{}, &stderr)
		if got := outcomes(t, stdout.String()); o.code != cli.ExitInterrupted || !slices.Equal(got, []string{"ok"}) {
			t.Errorf("exit %d, %q, %s", o.code, got, stderr.String())
		}
		assert.Equalf(t, strings.Contains(contents(journal), "notifications/cancelled"), last != "", "after %q the server was told", last)
	}
}
