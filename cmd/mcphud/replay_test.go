package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/test/require"
)

// recordedCalls is a file of what calls of the bundled agent said.
func recordedCalls(t *testing.T, url string, calls ...[]string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "session.jsonl")
	for _, words := range calls {
		mcphud(t, append(append([]string{"tools", "call"}, words...), "--format", "json", "--journal", file, "--url", url)...).ok(t)
	}
	return file
}

// A recorded session is sent again, read-only tools only unless all are allowed, and each answer is compared.
func TestReplay(t *testing.T) {
	url := agent(t, agentsrv.Options{})
	file := recordedCalls(t, url, []string{"echo", "message=hi"}, []string{"random_bytes", "n=16"}, []string{"reset_counter"})
	o := mcphud(t, "journal", "replay", file, "--format", "json", "--url", agent(t, agentsrv.Options{}))
	var all runner.ReplayedAll
	if err := json.Unmarshal([]byte(o.out), &all); err != nil || o.code != cli.ExitOK {
		t.Fatal(o.code, err, o.out, o.stderr)
	}
	if all.Different != 0 || all.Same != 5 || all.Skipped != 1 { // a list before each call
		t.Errorf("%+v", all)
	}
	for _, c := range all.Calls {
		if (c.Skipped != "") != (c.Target == "reset_counter") || c.Target == "random_bytes" && c.Expected == 0 {
			t.Errorf("%+v", c)
		}
	}
	for _, verb := range [][]string{{"journal", "replay"}, {"run"}} {
		o = mcphud(t, append(verb, file, "--all-tools", "--filter", "tool:reset_counter", "--format", "text", url)...)
		o.prints(t, cli.ExitAssertion, "tools/call reset_counter", "0 skipped")
	}
	for says, words := range map[string][]string{"names none": {}, "sent alone": {"x", url}, "--update is for": {"--update", url}} {
		mcphud(t, append([]string{"run", file}, words...)...).exits(t, cli.ExitFailure, says)
	}
}

// An answer that is another one now is told by its pointers, and is an exit code.
func TestReplayTellsWhatChanged(t *testing.T) {
	url := agent(t, agentsrv.Options{})
	file := recordedCalls(t, url, []string{"echo", "message=hi"})
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	was := strings.ReplaceAll(string(b), `"text":"hi"`, `"text":"ho"`)
	if was == string(b) {
		t.Fatal("the answer is not in the file")
	}
	require.NoError(t, os.WriteFile(file, []byte(was), 0o600))
	o := mcphud(t, "journal", "replay", file, "--filter", "tool:echo", "--format", "text", url)
	o.prints(t, cli.ExitAssertion, "≠ different tools/call echo", `changed /content/0/text: "ho" → "hi"`)
	for _, verb := range []string{"journal replay", "run"} {
		o := mcphud(t, append(strings.Fields(verb), file, "--filter", "tool:echo", "--format", "text", url)...)
		o.exits(t, cli.ExitAssertion, "stage   "+verb+"\n")
	}
	o = mcphud(t, "journal", "replay", file, "--filter", "tool:echo", "--format", "jsonl", url)
	var c runner.Replayed
	if err := json.Unmarshal([]byte(o.out[strings.LastIndex(strings.TrimSpace(o.out), "\n")+1:]), &c); err != nil || c.Same || c.Real != 1 || len(c.Differences) != 1 {
		t.Errorf("%v %s", err, o.out)
	}
	for words, says := range map[string]string{
		file + " --filter text:/(/": "--filter: column", file + " --filter tool:nobody": "no request to send again", file + "x": "no such file",
	} {
		o := mcphud(t, append(append([]string{"journal", "replay"}, strings.Fields(words)...), "--format", "json", "--url", url)...)
		o.exits(t, cli.ExitFailure, says)
	}
}

// What stands in the place of something that was taken out is sent to no server, whatever it is called.
func TestReplaySendsNoPlaceholder(t *testing.T) {
	url := agent(t, agentsrv.Options{})
	file := recordedCalls(t, url, []string{"echo", "message=ann@example.com"}, []string{"echo", "message=mail to bob@example.com"}, []string{"echo", "message=[2026-11-24] plain"})
	mcphud(t, "journal", "redact", "--in-place", file, "--pattern", `[a-z]+@example\.com`).ok(t)
	o := mcphud(t, "journal", "replay", file, "--filter", "tool:echo", "--format", "json", url)
	var all runner.ReplayedAll
	if err := json.Unmarshal([]byte(o.out), &all); err != nil || all.Skipped != 2 || all.Same != 1 {
		t.Errorf("%v %d %s%s", err, o.code, o.out, o.stderr)
	}
}

// A recorded answer that looks like another run's is a difference until its place is ignored.
func TestReplayNeverGuesses(t *testing.T) {
	one, other := lookalikes(t)
	file := recordedCalls(t, one, []string{"sum"}, []string{"book"})
	replay := func(tool string, words ...string) (outcome, runner.Replayed) {
		t.Helper()
		o := mcphud(t, append([]string{"journal", "replay", file, "--all-tools", "--filter", "tool:" + tool, "--format", "json", "--url", other}, words...)...)
		var all runner.ReplayedAll
		if err := json.Unmarshal([]byte(o.out), &all); err != nil || len(all.Calls) != 1 {
			t.Fatalf("%v: %s%s", err, o.out, o.stderr)
		}
		return o, all.Calls[0]
	}
	if o, c := replay("sum"); o.code != cli.ExitAssertion || c.Same || c.Real != 4 || c.Guesses != 0 {
		t.Errorf("a read: exit code %d, %+v", o.code, c)
	}
	if o, c := replay("book"); o.code != cli.ExitAssertion || c.Same || c.Real != 0 || c.Guesses != 4 {
		t.Errorf("asked once: exit code %d, %+v", o.code, c)
	}
	if o, c := replay("book", "--ignore", ".structuredContent[]"); o.code != cli.ExitOK || !c.Same || c.Expected != 4 {
		t.Errorf("ignored: exit code %d, %+v %s", o.code, c, o.stderr)
	}
	mcphud(t, "journal", "replay", file, "--ignore", ".[", "--url", other).exits(t, cli.ExitFailure, "--ignore: ")
}
