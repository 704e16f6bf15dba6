package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/queue/queuetest"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
)

var errUnread = fmt.Errorf("written by a newer version: %w", kit.ErrUnreadable)

// A task without an origin whose record cannot be looked up waits until it can: it may have been cancelled. One that can never be read leaves
// the stream without having begun, and those who can read it see that it is nowhere.
func TestTaskThatCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t)
	var b queuetest.Board
	var ends settled
	var looks, runs atomic.Int32
	q := join(t, s.URL, &b, func(o *Options) {
		o.pace = pace{beat: 50 * time.Millisecond}
		o.Settle = ends.settle
		o.Over = func(_ context.Context, id string) (over, known bool, err error) {
			switch {
			case id == "newer":
				return false, false, errUnread
			case looks.Add(1) == 1:
				return false, false, errors.New("the table does not answer")
			}
			return runs.Load() > 0, true, nil
		}
	})
	f := func(context.Context) (json.RawMessage, error) { runs.Add(1); return json.RawMessage(`"done"`), nil }
	for _, task := range []string{"newer", "cancelled"} {
		raw, err := json.Marshal(message{ID: "id-" + task, Origin: "nobody", Task: task, Tenant: "t", Tool: "x", Payload: b.Pin(f)})
		require.NoError(t, err)
		if _, err := q.js.Publish(t.Context(), q.names.work+"."+q.card().Group+".t."+task, raw); err != nil {
			t.Fatal(err)
		}
	}
	queuetest.Until(t, "it ended", func() bool { return ends.end("cancelled") == `"done"` })
	gone(t, q, "newer")
	if looks.Load() < 2 || runs.Load() != 1 {
		t.Errorf("%d looks, %d runs", looks.Load(), runs.Load())
	}
}

// A call that may not begin stays in the stream while its task cannot be looked up, but not if that never works.
func TestRefusedTaskThatCannotBeLookedUp(t *testing.T) {
	s := natstest.Run(t)
	q := join(t, s.URL, nil, func(o *Options) {
		o.Over = func(_ context.Context, id string) (over, known bool, err error) {
			if id == "newer" {
				return false, false, errUnread
			}
			return false, false, errors.New("the table does not answer")
		}
	})
	of := line{"0-other", "tenant"} // of a version that nobody takes calls of
	require.NoError(t, q.consumer(of))
	c, err := q.js.Consumer(t.Context(), q.names.stream, of.consumer())
	require.NoError(t, err)
	for _, task := range []string{"open", "newer"} {
		if _, err := q.js.Publish(t.Context(), q.names.work+"."+of.String()+"."+task, nil); err != nil {
			t.Fatal(err)
		}
		m, err := c.Next()
		require.NoError(t, err)
		q.refuseTaken(&taken{message: message{Task: task}, line: of, ack: m.Reply()})
	}
	gone(t, q, "newer")
	if there, err := q.Queued(t.Context(), "open"); !there || err != nil {
		t.Errorf("the other is gone: %v", err)
	}
}

// A replica that cannot read a task's record, as one of an older version cannot, hands how it ended to its origin, which stores that.
func TestEndOfATaskThatCannotBeRead(t *testing.T) {
	p := newPair(t, func(o *Options) {
		o.Over = func(context.Context, string) (over, known bool, err error) { return false, false, errUnread }
		o.Settle = func(context.Context, string, json.RawMessage, error) error { return errUnread }
	})
	f := func(context.Context) (json.RawMessage, error) { return json.RawMessage(`"done"`), nil }
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if raw, err := p.from.Do(ctx, queue.Job{ID: "task-1", Tenant: "t", Payload: p.b.Pin(f)}, notHere(t)); err != nil || string(raw) != `"done"` {
		t.Errorf("%s %v", raw, err)
	}
}
