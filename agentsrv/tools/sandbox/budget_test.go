package sandbox

import (
	"slices"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
)

func TestBudgetWarmCall(t *testing.T) {
	budget.Skip(t)
	s := open(t, Options{Parallel: 1})
	start := time.Now()
	do(t, s, "1 + 1")
	t.Logf("first call, with the start of a worker: %v", time.Since(start))
	took := make([]time.Duration, 2000)
	for i := range took {
		took[i] = budget.Time(func() { do(t, s, "1 + 1") })
	}
	slices.Sort(took)
	budget.Ceiling(t, "execute_code, warm, p50", took[len(took)/2], 15*time.Millisecond)
	budget.Ceiling(t, "execute_code, warm, p99", took[len(took)*99/100], 15*time.Millisecond)
	t.Logf("p50 %v p99 %v max %v", took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
}
