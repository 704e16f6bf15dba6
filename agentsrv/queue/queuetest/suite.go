package queuetest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

var errBoom = errors.New("boom")

// Suite runs all tests on engines that open makes, each alone in its queue. What it makes it drains when the test ends.
func Suite(t *testing.T, open func(t *testing.T, b *Board, o queue.Options) queue.Engine) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, *rig)
	}{
		{"Q1 one after another in the order they came", order},
		{"Q1 never more than concurrency", bounded},
		{"Q2 one fails alone", alone},
		{"Q4 full is said", full},
		{"Q5 waiting and running have their own times", times},
		{"Q7 cancel removes the queued and stops the running", cancels},
		{"Q7 who ignores its context is abandoned", deaf},
		{"Q9 drain lets them end", drains},
		{"Q9 drain stops them in the end", stops},
		{"X3 tenants take turns", turns},
		{"X3 a tenant at its cap blocks nobody", capped},
		{"E5 panics stay inside", panics},
		{"A6 signs of progress", progress},
		{"a job that waits lends its slot", lends},
		{"a job in a job", nested},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.run(t, &rig{t: t, open: open})
		})
	}
}

type rig struct {
	t    *testing.T
	b    Board
	open func(t *testing.T, b *Board, o queue.Options) queue.Engine
}

func (r *rig) new(o queue.Options) queue.Engine {
	o.Logger = slog.New(slog.DiscardHandler)
	return r.open(r.t, &r.b, o)
}

func (r *rig) begin(q queue.Engine, tenant string) *Job {
	r.t.Helper()
	return Begin(r.t, &r.b, q, queue.Job{Tenant: tenant}, false)
}

// queued is begin for a job that has to wait; it is in the queue when queued returns.
func (r *rig) queued(q queue.Engine, tenant string) *Job {
	r.t.Helper()
	x := r.begin(q, tenant)
	<-x.Entered
	return x
}

func (r *rig) do(q queue.Engine, j queue.Job, f queue.Func) (json.RawMessage, error) {
	j.Payload = r.b.Pin(f)
	return q.Do(r.t.Context(), j, f)
}

func nothing(context.Context) (json.RawMessage, error) { return nil, nil }

func order(t *testing.T, r *rig) {
	q := r.new(queue.Options{})
	head := r.begin(q, "a")
	head.Runs()
	var all []*Job
	for range 8 {
		all = append(all, r.queued(q, "a"))
	}
	status(t, q, 8, 1, 0)
	head.End()
	for i, x := range all {
		x.Runs()
		for _, later := range all[i+1:] {
			if len(later.Started) > 0 {
				t.Fatalf("another one runs beside %d", i)
			}
		}
		x.End()
	}
	status(t, q, 0, 0, 0)
}

