//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/cmd/cli"
	verbcheck "github.com/mcphud/mcphud/cmd/verb/check"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// broken is a recorded session with a server that writes to stdout what does not belong there.
func broken(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "noise.jsonl")
	mcphud(t, fake(t, behave.Noise, "tools", "list", "--journal", name, "--protocol", "2025-06-18")...) // fails, as it should
	return name
}

func findingsOf(t *testing.T, args ...string) (r verbcheck.ExpertReport) {
	t.Helper()
	out := mcphud(t, append([]string{"explain"}, args...)...).ok(t)
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

func TestExplainFile(t *testing.T) {
	t.Parallel()
	name := broken(t)
	r := findingsOf(t, name)
	if r.Errors < 4 || r.Frames < 5 || r.Unvalidated != 0 {
		t.Errorf("%+v", r)
	}
	rules := map[string]verbcheck.FoundLine{}
	for _, f := range r.Findings {
		rules[f.Rule] = f
	}
	noise := rules["stdout-noise"]
	if noise.By != "server" || noise.Severity != "error" || noise.Section != "https://modelcontextprotocol.io/specification/2025-06-18/basic/transports#stdio" || noise.Fix == "" || noise.Seq == 0 {
		t.Errorf("%+v", noise)
	}
	if !strings.HasPrefix(rules["jsonrpc-version"].Evidence, "/jsonrpc: ") || rules["batch"].Rule == "" {
		t.Errorf("%+v", rules)
	}
	text := mcphud(t, "explain", name, "--format", "text").ok(t)
	for _, want := range []string{"✗ error stdout-noise: ", "Write logs to stderr", "/2025-06-18/basic/transports#stdio", " errors, "} {
		assert.Contains(t, text, want)
	}
	lines := mcphud(t, "explain", name, "--format", "jsonl").ok(t)
	if n := strings.Count(lines, "\n"); n != len(r.Findings) || !strings.HasPrefix(lines, `{"rule":`) {
		t.Errorf("%d lines: %s", n, lines)
	}
}

// What is shown can be chosen, and --strict counts what is shown.
func TestExplainSome(t *testing.T) {
	t.Parallel()
	name := broken(t)
	for _, c := range []struct {
		args []string
		code int
		has  string
		not  string
	}{
		{[]string{"--strict"}, cli.ExitStrict, "stdout-noise", ""},
		{[]string{"--strict", "--rule", "batch"}, cli.ExitStrict, `"rule":"batch"`, "stdout-noise"},
		{[]string{"--strict", "--filter", "kind:req"}, cli.ExitOK, `"findings":[]`, "stdout-noise"},
		{[]string{"--filter", "kind:bad"}, cli.ExitOK, "stdout-noise", ""},
		{[]string{"--severity", "error", "--rule", "method-unknown"}, cli.ExitOK, `"findings":[]`, ""},
	} {
		o := mcphud(t, append([]string{"explain", name}, c.args...)...)
		if o.code != c.code || !strings.Contains(o.out, c.has) || c.not != "" && strings.Contains(o.out, c.not) {
			t.Errorf("%v: exit %d: %s%s", c.args, o.code, o.out, o.stderr)
		}
	}
}

func TestExplainRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"explain"}, "one file or rule"},
		{[]string{"explain", "--rules", "x"}, "no argument"},
		{[]string{"explain", "x", "--filter", "status:okay"}, "column 8"},
		{[]string{"explain", "x", "--severity", "fatal"}, "unknown severity"},
		{[]string{"explain", "x", "--rule", "nope"}, "no such rule"},
		{[]string{"explain", "id-reusd"}, "did you mean id-reused"},
		{[]string{"explain", filepath.Join(t.TempDir(), "nowhere.jsonl")}, "nowhere.jsonl"},
		{[]string{"explain", "--url", "http://h", "x"}, "--url does not apply"},
	} {
		o := mcphud(t, append(c.args, "--format", "json")...)
		if e := o.errorLine(t); o.code != 1 || !strings.Contains(e.Message+o.stderr, c.says) {
			t.Errorf("%v: exit %d, %s", c.args, o.code, o.stderr)
		}
	}
}

func TestExplainRules(t *testing.T) {
	t.Parallel()
	var all []verbcheck.RuleLine
	if err := json.Unmarshal([]byte(mcphud(t, "explain", "--rules").ok(t)), &all); err != nil || len(all) != len(rules.Of("live")) {
		t.Errorf("%d rules, %v", len(all), err)
	}
	one := mcphud(t, "explain", "cancel-initialize", "--format", "text").ok(t)
	assert.Contains(t, one, "/2024-11-05/basic/utilities/cancellation#behavior-requirements")
	assert.NotContains(t, one, "2026-07-28")
}

