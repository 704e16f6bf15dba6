package queue

import (
	"context"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
)

func TestBudgetQueue(t *testing.T) {
	budget.Skip(t)
	q := New(Options{})
	const calls = 20_000
	d := budget.Best(func() time.Duration {
		return budget.Time(func() {
			for range calls {
				require.NoError(t, do(t.Context(), q, Job{Tenant: "t", Tool: "echo"}, func(context.Context) error { return nil }))
			}
		})
	})
	budget.Ceiling(t, "the queue's part of a call", d/calls, 3*time.Microsecond)
}

// BenchmarkDo is what the queue adds to a call when nobody else is there.
func BenchmarkDo(b *testing.B) {
	q := New(Options{})
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	f := func(context.Context) error { return nil }
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, do(ctx, q, Job{Tenant: "t", Tool: "echo"}, f))
	}
}

// BenchmarkDoContended is the same with all callers in each other's way.
func BenchmarkDoContended(b *testing.B) {
	q := New(Options{Concurrency: 4, Capacity: Unlimited})
	f := func(context.Context) error { return nil }
	b.ReportAllocs()
	b.SetParallelism(32)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			require.NoError(b, do(b.Context(), q, Job{Tenant: "t", Tool: "echo"}, f))
		}
	})
}

func deep(n int) byte {
	var b [512]byte
	b[n%512] = byte(n)
	if n == 0 {
		return b[0]
	}
	return deep(n-1) + b[n%512]
}

// BenchmarkDoDeep is Do with a function that needs a large stack, as decoding does.
func BenchmarkDoDeep(b *testing.B) {
	q := New(Options{})
	f := func(context.Context) error { deep(40); return nil }
	b.ReportAllocs()
	for b.Loop() {
		require.NoError(b, do(b.Context(), q, Job{Tenant: "t", Tool: "echo"}, f))
	}
}
