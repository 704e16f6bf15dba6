package cases

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/expect"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// Each kind of assertion has a rule, which one that failed trips, and a call that is as it should be none.
func TestRules(t *testing.T) {
	all := []calls.Outcome{
		{Name: "good", Verdict: calls.OK, Reply: rpc.Reply{Took: time.Second}},
		{Name: "dead", Verdict: calls.Failed, Err: errors.New("no answer")},
		{Name: "tool", Verdict: calls.IsError, Err: errors.New("no such thing")},
		{Name: "left", Verdict: calls.Skipped, Skipped: "nothing was captured"},
		{Name: "twice", Verdict: calls.Unmet, File: "x.yaml", Line: 3, Err: errors.New("x"), Failures: []expect.Failed{{Assertion: expect.OfQuery, Expected: ".a", Line: 7}, {Assertion: expect.OfQuery, Expected: ".a"}}},
	}
	want := []string{"cases/call dead", "cases/is-error tool", "cases/expect twice", "cases/expect twice"}
	for assertion, id := range ids {
		all = append(all, calls.Outcome{Name: assertion, Verdict: calls.Unmet, Failures: []expect.Failed{{Assertion: assertion, Expected: "x", Got: "y"}}})
		want = append(want, id+" "+assertion)
	}
	same := func(file string) string { return file }
	s := &Section{File: same, Repro: func(o calls.Outcome) string { return o.File }, Make: func(_ context.Context, each func(calls.Outcome, int, int)) error {
		for i, c := range all {
			each(c, i+1, len(all))
		}
		return nil
	}}
	rep, err := check.Run(t.Context(), &check.Subject{}, []check.Section{s}, check.Tool{}, check.Watch{})
	require.NoError(t, err)
	seen, prints := map[string]bool{}, map[string]bool{}
	for i, f := range rep.Findings {
		if got := f.ID + " " + f.Place.Name; got != want[i] || f.Severity != check.Error || prints[f.Fingerprint] {
			t.Errorf("%d: %s, want %s", i, got, want[i])
		}
		seen[f.ID], prints[f.Fingerprint] = true, true
	}
	if f := rep.Findings[2]; f.Line != 7 || f.File != "x.yaml" || !strings.HasPrefix(f.Evidence, "x.yaml:7: ") {
		t.Errorf("%+v", f)
	}
	for _, r := range s.Rules() {
		if !seen[r.ID] || r.Title == "" || r.Why == "" || r.Fix == "" {
			t.Errorf("%s was not tripped, or says too little", r.ID)
		}
	}
	if o := rep.Sections[1].Outcomes; len(o) != 2 || o[0].Verdict != check.Passed || o[1].Verdict != check.Skipped || o[1].Why == "" {
		t.Errorf("%+v", o)
	}
}
