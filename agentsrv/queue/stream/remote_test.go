package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/queue/queuetest"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// pair are two replicas; the slot of the first is taken until the test ends, so that the other one runs what arrives there.
type pair struct {
	t      *testing.T
	s      *natstest.Server
	b      queuetest.Board
	from   *Queue
	to     *Queue
	change func(*Options)
}

func newPair(t *testing.T, change func(*Options)) *pair {
	t.Helper()
	p := &pair{t: t, s: natstest.Run(t), change: change}
	p.from = p.join()
	busy := queuetest.Begin(t, &p.b, p.from, queue.Job{Tenant: "busy"}, false)
	busy.Runs()
	t.Cleanup(func() { busy.Cancel(nil) })
	p.to = p.join()
	queuetest.Until(t, "both know of each other", func() bool {
		return p.from.Status().Shared.Replicas == 2 && p.to.Status().Shared.Replicas == 2
	})
	return p
}

func (p *pair) join() *Queue {
	return join(p.t, p.s.URL, &p.b, func(o *Options) {
		o.pace = unhurried
		o.Grace = 200 * time.Millisecond
		if p.change != nil {
			p.change(o)
		}
	})
}

var (
	// unhurried takes nobody for lost because a busy machine holds up what says that it lives.
	unhurried = pace{ackWait: time.Minute, beat: 5 * time.Second}
	// hurried notices a loss soon.
	hurried = pace{ackWait: 1500 * time.Millisecond, beat: 400 * time.Millisecond}
)

// lose breaks a replica as a killed process does: nobody hears from it again.
func lose(q *Queue) { q.nc.Close() }

func TestElsewhere(t *testing.T) {
	p := newPair(t, nil)
	for _, c := range []struct {
		give error
		want func(error) bool
	}{
		{nil, func(err error) bool { return err == nil }},
		{errors.New("boom"), func(err error) bool { return err != nil && err.Error() == "boom" }},
		{jsonrpc.Errorf(jsonrpc.KindTenantNotFound, "no such").With("field", "x"), func(err error) bool {
			f, ok := jsonrpc.AsRequestError(err)
			return ok && f.Kind == jsonrpc.KindTenantNotFound && f.Message == "no such" && f.Data["field"] == "x"
		}},
		{&jsonrpc.Error{Code: -7, Message: "own", Data: json.RawMessage(`{"a":1}`)}, func(err error) bool {
			var e *jsonrpc.Error
			return errors.As(err, &e) && e.Code == -7 && string(e.Data) == `{"a":1}`
		}},
	} {
		f := func(context.Context) (json.RawMessage, error) { return json.RawMessage(`{"a":1}`), c.give }
		raw, err := p.from.Do(t.Context(), queue.Job{Tenant: "t", Payload: p.b.Pin(f)}, notHere(t))
		if !c.want(err) || err == nil && string(raw) != `{"a":1}` {
			t.Errorf("%v: %s %v", c.give, raw, err)
		}
	}
}

// notHere is the function of a job that has to run elsewhere.
func notHere(t *testing.T) queue.Func {
	return func(context.Context) (json.RawMessage, error) {
		t.Error("it ran where it arrived")
		return nil, nil
	}
}

// What does not fit into a message goes through the object store, both ways.
func TestLarge(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(o *Options) {
		o.Perform = func(_ context.Context, j queue.Job, _ *Line) (json.RawMessage, error) {
			return append(append(json.RawMessage{'['}, j.Payload...), ']'), nil
		}
	})
	big := jsonrpc.Quote(strings.Repeat("x", 3<<20))
	raw, err := p.from.Do(t.Context(), queue.Job{Tenant: "t", Payload: big}, notHere(t))
	if err != nil || !bytes.Equal(raw, append(append([]byte{'['}, big...), ']')) {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	queuetest.Until(t, "nothing is left of it", func() bool {
		s, err := p.from.js.ObjectStore(t.Context(), p.from.names.objects)
		if err != nil {
			return false
		}
		_, err = s.List(t.Context())
		return errors.Is(err, jetstream.ErrNoObjectsFound)
	})
}

