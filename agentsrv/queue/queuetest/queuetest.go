// Package queuetest has the tests that every engine of the queue has to pass.
package queuetest

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// patience is how long a test waits for what has to happen, on a machine with much else to do.
const patience = 30 * time.Second

// Board has the functions of jobs by their payload, for engines that have to find them in another process.
type Board struct {
	mu    sync.Mutex
	last  int
	funcs map[string]queue.Func
}

// Pin keeps f, and returns the payload by which Run finds it.
func (b *Board) Pin(f queue.Func) []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.funcs == nil {
		b.funcs = map[string]queue.Func{}
	}
	b.last++
	key := strconv.Itoa(b.last)
	b.funcs[key] = f
	return []byte(key)
}

// Run runs the function of a payload.
func (b *Board) Run(ctx context.Context, payload []byte) (json.RawMessage, error) {
	b.mu.Lock()
	f := b.funcs[string(payload)]
	b.mu.Unlock()
	return f(ctx)
}

// Job is one Do that goes on.
type Job struct {
	t       testing.TB
	Cancel  context.CancelCauseFunc
	Entered chan struct{} // closed when it is in the queue
	Started chan struct{} // gets one each time its function is called
	Finish  chan error    // what its function returns
	Result  chan error    // what Do returned
}

// Begin calls Do in a goroutine. Its function ends when it is told to, or with its context unless deaf.
func Begin(t testing.TB, b *Board, q queue.Engine, j queue.Job, deaf bool) *Job {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	x := &Job{t, cancel, make(chan struct{}), make(chan struct{}, 10), make(chan error, 1), make(chan error, 1)}
	f := func(ctx context.Context) (json.RawMessage, error) {
		x.Started <- struct{}{}
		if deaf {
			return nil, <-x.Finish
		}
		select {
		case err := <-x.Finish:
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	j.Payload = b.Pin(f)
	ctx = kit.WithHooks(ctx, &kit.Hooks{Accepted: func() { close(x.Entered) }})
	go func() {
		defer cancel(nil)
		_, err := q.Do(ctx, j, f)
		x.Result <- err
	}()
	return x
}

// Runs waits until the function is called.
func (x *Job) Runs() {
	x.t.Helper()
	select {
	case <-x.Started:
	case err := <-x.Result:
		x.t.Fatalf("Do returned %v, and the job was not begun", err)
	case <-time.After(patience):
		x.t.Fatal("the job does not begin")
	}
}

// Ended waits for what Do returns.
func (x *Job) Ended() error {
	x.t.Helper()
	select {
	case err := <-x.Result:
		return err
	case <-time.After(patience):
		x.t.Fatal("Do does not return")
		return nil
	}
}

// End lets the function return nil, and wants Do to do the same.
func (x *Job) End() {
	x.t.Helper()
	x.Finish <- nil
	if err := x.Ended(); err != nil {
		x.t.Errorf("Do returned %v", err)
	}
}

// Failure wants err to be of that kind.
func Failure(t testing.TB, err error, kind jsonrpc.ErrorKind) *jsonrpc.RequestError {
	t.Helper()
	f, ok := jsonrpc.AsRequestError(err)
	if !ok || f.Kind != kind {
		t.Fatalf("got %v, want a failure %q", err, kind)
	}
	return f
}

// phase wants a timeout in that phase.
func phase(t testing.TB, err error, want string) {
	t.Helper()
	if f := Failure(t, err, jsonrpc.KindTimeout); f.Data["phase"] != want {
		t.Errorf("phase %v, want %s", f.Data["phase"], want)
	}
}

// Until waits for something to become true.
func Until(t testing.TB, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !f(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// status waits until the engine has that many jobs.
func status(t testing.TB, q queue.Engine, queued, running, waiting int) {
	t.Helper()
	var s queue.Status
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if s = q.Status(); s.Queued == queued && s.Running == running && s.Waiting == waiting {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("status %+v, want %d queued, %d running, %d waiting", s, queued, running, waiting)
		}
	}
}