// What our client and the bundled agent say to each other breaks nothing, in any revision and over both transports.
func TestExplainFindsNothingInOurs(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Everything})
	revisions := []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
	if !budget.All() { // each is twenty sessions; the first and the last differ most
		revisions = []string{revisions[0], revisions[len(revisions)-1]}
	}
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "ours.jsonl")
			for _, call := range [][]string{
				{"info"},
				{"ping"},
				{"tools", "list"},
				{"tools", "call", "echo", "message=hello"},
				{"tools", "call", "add", "a=1", "b=2"},
				{"tools", "call", "fail"},
				{"tools", "call", "sleep", "ms=20"},
				{"tools", "call", "test_tool_with_progress"},
				{"tools", "call", "test_tool_with_logging", "--log-level", "debug"},
				{"tools", "call", "test_structured_content"},
				{"tools", "call", "test_header_params", "region=eu", "priority=3"},
				{"tools", "call", "test_image_content"},
				{"tools", "call", "there_is_no_such_tool"},
				{"resources", "list"},
				{"resources", "read", "test://static-text"},
				{"resources", "read", "test://nowhere"},
				{"resources", "templates"},
				{"prompts", "list"},
				{"prompts", "get", "test_simple_prompt"},
			} {
				mcphud(t, append(call, "--protocol", revision, "--journal", name, "--url", url)...) // some of them fail, as they should
			}
			c := command(t, "tools", "call", "echo", "message=hello", "--protocol", revision, "--journal", name)
			c.Args = append(c.Args, "--", c.Path, "agent", "--stdio", "--ephemeral", "--profile", "everything")
			finish(t, c).ok(t)
			r := findingsOf(t, name)
			for _, f := range r.Findings {
				if f.Severity != "note" {
					t.Errorf("%+v", f)
				}
			}
			if r.Frames < 80 || r.Unvalidated != 0 {
				t.Errorf("%d frames, %d not validated", r.Frames, r.Unvalidated)
			}
		})
	}
}

// found are the rules that a recorded session broke.
func found(t *testing.T, name string) (rules []string) {
	t.Helper()
	for _, f := range findingsOf(t, name).Findings {
		rules = append(rules, f.Rule)
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}

// What the hostile profile does wrong is found, each by the rule that it breaks.
func TestExplainHostile(t *testing.T) {
	t.Parallel()
	url := agent(t, agentsrv.Options{Profile: agentsrv.Hostile})
	for tool, want := range map[string]string{
		"answer_other_id":       "id-unknown",
		"answer_null_id":        "id-null",
		"answer_no_id":          "id-missing",
		"answer_id_as_text":     "id-changed",
		"answer_batch":          "batch",
		"answer_no_version":     "jsonrpc-version",
		"answer_both":           "result-and-error",
		"answer_neither":        "no-result",
		"answer_duplicate_keys": "duplicate-member",
		"answer_null_result":    "schema-result",
		"answer_list_result":    "schema-result",
		"answer_bad_error":      "message-shape",
		"answer_error_code":     "error-object",
		"answer_request":        "method-unknown",
		"bad_json":              "broken-frame",
		"trailing_garbage":      "broken-frame",
		"bad_utf8":              "broken-frame",
		"not_json":              "http-body",
		"answer_twice":          "answer-twice",
		"foreign_progress":      "progress-token",
		"unknown_content":       "schema-result",
		"bad_base64":            "base64",
		"progress_lies":         "progress-order",
		"http_accepted":         "http-accepted",
		"http_wrong_type":       "http-response-type",
		"http_no_type":          "http-response-type",
	} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "hostile.jsonl")
			mcphud(t, "tools", "call", tool, "--url", url, "--journal", name, "--protocol", "2025-11-25", "--timeout", "15s") // fails, as it should
			if got := found(t, name); !slices.Contains(got, want) {
				t.Errorf("%s: %v, not %s", tool, got, want)
			}
		})
	}
}

// So is what single servers do wrong over stdio.
func TestExplainFakes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[behave.Mode]string{
		behave.WrongID: "id-unknown", behave.Duplicate: "answer-twice", behave.Liar: "capability-empty", behave.Bare: "capability-unused",
		behave.RepeatCursor: "cursor-loop", behave.Malformed: "schema-result", behave.HalfFrameExit: "broken-frame", behave.BadUTF8: "not-utf8",
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			name := filepath.Join(t.TempDir(), "fake.jsonl")
			mcphud(t, fake(t, mode, "tools", "list", "--journal", name, "--timeout", "4s")...) // the wrong id waits for it
			if mode == behave.Liar || mode == behave.Bare {
				mcphud(t, fake(t, mode, "prompts", "list", "--journal", name)...)
			}
			if got := found(t, name); !slices.Contains(got, want) {
				t.Errorf("%v, not %s", got, want)
			}
		})
	}
	name := filepath.Join(t.TempDir(), "good.jsonl")
	mcphud(t, fake(t, behave.Good, "tools", "list", "--journal", name)...).ok(t)
	if got := found(t, name); len(got) > 0 {
		t.Errorf("the good server: %v", got)
	}
}
