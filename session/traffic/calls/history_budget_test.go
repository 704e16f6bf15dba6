package calls

import (
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

// TestBudgetRecord: a call does not wait for its history, however large its result is.
func TestBudgetRecord(t *testing.T) {
	budget.Skip(t)
	h := newHistory(t, UsualLimits)
	m := made("tool", `{"a":1}`, `{"text":"`+strings.Repeat("x", 50_000_000)+`"}`)
	keep(t, h, made("first", `{}`, `{}`))
	budget.Ceiling(t, "a call of 50 MB handed to the history", budget.Best(func() time.Duration {
		start := time.Now()
		h.Record(m)
		took := time.Since(start)
		keep(t, h)
		return took
	}), 100*time.Microsecond)
	calls := make([]entry, 1000)
	for i := range calls {
		calls[i] = of(made("tool", `{"text":"one of many"}`, `{"content":[{"type":"text","text":"an answer of usual size"}]}`))
	}
	budget.Ceiling(t, "1,000 calls written to the history", budget.Best(func() time.Duration {
		start := time.Now()
		require.NoError(t, h.add(t.Context(), calls))
		return time.Since(start)
	}), 500*time.Millisecond)
	budget.Ceiling(t, "5,000 calls of the history read", budget.Best(func() time.Duration {
		start := time.Now()
		if n := len(all(t, h, Query{Limit: 5000})); n != 5000 {
			t.Fatalf("%d calls", n)
		}
		return time.Since(start)
	}), 250*time.Millisecond)
}