func TestCancelElsewhere(t *testing.T) {
	p := newPair(t, nil)
	saw := make(chan error, 1)
	f := func(ctx context.Context) (json.RawMessage, error) {
		<-ctx.Done()
		saw <- context.Cause(ctx)
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	began := make(chan struct{})
	result := make(chan error, 1)
	go func() {
		_, err := p.from.Do(kit.WithHooks(ctx, &kit.Hooks{Started: func() { close(began) }}), queue.Job{Tenant: "t", Payload: p.b.Pin(f)}, notHere(t))
		result <- err
	}()
	<-began
	cancel(jsonrpc.Errorf(jsonrpc.KindUnauthorized, "revoked"))
	queuetest.Failure(t, <-result, jsonrpc.KindUnauthorized)
	if f, ok := jsonrpc.AsRequestError(<-saw); !ok || f.Kind != jsonrpc.KindUnauthorized || f.Message != "revoked" {
		t.Errorf("the tool saw %v", f)
	}
}

// A call whose replica is lost runs again if that is safe, and else ends as interrupted and does not.
func TestLostReplica(t *testing.T) {
	t.Parallel()
	for _, repeatable := range []bool{true, false} {
		t.Run(fmt.Sprint("repeatable: ", repeatable), func(t *testing.T) {
			t.Parallel()
			p := newPair(t, func(o *Options) { o.pace = hurried })
			var runs atomic.Int32
			began := make(chan struct{}, 2)
			f := func(ctx context.Context) (json.RawMessage, error) {
				began <- struct{}{}
				if runs.Add(1) == 1 {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return json.RawMessage(`"again"`), nil
			}
			type end struct {
				raw json.RawMessage
				err error
			}
			result := make(chan end, 1)
			go func() {
				raw, err := p.from.Do(t.Context(), queue.Job{Tenant: "t", Repeatable: repeatable, Payload: p.b.Pin(f)}, notHere(t))
				result <- end{raw, err}
			}()
			<-began
			p.join()
			lose(p.to)
			r := <-result
			if repeatable && (r.err != nil || string(r.raw) != `"again"` || runs.Load() != 2) {
				t.Errorf("repeatable: %s %v, %d runs", r.raw, r.err, runs.Load())
			}
			if !repeatable {
				queuetest.Failure(t, r.err, jsonrpc.KindInterrupted)
				if runs.Load() != 1 {
					t.Errorf("it ran %d times", runs.Load())
				}
			}
		})
	}
}

// A task that must not run twice ends as interrupted when all that had to do with it are gone at once: its origin, whoever ran it, and
// the server.
func TestAllAreLostAtOnce(t *testing.T) {
	t.Parallel()
	var ends settled
	p := newPair(t, func(o *Options) { o.pace, o.Settle = hurried, ends.settle })
	var runs atomic.Int32
	began := make(chan struct{}, 2)
	f := func(ctx context.Context) (json.RawMessage, error) {
		runs.Add(1)
		began <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = p.from.Do(t.Context(), queue.Job{ID: "task-1", Tenant: "t", Payload: p.b.Pin(f)}, notHere(t)) // who asked is gone
	}()
	t.Cleanup(func() { <-ended })
	<-began
	lose(p.from)
	lose(p.to)
	p.s.Kill()
	p.s.Restart()
	third := p.join()
	queuetest.Until(t, "it ended", func() bool { return ends.end("task-1") != "" })
	if end := ends.end("task-1"); !strings.Contains(end, "the replica that ran the call is gone") || runs.Load() != 1 {
		t.Errorf("it ended as %q after %d runs", end, runs.Load())
	}
	queuetest.Until(t, "it is gone", func() bool {
		there, err := third.Queued(t.Context(), "task-1")
		return !there && err == nil
	})
}

// A job that ended before its origin made the task's record is settled again when the origin is gone.
func TestRecordThatComesAfterTheEnd(t *testing.T) {
	t.Parallel()
	var ends settled
	var early atomic.Bool
	p := newPair(t, func(o *Options) {
		o.pace = hurried
		o.Settle = func(ctx context.Context, id string, raw json.RawMessage, err error) error {
			if early.CompareAndSwap(false, true) {
				return nil // there is no record yet
			}
			return ends.settle(ctx, id, raw, err)
		}
	})
	began, release, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	f := func(context.Context) (json.RawMessage, error) {
		close(began)
		<-release
		return json.RawMessage(`"done"`), nil
	}
	go func() {
		defer close(ended)
		_, _ = p.from.Do(t.Context(), queue.Job{ID: "task-1", Tenant: "t", Payload: p.b.Pin(f)}, notHere(t)) // who asked is gone
	}()
	t.Cleanup(func() { <-ended })
	<-began
	lose(p.from)
	close(release)
	queuetest.Until(t, "it ended", func() bool { return ends.end("task-1") == `"done"` })
}

// A server that is killed and comes back has what waited, and what runs goes on.
func TestServerComesBack(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(o *Options) { o.pace = pace{} }) // they need a moment to come back
	began, release := make(chan struct{}), make(chan struct{})
	f := func(context.Context) (json.RawMessage, error) {
		close(began)
		<-release
		return json.RawMessage(`"done"`), nil
	}
	results := make(chan error, 2)
	do := func(f queue.Func, want string) {
		raw, err := p.from.Do(t.Context(), queue.Job{Tenant: "t", Payload: p.b.Pin(f)}, notHere(t))
		if string(raw) != want {
			err = errors.Join(err, errors.New(string(raw)))
		}
		results <- err
	}
	go do(f, `"done"`)
	<-began
	go do(func(context.Context) (json.RawMessage, error) { return json.RawMessage(`"next"`), nil }, `"next"`)
	queuetest.Until(t, "one waits", func() bool { return p.from.Status().Queued == 1 })
	time.Sleep(50 * time.Millisecond) // it is on disk
	p.s.Kill()
	close(release)
	queuetest.Until(t, "noticed", func() bool { return !p.from.Status().Shared.Connected })
	p.s.Restart()
	for range 2 {
		assert.NoError(t, <-results)
	}
}

// settled has how tasks ended.
type settled struct {
	mu  sync.Mutex
	all map[string]string
}

func (s *settled) settle(_ context.Context, id string, raw json.RawMessage, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]string{}
	}
	if _, twice := s.all[id]; !twice {
		s.all[id] = string(raw)
		if err != nil {
			s.all[id] = err.Error()
		}
	}
	return nil
}

