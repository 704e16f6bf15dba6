package fuzz

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// TestBudgetFuzz: with the defaults every fault of the fake server that a rule names is found, those of its tools in one run, and those of
// the whole server in one each.
func TestBudgetFuzz(t *testing.T) {
	budget.Skip(t)
	want := map[string]string{}
	for tool, rule := range toolFaults {
		if !strings.HasPrefix(rule, "- ") {
			want[tool] = rule
		}
	}
	all := foundAfter(t, faketest.Stdio(t, behave.Good), want, "*")
	for mode, rule := range modeFaults {
		if !strings.HasPrefix(rule, "- ") {
			all += foundAfter(t, faketest.Stdio(t, mode), map[string]string{"echo": rule}, "echo")
		}
	}
	budget.Ceiling(t, "fuzz finds every planted fault of the fake server over stdio, one after the other", all, time.Minute)
}

// foundAfter is how long a run takes until it has found what is wanted, by tool, and ends it then.
func foundAfter(t *testing.T, cfg config.Server, want map[string]string, allow ...string) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	missing := maps.Clone(want)
	began := time.Now()
	var took time.Duration
	w := check.Watch{Found: func(f check.Finding) {
		if f.Rule.ID == "fuzz/"+missing[f.Place.Name] {
			delete(missing, f.Place.Name)
		}
		if len(missing) == 0 && took == 0 {
			took = time.Since(began)
			cancel()
		}
	}}
	if _, err := fuzzedBy(ctx, t, cfg, with(Options{Seed: 7, For: time.Minute}), w, allow...); len(missing) > 0 {
		t.Errorf("not found: %v, %v", missing, err)
	}
	return took
}
