//go:build unix

package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

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