func bounded(t *testing.T, r *rig) {
	q := r.new(queue.Options{Concurrency: 3, Capacity: queue.Unlimited})
	var now, most atomic.Int32
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			_, err := r.do(q, queue.Job{Tenant: string(rune('a' + i%5))}, func(context.Context) (json.RawMessage, error) {
				n := now.Add(1)
				defer now.Add(-1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				time.Sleep(5 * time.Millisecond)
				return nil, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() > 3 || most.Load() < 2 {
		t.Errorf("%d ran at a time, want 3", most.Load())
	}
	status(t, q, 0, 0, 0)
}

func alone(t *testing.T, r *rig) {
	q := r.new(queue.Options{})
	for i := range 3 {
		raw, err := r.do(q, queue.Job{}, func(context.Context) (json.RawMessage, error) {
			if i == 1 {
				return nil, errBoom
			}
			return json.RawMessage(`{"ok":true}`), nil
		})
		if i == 1 && (err == nil || err.Error() != "boom") || i != 1 && (err != nil || string(raw) != `{"ok":true}`) {
			t.Errorf("job %d: %s %v", i, raw, err)
		}
	}
}

func full(t *testing.T, r *rig) {
	q := r.new(queue.Options{Capacity: 2})
	first := r.begin(q, "a")
	first.Runs()
	second, third := r.queued(q, "a"), r.queued(q, "b")
	_, err := r.do(q, queue.Job{Tenant: "c"}, nothing)
	f := Failure(t, err, jsonrpc.KindQueueFull)
	if f.Message != "Task queue at capacity" || f.RetryAfter <= 0 || f.Data["capacity"] != 2 {
		t.Errorf("%+v", f)
	}
	status(t, q, 2, 1, 0)
	first.End()
	second.Finish <- nil // whichever comes first
	third.End()
	if err := second.Ended(); err != nil {
		t.Error(err)
	}
	if _, err := r.do(q, queue.Job{}, nothing); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func times(t *testing.T, r *rig) {
	q := r.new(queue.Options{Timeout: 1200 * time.Millisecond, QueueTimeout: 400 * time.Millisecond, Grace: 100 * time.Millisecond})
	slow := r.begin(q, "a")
	slow.Runs()
	behind := r.queued(q, "a")
	phase(t, behind.Ended(), "queued")
	if len(behind.Started) != 0 {
		t.Error("it ran although it had given up")
	}
	phase(t, slow.Ended(), "running")
	at := time.Now()
	_, err := r.do(q, queue.Job{Timeout: 200 * time.Millisecond}, func(ctx context.Context) (json.RawMessage, error) {
		<-ctx.Done()
		if f, ok := jsonrpc.AsRequestError(context.Cause(ctx)); !ok || f.Kind != jsonrpc.KindTimeout {
			t.Errorf("the handler saw %v", context.Cause(ctx))
		}
		return nil, nil
	})
	phase(t, err, "running")
	if d := time.Since(at); d < 200*time.Millisecond {
		t.Errorf("its own timeout came after %v", d)
	}
	status(t, q, 0, 0, 0)
}

func cancels(t *testing.T, r *rig) {
	q := r.new(queue.Options{})
	first := r.begin(q, "a")
	first.Runs()
	second, third := r.queued(q, "a"), r.queued(q, "a")
	second.Cancel(nil)
	Failure(t, second.Ended(), jsonrpc.KindCancelled)
	status(t, q, 1, 1, 0)
	first.Cancel(jsonrpc.Errorf(jsonrpc.KindUnauthorized, "no"))
	Failure(t, first.Ended(), jsonrpc.KindUnauthorized)
	third.Runs()
	if len(second.Started) != 0 {
		t.Error("the cancelled one ran")
	}
	third.End()
	status(t, q, 0, 0, 0)
}

func deaf(t *testing.T, r *rig) {
	q := r.new(queue.Options{Timeout: 200 * time.Millisecond, Grace: 100 * time.Millisecond})
	x := Begin(t, &r.b, q, queue.Job{Tool: "deaf"}, true)
	x.Runs()
	phase(t, x.Ended(), "running")
	if s := q.Status(); s.Abandoned != 1 {
		t.Errorf("%+v", s)
	}
	next := r.begin(q, "")
	next.Runs()
	next.End()
	x.Finish <- nil
	Until(t, "nothing abandoned", func() bool { return q.Status().Abandoned == 0 })
	status(t, q, 0, 0, 0)
}

func drains(t *testing.T, r *rig) {
	q := r.new(queue.Options{})
	running := r.begin(q, "a")
	running.Runs()
	queued := r.queued(q, "a")
	drained := make(chan error, 1)
	go func() { drained <- q.Drain(context.Background()) }()
	Until(t, "draining", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_, err := q.Do(ctx, queue.Job{Payload: r.b.Pin(nothing)}, nothing)
		f, ok := jsonrpc.AsRequestError(err)
		return ok && f.Kind == jsonrpc.KindInterrupted && f.RetryAfter > 0
	})
	running.End()
	queued.Runs()
	queued.End()
	if err := <-drained; err != nil {
		t.Error(err)
	}
}

func stops(t *testing.T, r *rig) {
	q := r.new(queue.Options{Grace: 100 * time.Millisecond})
	running, queued := r.begin(q, "a"), (*Job)(nil)
	running.Runs()
	queued = r.queued(q, "a")
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err := q.Drain(ctx); err == nil || !strings.Contains(err.Error(), "2 calls") {
		t.Errorf("drained with %v", err)
	}
	Failure(t, running.Ended(), jsonrpc.KindInterrupted)
	Failure(t, queued.Ended(), jsonrpc.KindInterrupted)
	if len(queued.Started) != 0 {
		t.Error("a queued job began while the queue ended")
	}
}

func turns(t *testing.T, r *rig) {
	q := r.new(queue.Options{})
	head := r.begin(q, "a")
	head.Runs()
	var mu sync.Mutex
	var ran []string
	var wg sync.WaitGroup
	for i, tenant := range strings.Fields("a a a a b a b c") {
		wg.Go(func() {
			_, err := r.do(q, queue.Job{Tenant: tenant}, func(context.Context) (json.RawMessage, error) {
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, tenant)
				return nil, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		Until(t, "queued", func() bool { return q.Status().Queued == i+1 })
	}
	head.End()
	wg.Wait()
	if first := strings.Join(ran[:5], ""); !strings.Contains(first, "b") || !strings.Contains(first, "c") {
		t.Errorf("ran as %s", strings.Join(ran, " "))
	}
}

func capped(t *testing.T, r *rig) {
	q := r.new(queue.Options{Concurrency: 3, TenantRunning: 2})
	a1, a2 := r.begin(q, "a"), r.begin(q, "a")
	a1.Runs()
	a2.Runs()
	a3 := r.queued(q, "a")
	b := r.begin(q, "b")
	b.Runs()
	b.End()
	time.Sleep(50 * time.Millisecond)
	if len(a3.Started) != 0 {
		t.Error("a's third job got a slot beyond its cap")
	}
	a1.End()
	a3.Runs()
	a2.End()
	a3.End()
	status(t, q, 0, 0, 0)
}

func panics(t *testing.T, r *rig) {
	q := r.new(queue.Options{})
	_, err := r.do(q, queue.Job{}, func(context.Context) (json.RawMessage, error) { panic("secret") })
	if f := Failure(t, err, jsonrpc.KindInternal); f.Message != "internal error" {
		t.Errorf("%+v", f)
	}
	status(t, q, 0, 0, 0)
}

func progress(t *testing.T, r *rig) {
	q := r.new(queue.Options{Timeout: time.Second, MaxTimeout: 2 * time.Second}) // a sign may be late by as much on a busy machine
	at := time.Now()
	_, err := r.do(q, queue.Job{}, func(ctx context.Context) (json.RawMessage, error) {
		for ctx.Err() == nil {
			queue.Touch(ctx)
			time.Sleep(10 * time.Millisecond)
		}
		return nil, nil
	})
	phase(t, err, "running")
	if d := time.Since(at); d < 2*time.Second {
		t.Errorf("stopped after %v in spite of its progress", d)
	}
}

func lends(t *testing.T, r *rig) {
	q := r.new(queue.Options{})
	back, began := make(chan struct{}), make(chan struct{})
	result := make(chan error, 1)
	go func() {
		_, err := r.do(q, queue.Job{Tenant: "asking"}, func(ctx context.Context) (json.RawMessage, error) {
			err := queue.Wait(ctx, func() error { <-back; return nil })
			close(began)
			return nil, err
		})
		result <- err
	}()
	status(t, q, 0, 0, 1)
	second := r.begin(q, "a")
	second.Runs()
	third := r.queued(q, "a")
	close(back)
	Until(t, "it wants its slot back", func() bool { return q.Status().Waiting == 0 })
	second.End()
	<-began
	if err := <-result; err != nil {
		t.Error(err)
	}
	third.Runs()
	third.End()
	status(t, q, 0, 0, 0)
}

func nested(t *testing.T, r *rig) {
	q := r.new(queue.Options{})
	raw, err := r.do(q, queue.Job{}, func(ctx context.Context) (json.RawMessage, error) {
		inner := func(context.Context) (json.RawMessage, error) { return json.RawMessage(`"inner"`), nil }
		return q.Do(ctx, queue.Job{Payload: r.b.Pin(inner)}, inner)
	})
	if err != nil || string(raw) != `"inner"` {
		t.Errorf("%s %v", raw, err)
	}
	status(t, q, 0, 0, 0)
}
