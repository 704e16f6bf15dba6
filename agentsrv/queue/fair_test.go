package queue

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestFairness_TenantsTakeTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{})
		var order []string
		var wg sync.WaitGroup
		head := start(t, q, Job{Tenant: "a"}, false)
		for _, tenant := range strings.Fields("a a a a b a b c") {
			wg.Go(func() {
				_ = do(t.Context(), q, Job{Tenant: tenant}, func(context.Context) error { order = append(order, tenant); return nil })
			})
			synctest.Wait()
		}
		head.end()
		wg.Wait()
		if got := strings.Join(order, " "); got != "b c a b a a a a" {
			t.Errorf("ran as %s", got)
		}
	})
}

func TestX3_TenantAtItsCapBlocksNobody(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Concurrency: 3, TenantRunning: 2})
		a1, a2, a3 := start(t, q, Job{Tenant: "a"}, false), start(t, q, Job{Tenant: "a"}, false), start(t, q, Job{Tenant: "a"}, false)
		b := start(t, q, Job{Tenant: "b"}, false)
		if a3.running() || !b.running() {
			t.Errorf("a's third runs: %v, b's first: %v", a3.running(), b.running())
		}
		b.end()
		if a3.running() {
			t.Error("a's third job got the slot of b, beyond its cap")
		}
		a1.end()
		if !a3.running() {
			t.Error("a's third job waits although a may run it")
		}
		a2.end()
		a3.end()
	})
}

func TestFairness_OneTenantDoesNotTakeTheWholeQueue(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Capacity: 4, TenantQueued: 2})
		var all []*job
		for range 3 {
			all = append(all, start(t, q, Job{Tenant: "a"}, false))
		}
		failure(t, do(t.Context(), q, Job{Tenant: "a"}, nil), jsonrpc.KindQueueFull)
		all = append(all, start(t, q, Job{Tenant: "b"}, false), start(t, q, Job{Tenant: "b"}, false))
		failure(t, do(t.Context(), q, Job{Tenant: "c"}, nil), jsonrpc.KindQueueFull)
		for _, x := range all {
			x.cancel()
			failure(t, <-x.result, jsonrpc.KindCancelled)
		}
		status(t, q, 0, 0, 0)
	})
}

func TestQ7_WhoIgnoresItsContextIsAbandonedAndCounted(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Timeout: time.Second, Grace: time.Second, MaxAbandoned: 2, Logger: quiet})
		var deaf []*job
		for range 3 {
			at := time.Now()
			x := start(t, q, Job{Tool: "deaf"}, true)
			phase(t, <-x.result, "running")
			if d := time.Since(at); d != 2*time.Second {
				t.Errorf("Do returned after %v", d)
			}
			deaf = append(deaf, x)
		}
		if s := q.Status(); s.Abandoned != 3 || s.Running != 1 {
			t.Errorf("%+v: two lose their slot, the third keeps it", s)
		}
		next := start(t, q, Job{}, false)
		if next.running() {
			t.Error("more handlers run than may be abandoned")
		}
		for i, x := range deaf {
			x.finish <- nil
			synctest.Wait()
			if s := q.Status(); s.Abandoned != 2-i {
				t.Errorf("%+v after the end of %d", s, i+1)
			}
		}
		if !next.running() {
			t.Error("the slot did not come back")
		}
		next.end()
		status(t, q, 0, 0, 0)
	})
}

func TestQ9_DrainLetsThemEndAndThenStopsThem(t *testing.T) {
	bubble(t, func(t *testing.T) {
		q := New(Options{Grace: time.Second})
		running, queued := start(t, q, Job{}, false), start(t, q, Job{}, false)
		drained := make(chan error, 1)
		go func() { drained <- q.Drain(t.Context()) }()
		synctest.Wait()
		f := failure(t, do(t.Context(), q, Job{}, nil), jsonrpc.KindInterrupted)
		if f.RetryAfter <= 0 {
			t.Error("no retryAfterMs")
		}
		running.end()
		queued.end()
		assert.NoError(t, <-drained)

		q = New(Options{Grace: time.Second, Logger: quiet})
		running, deaf := start(t, q, Job{}, false), start(t, q, Job{}, true)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		at := time.Now()
		assert.ErrorContains(t, q.Drain(ctx), "2 calls")
		if d := time.Since(at); d != 5*time.Second {
			t.Errorf("took %v", d)
		}
		failure(t, <-running.result, jsonrpc.KindInterrupted)
		failure(t, <-deaf.result, jsonrpc.KindInterrupted)
		if err := q.Drain(t.Context()); err != nil {
			t.Errorf("again: %v", err)
		}
		if deaf.running() {
			t.Error("a queued job began while the queue ended")
		}
	})
}

func TestChangedIsToldOnceForMany(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var told []Status
		q := New(Options{Changed: func(s Status) { told = append(told, s) }})
		a, b := start(t, q, Job{}, false), start(t, q, Job{}, false)
		time.Sleep(statusEvery)
		synctest.Wait()
		a.end()
		b.end()
		time.Sleep(2 * statusEvery)
		for range 100 { // comes and goes between two looks
			_ = do(t.Context(), q, Job{}, func(context.Context) error { return nil })
		}
		time.Sleep(2 * statusEvery)
		synctest.Wait()
		if len(told) != 2 || told[0].Queued != 1 || told[0].Running != 1 || told[1].Running != 0 {
			t.Errorf("told %+v", told)
		}
		assert.NoError(t, q.Drain(t.Context()))
	})
}
