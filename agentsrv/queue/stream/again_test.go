package stream

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/queue/queuetest"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
)

// A call that comes again after its origin had the result, since the server never heard that it left the stream, does not run again. Its task may not be over, if the result asked the client for something, which then goes on.
func TestCallThatComesAgain(t *testing.T) {
	var ends settled
	p := newPair(t, func(o *Options) {
		o.Settle = func(ctx context.Context, id string, raw json.RawMessage, err error) error {
			if err == nil {
				return nil // it asks for something
			}
			return ends.settle(ctx, id, raw, err)
		}
		o.Over = func(context.Context, string) (over, known bool, err error) { return false, true, nil }
	})
	var runs atomic.Int32
	call := ""
	f := func(context.Context) (json.RawMessage, error) {
		runs.Add(1)
		p.to.mu.Lock()
		defer p.to.mu.Unlock()
		for id, j := range p.to.jobs {
			if j.Task == "task-1" {
				call = id
			}
		}
		return json.RawMessage(`"asks"`), nil
	}
	m := message{Origin: p.from.me, Task: "task-1", Tenant: "t", Payload: p.b.Pin(f)}
	if raw, err := p.from.Do(t.Context(), queue.Job{ID: m.Task, Tenant: m.Tenant, Payload: m.Payload}, notHere(t)); err != nil || string(raw) != `"asks"` {
		t.Fatalf("%s %v", raw, err)
	}
	m.ID = call
	queuetest.Until(t, "whoever ran it knows that it ended", func() bool {
		p.to.mu.Lock()
		defer p.to.mu.Unlock()
		return p.to.jobs[call] == nil
	})
	raw, err := json.Marshal(m)
	require.NoError(t, err)
	l := line{p.to.card().Group, "t"}
	if _, err := p.to.js.Publish(t.Context(), p.to.names.work+"."+l.String()+".task-1", raw); err != nil {
		t.Fatal(err)
	}
	p.to.mu.Lock()
	p.to.waiting.add(l, mine)
	p.to.mu.Unlock()
	p.to.awake()
	gone(t, p.to, "task-1")
	if n, end := runs.Load(), ends.end("task-1"); n != 1 || end != "" {
		t.Errorf("%d runs, and the task ended as %q", n, end)
	}
}

// The note that a call began stays until the server says that the call has left the stream, and goes then.
func TestNoteThatACallBegan(t *testing.T) {
	s := natstest.Run(t)
	var b queuetest.Board
	q := join(t, s.URL, &b, nil)
	if _, err := q.Do(t.Context(), queue.Job{ID: "task-1", Tenant: "t"}, func(context.Context) (json.RawMessage, error) {
		return nil, nil
	}); err != nil {
		t.Fatal(err)
	}
	// Not Keys: what is purged between its consumer's first count and the delivery leaves it waiting for ever.
	queuetest.Until(t, "nothing is left of it", func() bool {
		s, err := q.begun.Status(t.Context())
		return err == nil && s.Values() == 0
	})
	j := &job{taken: &taken{message: message{ID: "lost"}, ack: "nobody.hears"}, q: q}
	if _, err := q.begun.Create(t.Context(), j.ID, nil); err != nil {
		t.Fatal(err)
	}
	j.noted = true
	_, _ = j.end(nil, nil)
	q.tasks.Wait()
	if _, err := q.begun.Get(t.Context(), j.ID); err != nil {
		t.Errorf("a call that may come again: %v", err)
	}
}

// gone waits until a task has left the stream.
func gone(t *testing.T, q *Queue, task string) {
	t.Helper()
	queuetest.Until(t, "it is gone", func() bool {
		there, err := q.Queued(t.Context(), task)
		return !there && err == nil
	})
}