func (s *settled) end(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

// A task whose replica shuts down waits for another one, and ends there.
func TestDrainLeavesTasks(t *testing.T) {
	var ends settled
	p := newPair(t, func(o *Options) { o.Settle = ends.settle })
	release := make(chan struct{})
	hold := queuetest.Begin(t, &p.b, p.to, queue.Job{Tenant: "busy"}, false)
	hold.Runs()
	f := func(context.Context) (json.RawMessage, error) { <-release; return json.RawMessage(`"elsewhere"`), nil }
	result := make(chan error, 1)
	go func() {
		_, err := p.from.Do(t.Context(), queue.Job{ID: "task-1", Tenant: "t", Payload: p.b.Pin(f)}, notHere(t))
		result <- err
	}()
	queuetest.Until(t, "it waits", func() bool {
		there, err := p.to.Queued(t.Context(), "task-1")
		return there && err == nil
	})
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		_ = p.from.Drain(ctx) // the busy one is cancelled
	}()
	if err := <-result; !errors.Is(err, kit.ErrLeft) {
		t.Fatal(err)
	}
	hold.End()
	close(release)
	queuetest.Until(t, "it ended", func() bool { return ends.end("task-1") == `"elsewhere"` })
	queuetest.Until(t, "it is gone", func() bool {
		there, err := p.to.Queued(t.Context(), "task-1")
		return !there && err == nil
	})
}

