package stream

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/queue/queuetest"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// lines is a log.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *lines) has(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.all.String(), s)
}

// A slow network makes calls slow and nothing else: each runs once, and those of a tenant begin in the order they came, whichever replica
// they came to.
func TestSlowNetwork(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t)
	var b queuetest.Board
	patient := func(o *Options) {
		o.TenantRunning = 1
		o.ackWait = time.Minute // of this machine, which may be slow as well
	}
	near := join(t, s.URL, &b, patient)
	far := join(t, natstest.Slow(t, s.URL, 50*time.Millisecond).URL, &b, patient)
	queuetest.Until(t, "both know of each other", func() bool {
		return near.Status().Shared.Replicas == 2 && far.Status().Shared.Replicas == 2
	})
	var mu sync.Mutex
	var order []int
	var ends sync.WaitGroup
	const n = 8
	for i := range n {
		f := func(context.Context) (json.RawMessage, error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, i)
			return json.RawMessage(`1`), nil
		}
		entered := make(chan struct{})
		ctx := kit.WithHooks(t.Context(), &kit.Hooks{NoQueueTimeout: true, Accepted: func() { close(entered) }})
		ends.Go(func() {
			if raw, err := []*Queue{near, far}[i%2].Do(ctx, queue.Job{Tenant: "t", Payload: b.Pin(f)}, f); err != nil || string(raw) != "1" {
				t.Errorf("call %d: %s %v", i, raw, err)
			}
		})
		<-entered
	}
	ends.Wait()
	if len(order) != n || !slices.IsSorted(order) {
		t.Errorf("began as %v", order)
	}
}

// A server that takes what it is sent and does not answer has the call refused, which then is not begun, and is not waited for when
// it answers again.
func TestServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t)
	var b queuetest.Board
	link := natstest.Slow(t, s.URL, 0)
	var log lines
	q := join(t, link.URL, &b, func(o *Options) {
		o.QueueTimeout = time.Nanosecond // one attempt
		o.beat = 50 * time.Millisecond
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	})
	var ran atomic.Int32
	here := func(context.Context) (json.RawMessage, error) { ran.Add(1); return json.RawMessage(`1`), nil }
	link.Hold()
	_, err := q.Do(t.Context(), queue.Job{Tenant: "t"}, here)
	if f := queuetest.Failure(t, err, jsonrpc.KindInterrupted); f.RetryAfter <= 0 || !strings.Contains(f.Message, "does not take the call; call again later") {
		t.Errorf("%+v", f)
	}
	if !log.has("the server is slow or ends: cannot put a call into the stream") {
		t.Error("the log does not say so")
	}
	link.Release()
	queuetest.Until(t, "what was refused has left the stream", func() bool {
		all, err := q.look(t.Context(), "")
		return err == nil && all.State.Messages == 0
	})
	ctx := kit.WithHooks(t.Context(), &kit.Hooks{NoQueueTimeout: true})
	queuetest.Until(t, "the next one runs", func() bool {
		raw, err := q.Do(ctx, queue.Job{Tenant: "t"}, here)
		return err == nil && string(raw) == "1"
	})
	assert.Equalf(t, ran.Load(), 1, "calls ran")
}

// Rights that are taken away from a running agent refuse its calls at once, the log says which, and everything works again with them.
func TestRightsThatAreTakenAway(t *testing.T) {
	may := func(deny ...string) func(*server.Options) {
		return func(o *server.Options) {
			o.Users = []*server.User{{Username: "ada", Password: "hunter2", Permissions: &server.Permissions{
				Publish: &server.SubjectPermission{Allow: []string{">"}, Deny: deny}, Subscribe: &server.SubjectPermission{Allow: []string{">"}},
			}}}
		}
	}
	s := natstest.Run(t, may())
	var b queuetest.Board
	var log lines
	q := join(t, strings.Replace(s.URL, "://", "://ada:hunter2@", 1), &b, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	here := func(context.Context) (json.RawMessage, error) { return json.RawMessage(`1`), nil }
	for subject, c := range map[string]struct{ job, message, log string }{
		"mcphud.queue.>": {"", "does not take the call; call again later", "the user may not put a call into the stream mcphud_queue_" + t.Name() + ": nats://***@"},
		"$KV.>":          {"task", "does not allow it; call again later", "the user may not note that a call begins in the bucket mcphud_begun_" + t.Name() + ": nats://***@"},
	} {
		s.Reload(may(subject))
		var f *jsonrpc.RequestError
		queuetest.Until(t, "the call is refused", func() bool {
			_, err := q.Do(t.Context(), queue.Job{ID: c.job, Tenant: "t"}, here)
			if err != nil {
				f = queuetest.Failure(t, err, jsonrpc.KindInterrupted)
			}
			return err != nil && log.has(c.log)
		})
		if f.RetryAfter <= 0 || !strings.Contains(f.Message, c.message) || log.has("hunter2") {
			t.Errorf("without %s: %+v", subject, f)
		}
		s.Reload(may())
		queuetest.Until(t, "it works again", func() bool {
			raw, err := q.Do(t.Context(), queue.Job{ID: c.job, Tenant: "t"}, here)
			return err == nil && string(raw) == "1"
		})
	}
}
