package stream

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/queue/queuetest"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
)

// A task that must not run twice has an end when its origin is gone after it learnt that whoever ran the task is, and before it stored that:
// the call is in the stream until then.
func TestOriginIsLostBeforeItStoresTheEnd(t *testing.T) {
	t.Parallel()
	var ends settled
	p := newPair(t, func(o *Options) {
		o.pace, o.Settle = hurried, ends.settle
		o.Over = func(_ context.Context, id string) (over, known bool, err error) { return ends.end(id) != "", true, nil }
	})
	asked := make(chan *nats.Msg, 64)
	sub, err := p.from.nc.ChanSubscribe(p.from.names.to+"."+p.from.me+".>", asked)
	require.NoError(t, err)
	defer sub.Unsubscribe()
	var runs atomic.Int32
	began := make(chan struct{}, 2)
	f := func(ctx context.Context) (json.RawMessage, error) {
		runs.Add(1)
		began <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ended := make(chan error, 1)
	go func() {
		_, err := p.from.Do(t.Context(), queue.Job{ID: "task-1", Tenant: "t", Payload: p.b.Pin(f)}, notHere(t))
		ended <- err
	}()
	<-began
	third := p.join()
	lose(p.to)
	queuetest.Failure(t, <-ended, jsonrpc.KindInterrupted)
	for m := range asked {
		if strings.HasSuffix(m.Subject, "."+third.me) && kind(m.Data[0]) == claim { // it was told no
			break
		}
	}
	lose(p.from) // which would have stored the end now
	queuetest.Until(t, "it ended", func() bool { return ends.end("task-1") != "" })
	if end := ends.end("task-1"); !strings.Contains(end, "the replica that ran the call is gone") || runs.Load() != 1 {
		t.Errorf("it ended as %q after %d runs", end, runs.Load())
	}
	queuetest.Until(t, "it is gone", func() bool {
		there, err := third.Queued(t.Context(), "task-1")
		return !there && err == nil
	})
}

// A replica that did not hear that it may begin asks again. It may begin a task then, which is looked at before it begins, and what may run
// twice; any other call is given up, since it may have run. How a call ended is not asked for twice.
func TestAnswerThatIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		job   queue.Job
		again string
		end   string
	}{
		"a task":            {queue.Job{ID: "task-1"}, "y", `"done"`},
		"a repeatable call": {queue.Job{Repeatable: true}, "y", `"done"`},
		"a call":            {queue.Job{}, "n", "the replica that ran the call is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, nil)
			hold := queuetest.Begin(t, &p.b, p.to, queue.Job{Tenant: "busy"}, false)
			hold.Runs()
			defer hold.Cancel(nil)
			c.job.Tenant = "t"
			type end struct {
				raw json.RawMessage
				err error
			}
			ended := make(chan end, 1)
			go func() {
				raw, err := p.from.Do(t.Context(), c.job, notHere(t))
				ended <- end{raw, err}
			}()
			id := ""
			queuetest.Until(t, "it waits", func() bool {
				p.from.mu.Lock()
				defer p.from.mu.Unlock()
				for _, call := range p.from.calls {
					if call.job.Tenant == "t" {
						id = call.id
					}
				}
				return id != ""
			})
			say := func(from string, what []byte) string {
				t.Helper()
				m, err := p.to.nc.Request(p.to.names.to+"."+p.from.me+"."+id+"."+from, what, 10*time.Second)
				require.NoError(t, err)
				return string(m.Data)
			}
			if first, again := say("another", appendKind(claim, nil)), say("another", appendKind(claim, nil)); first != "y" || again != c.again {
				t.Errorf("first %s, and again %s", first, again)
			}
			if c.again == "y" {
				say("another", appendKind(result_, outcome{Result: json.RawMessage(`"done"`)}))
				if late := say("yet-another", appendKind(claim, nil)); late == "y" {
					t.Error("a call that has its result begins again")
				}
			}
			got := <-ended
			if c.again == "y" && (got.err != nil || string(got.raw) != c.end) || c.again == "n" && !strings.Contains(queuetest.Failure(t, got.err, jsonrpc.KindInterrupted).Message, c.end) {
				t.Errorf("%s %v", got.raw, got.err)
			}
		})
	}
}

