package fuzz

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
)

// TestLimited: a server that asks for a while between calls is waited for, and what it says of that is nobody's fault.
func TestLimited(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	tools := []tool{
		{name: "at_times", input: anything, answer: func(args string) string {
			switch {
			case calls.Add(1)%2 == 0:
				return `"error":{"code":-31002,"message":"slow down","data":{"retryAfterMs":1}}`
			case args != "" && args[0] != '{':
				return `"error":{"code":-32602,"message":"not an object"}`
			}
			return says("well")
		}},
		{name: "never", input: anything, answer: func(string) string {
			return `"error":{"code":-32000,"message":"come back","data":{"kind":"rate_limited"}}`
		}},
	}
	rep := fuzzed(t, serve(t, tools...), Options{Seed: 7, Runs: 5, Timeout: 30 * time.Second, Only: []string{"at_times", "never"}})
	if got := found(rep); len(got) > 0 {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	verdicts := map[string]check.Verdict{}
	for _, s := range rep.Sections {
		for _, o := range s.Outcomes {
			if o.Rule == "fuzz/accepted" {
				verdicts[o.Place.Name] = o.Verdict
			}
		}
	}
	if verdicts["at_times"] != check.Passed || verdicts["never"] == check.Passed {
		t.Errorf("%v", verdicts)
	}
}

// TestRetryAfter: servers have several names for it, and none makes the check wait for ever.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]time.Duration{
		`{"retryAfterMs":20}`: 20 * time.Millisecond, `{"retryAfter":0.5}`: time.Second / 2, `{"retry_after":1e99}`: maxPause,
		`{"retryAfter":"soon"}`: 0, `{"retryAfter":-1}`: 0, `null`: 0, ``: 0,
	} {
		code := int64(-31002)
		out := outcome{err: &failure.Error{Code: &code, Data: json.RawMessage(data)}}
		if got := out.retryAfter(); got != want || out.isRateLimited() != (want > 0) {
			t.Errorf("%s: %v, want %v", data, got, want)
		}
	}
}

// TestSecretsAreMasked: the report says whose secret an answer has, and not which.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	leaks := tool{name: "leaks", input: anything, answer: func(string) string {
		return `"error":{"code":-32000,"message":"no access with sesame-open-1234","data":"sesame-open-1234"}`
	}}
	rep := fuzzed(t, serve(t, leaks), Options{Seed: 7, Runs: 3, Timeout: 30 * time.Second, Only: []string{"leaks"}})
	raw, err := json.Marshal(rep)
	if err != nil || !strings.Contains(string(raw), "no access with ***") || strings.Contains(string(raw), "sesame") {
		t.Errorf("%v: %s", err, raw)
	}
}