// The large params of a task stay when the replica shuts down that it came to, and go once it ended elsewhere.
func TestDrainLeavesLargeParams(t *testing.T) {
	t.Parallel()
	var ends settled
	p := newPair(t, func(o *Options) {
		o.Settle = ends.settle
		o.Perform = func(_ context.Context, j queue.Job, _ *Line) (json.RawMessage, error) {
			return json.Marshal(len(j.Payload))
		}
	})
	hold := queuetest.Begin(t, &p.b, p.to, queue.Job{Tenant: "busy"}, false)
	hold.Runs()
	large := jsonrpc.Quote(strings.Repeat("x", 3<<20-2))
	result := make(chan error, 1)
	go func() {
		_, err := p.from.Do(t.Context(), queue.Job{ID: "task-1", Tenant: "t", Payload: large}, notHere(t))
		result <- err
	}()
	queuetest.Until(t, "it waits", func() bool {
		there, err := p.to.Queued(t.Context(), "task-1")
		return there && err == nil
	})
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		defer cancel()
		_ = p.from.Drain(ctx) // the busy one is cancelled
	}()
	if err := <-result; !errors.Is(err, kit.ErrLeft) {
		t.Fatal(err)
	}
	queuetest.Until(t, "it has left", func() bool { return !p.to.Alive(p.from.me) })
	hold.End()
	queuetest.Until(t, "it ended", func() bool { return ends.end("task-1") != "" })
	if got := ends.end("task-1"); got != "3145728" {
		t.Fatal(got)
	}
	s, err := p.to.js.ObjectStore(t.Context(), p.to.names.objects)
	require.NoError(t, err)
	queuetest.Until(t, "nothing is left of it", func() bool {
		_, err := s.List(t.Context())
		return errors.Is(err, jetstream.ErrNoObjectsFound)
	})
	if st, err := s.Status(t.Context()); err != nil || st.TTL() != 2*keep {
		t.Errorf("what a replica that is killed leaves there stays: %v %v", st, err)
	}
}

// A task is cancelled by whoever is asked to, whether it waits or runs.
func TestCancelTask(t *testing.T) {
	p := newPair(t, nil)
	running := queuetest.Begin(t, &p.b, p.from, queue.Job{ID: "one", Tenant: "t"}, false)
	running.Runs()
	waiting := queuetest.Begin(t, &p.b, p.from, queue.Job{ID: "two", Tenant: "t"}, false)
	queuetest.Until(t, "it waits", func() bool {
		there, err := p.to.Queued(t.Context(), "two")
		return there && err == nil
	})
	third := p.join()
	_ = third
	for id, x := range map[string]*queuetest.Job{"one": running, "two": waiting} {
		assert.NoError(t, p.to.Cancel(t.Context(), id, jsonrpc.Errorf(jsonrpc.KindCancelled, "by request")))
		if f := queuetest.Failure(t, x.Ended(), jsonrpc.KindCancelled); f.Message != "by request" {
			t.Errorf("%s: %v", id, f)
		}
	}
	if err := p.to.Cancel(t.Context(), "none", nil); err != nil {
		t.Errorf("a task that is not there: %v", err)
	}
}

// A task that is cancelled while it is made ready says so, not that the server did not answer.
func TestCancelTaskThatBegins(t *testing.T) {
	var p *pair
	p = newPair(t, func(o *Options) {
		o.Over = func(_ context.Context, id string) (over, known bool, err error) {
			return false, true, p.from.Cancel(t.Context(), id, jsonrpc.Errorf(jsonrpc.KindCancelled, "by request"))
		}
	})
	for name, q := range map[string]*Queue{"here": p.to, "elsewhere": p.from} {
		x := queuetest.Begin(t, &p.b, q, queue.Job{ID: name, Tenant: "t"}, false)
		if f := queuetest.Failure(t, x.Ended(), jsonrpc.KindCancelled); f.Message != "by request" {
			t.Errorf("%s: %v", name, f)
		}
	}
}

// Replicas with other tools do not take each other's calls, and say so.
func TestOtherTools(t *testing.T) {
	s := natstest.Run(t)
	var b queuetest.Board
	a := join(t, s.URL, &b, func(o *Options) { o.Offer = func() string { return "add" } })
	other := join(t, s.URL, &b, func(o *Options) { o.Offer = func() string { return "add sub" } })
	queuetest.Until(t, "they know", func() bool {
		return len(a.Status().Shared.Different) == 1 && len(other.Status().Shared.Different) == 1
	})
	busy := queuetest.Begin(t, &b, a, queue.Job{Tenant: "t"}, false)
	busy.Runs()
	next := queuetest.Begin(t, &b, a, queue.Job{Tenant: "t"}, false)
	queuetest.Until(t, "it waits", func() bool { return a.Status().Queued == 1 })
	time.Sleep(100 * time.Millisecond)
	if len(next.Started) != 0 || other.Status().Running != 0 {
		t.Error("a replica that may have no such tool took the call")
	}
	busy.End()
	next.Runs()
	next.End()
}