// A replica that is thought lost and lives gives no call back: what it says, asks and returns counts as long as nobody else has the call.
func TestReplicaThatIsThoughtLost(t *testing.T) {
	p := newPair(t, nil)
	began, asks := make(chan struct{}), make(chan struct{})
	waiting := make(chan bool, 2)
	f := func(ctx context.Context) (json.RawMessage, error) {
		close(began)
		<-asks
		err := queue.Wait(ctx, func() error { return nil })
		return json.RawMessage(`"done"`), err
	}
	ctx, cancel := context.WithTimeout(kit.WithHooks(t.Context(), &kit.Hooks{Waiting: func(begins bool) { waiting <- begins }}), 20*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		raw, err := p.from.Do(ctx, queue.Job{Tenant: "t", Repeatable: true, Payload: p.b.Pin(f)}, notHere(t))
		if err == nil && string(raw) != `"done"` {
			err = errors.New(string(raw))
		}
		ended <- err
	}()
	<-began
	queuetest.Until(t, "it is thought lost", func() bool {
		p.from.mu.Lock()
		delete(p.from.replicas.others, p.to.me)
		p.from.replicas.since = time.Time{}
		p.from.mu.Unlock()
		p.from.recoverLost()
		p.from.mu.Lock()
		defer p.from.mu.Unlock()
		for _, c := range p.from.calls {
			if c.job.Tenant == "t" {
				return c.is("")
			}
		}
		return false
	})
	close(asks)
	require.NoError(t, <-ended)
	if len(waiting) != 2 || !<-waiting {
		t.Error("its origin did not hear that it waited")
	}
}

// A call is refused for as long as somebody asks whether it may begin: who hears of no origin begins it.
func TestRefusedAsLongAsSomebodyAsks(t *testing.T) {
	c := &call{}
	c.refuse()
	c.until = time.Now()
	if c.grant("another") || time.Until(c.until) < tryFor {
		t.Errorf("it is forgotten in %v", time.Until(c.until))
	}
}

// A server that is killed forgets that a call had left its stream, and no consumer gives that to anybody again. Even if its task is not over,
// as with one that asked its client something before all were killed, it goes, so that the task neither waits nor runs for ever.
func TestBackendForgotten(t *testing.T) {
	s := natstest.RunInstalled(t)
	var b queuetest.Board
	at := natsconn.Options{URL: s.URL, CA: s.CA, Cert: s.Cert, Key: s.Key, Creds: s.Creds, Logger: quiet}
	q := joinAt(t, at, &b, func(o *Options) {
		o.pace = hurried
		o.Over = func(context.Context, string) (over, known bool, err error) { return false, true, nil }
	})
	of := line{"0-other", "tenant"} // of a version that nobody takes calls of
	require.NoError(t, q.consumer(of))
	consumer, err := q.js.Consumer(t.Context(), q.names.stream, of.consumer())
	require.NoError(t, err)
	messages := func() int {
		all, err := q.look(t.Context(), "")
		if err != nil {
			return -1
		}
		return all.State.Messages
	}
	for _, task := range []string{"left", "waits"} {
		if _, err := q.js.Publish(t.Context(), q.names.work+"."+of.String()+"."+task, []byte(`{"id":"`+task+`","origin":"gone","task":"`+task+`"}`)); err != nil {
			t.Fatal(err)
		}
	}
	queuetest.Until(t, "it was killed when the consumer's state was on disk", func() bool {
		first, err := consumer.Next()
		if err != nil || !strings.HasSuffix(first.Subject(), ".left") {
			t.Fatal(first, err)
		}
		if err := first.DoubleAck(t.Context()); err != nil || messages() != 1 {
			t.Fatal(messages(), err)
		}
		time.Sleep(200 * time.Millisecond) // it writes that ten times a second
		s.Kill()
		queuetest.Until(t, "noticed", func() bool { return !q.o.Conn.Up() })
		s.Restart()
		queuetest.Until(t, "back", func() bool { return q.o.Conn.Up() && messages() >= 0 })
		info, err := consumer.Info(t.Context())
		return err == nil && info.AckFloor.Stream == 1
	})
	for range 2 {
		for _, task := range []string{"left", "waits"} {
			if err := q.cleanOne(t.Context(), q.names.work+"."+of.String()+"."+task); err != nil && messages() != 1 {
				t.Errorf("%s: %v", task, err)
			}
		}
	}
	if left, err := q.Queued(t.Context(), "left"); left || err != nil {
		t.Errorf("what had left is there: %v", err)
	}
	if waits, err := q.Queued(t.Context(), "waits"); !waits || err != nil {
		t.Errorf("what waits is gone: %v", err)
	}
}
