package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestQ1_OneAfterAnotherInTheOrderTheyCame(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{})
		var order []int
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				err := do(t.Context(), q, Job{Tenant: "a"}, func(context.Context) error {
					order = append(order, i) // a race, were two to run
					time.Sleep(time.Millisecond)
					return nil
				})
				assert.NoError(t, err)
			})
			synctest.Wait()
		}
		wg.Wait()
		if !slices.IsSorted(order) || len(order) != 20 {
			t.Errorf("ran in the order %v", order)
		}
	})
}

func TestQ1_NeverMoreThanConcurrency(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Concurrency: 3, Capacity: Unlimited})
		var now, most atomic.Int32
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				_ = do(t.Context(), q, Job{Tenant: fmt.Sprint(i % 7)}, func(context.Context) error {
					n := now.Add(1)
					defer now.Add(-1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					time.Sleep(time.Millisecond)
					return nil
				})
			})
		}
		wg.Wait()
		assert.Equalf(t, most.Load(), 3, "ran at a time")
		status(t, q, 0, 0, 0)
	})
}

func TestQ2_OneFailsAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{})
		for i := range 5 {
			want := error(nil)
			if i == 2 {
				want = errBoom
			}
			if err := do(t.Context(), q, Job{}, func(context.Context) error { return want }); !errors.Is(err, want) {
				t.Errorf("job %d: %v", i, err)
			}
		}
	})
}

func TestQ4_FullIsSaidAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Capacity: 2})
		running := start(t, q, Job{Tenant: "a"}, false)
		second, third := start(t, q, Job{Tenant: "a"}, false), start(t, q, Job{Tenant: "a"}, false)
		status(t, q, 2, 1, 0)
		at := time.Now()
		f := failure(t, do(t.Context(), q, Job{Tenant: "b"}, nil), jsonrpc.KindQueueFull)
		if f.Message != "Task queue at capacity" || f.RetryAfter <= 0 || f.Code(false) != -32002 || f.Code(true) != -31002 || time.Since(at) != 0 {
			t.Errorf("%+v after %v", f, time.Since(at))
		}
		running.end()
		second.end()
		third.end()
		if err := do(t.Context(), q, Job{}, func(context.Context) error { return nil }); err != nil {
			t.Errorf("afterwards: %v", err)
		}
	})
}

func TestQ5_TimeInTheQueueAndTimeOfRunningAreTwoThings(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Timeout: 10 * time.Second, QueueTimeout: 8 * time.Second})
		slow := start(t, q, Job{}, false)
		time.Sleep(time.Second)
		behind := start(t, q, Job{}, false)
		at := time.Now()
		phase(t, <-behind.result, "queued")
		if d := time.Since(at); d != 8*time.Second {
			t.Errorf("gave up after %v in the queue", d)
		}
		if behind.running() {
			t.Error("ran although it had given up")
		}
		late := start(t, q, Job{}, false) // waits one second, and then has its full ten
		phase(t, <-slow.result, "running")
		at = time.Now()
		phase(t, <-late.result, "running")
		if d := time.Since(at); d != 10*time.Second {
			t.Errorf("ran for %v, want 10s that do not count the wait", d)
		}
		status(t, q, 0, 0, 0)
	})
}

func TestA6_DefaultsAndTheCeiling(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{})
		for _, c := range []struct {
			own, want time.Duration
			touch     bool
		}{{0, 30 * time.Second, false}, {5 * time.Second, 5 * time.Second, false}, {time.Hour, time.Minute, false}, {0, time.Minute, true}} {
			at := time.Now()
			err := do(t.Context(), q, Job{Timeout: c.own}, func(ctx context.Context) error {
				for ctx.Err() == nil {
					if c.touch {
						Touch(ctx)
					}
					select {
					case <-time.After(time.Second):
					case <-ctx.Done():
					}
				}
				if f, ok := jsonrpc.AsRequestError(context.Cause(ctx)); !ok || f.Kind != jsonrpc.KindTimeout {
					t.Errorf("the handler saw %v", context.Cause(ctx))
				}
				return nil // what it returns after it was told to stop is too late
			})
			phase(t, err, "running")
			if d := time.Since(at); d != c.want {
				t.Errorf("%+v: stopped after %v", c, d)
			}
		}
	})
}

func TestQ7_CancelRemovesTheQueuedAndStopsTheRunning(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{})
		first, second, third := start(t, q, Job{}, false), start(t, q, Job{}, false), start(t, q, Job{}, false)
		second.cancel()
		failure(t, <-second.result, jsonrpc.KindCancelled)
		status(t, q, 1, 1, 0)
		first.cancel()
		failure(t, <-first.result, jsonrpc.KindCancelled)
		if second.running() || !third.running() {
			t.Error("the cancelled one ran, or the next one does not")
		}
		third.end()
		status(t, q, 0, 0, 0)
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(jsonrpc.Errorf(jsonrpc.KindUnauthorized, "no"))
		failure(t, do(gone, q, Job{}, nil), jsonrpc.KindUnauthorized)
	})
}

func TestQ7_StormOfCancels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Capacity: Unlimited})
		head := start(t, q, Job{Tenant: "head"}, false)
		ctx, cancel := context.WithCancel(t.Context())
		const n = 10_000
		var cancelled, ran atomic.Int32
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				err := do(ctx, q, Job{Tenant: fmt.Sprint(i % 1000)}, func(context.Context) error { ran.Add(1); return nil })
				if f, ok := jsonrpc.AsRequestError(err); ok && f.Kind == jsonrpc.KindCancelled {
					cancelled.Add(1)
				}
			})
		}
		synctest.Wait()
		status(t, q, n, 1, 0)
		cancel()
		wg.Wait()
		if cancelled.Load() != n || ran.Load() != 0 {
			t.Errorf("%d of %d were cancelled, %d ran", cancelled.Load(), n, ran.Load())
		}
		status(t, q, 0, 1, 0)
		head.end()
		status(t, q, 0, 0, 0)
		if len(q.tenants) > maxTenants+1 || q.turns.Len() != 0 || q.live != 0 {
			t.Errorf("%d tenants and %d turns are left", len(q.tenants), q.turns.Len())
		}
	})
}

func TestE5_PanicAndGoexitStayInside(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Logger: quiet})
		f := failure(t, do(t.Context(), q, Job{}, func(context.Context) error { panic("secret") }), jsonrpc.KindInternal)
		if e := f.RPC(true); e.Code != -32603 || f.Message != "internal error" || string(e.Data) != `{"kind":"internal"}` {
			t.Errorf("%+v %s", e, e.Data)
		}
		failure(t, do(t.Context(), q, Job{}, func(context.Context) error { panic(nil) }), jsonrpc.KindInternal)
		if err := do(t.Context(), q, Job{}, func(context.Context) error { t.SkipNow(); return nil }); err == nil {
			t.Error("a handler that never returned succeeded")
		}
		status(t, q, 0, 0, 0)
	})
}
