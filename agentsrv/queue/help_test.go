package queue

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

// job is one Do going on in a test.
type job struct {
	t       *testing.T
	cancel  context.CancelFunc
	started chan struct{} // closed when its function is called
	finish  chan error    // what its function returns
	result  chan error    // what Do returned
}

// start calls Do in a goroutine; its function ends when told to, or with its context unless deaf.
func start(t *testing.T, q *Queue, j Job, deaf bool) *job {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	x := &job{t, cancel, make(chan struct{}), make(chan error, 1), make(chan error, 1)}
	go func() {
		defer cancel()
		x.result <- do(ctx, q, j, func(ctx context.Context) error {
			close(x.started)
			if deaf {
				return <-x.finish
			}
			select {
			case err := <-x.finish:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	synctest.Wait()
	return x
}

// running reports whether the function was called, everything having settled.
func (x *job) running() bool {
	synctest.Wait()
	select {
	case <-x.started:
		return true
	default:
		return false
	}
}

// end lets the function return nil, and wants Do to do the same.
func (x *job) end() {
	x.t.Helper()
	x.finish <- nil
	if err := <-x.result; err != nil {
		x.t.Errorf("Do returned %v", err)
	}
	synctest.Wait()
}

// failure wants err to be a Failure of that kind and returns it.
func failure(t *testing.T, err error, kind jsonrpc.ErrorKind) *jsonrpc.RequestError {
	t.Helper()
	f, ok := jsonrpc.AsRequestError(err)
	if !ok || f.Kind != kind {
		t.Fatalf("got %v, want a failure %q", err, kind)
	}
	return f
}

func phase(t *testing.T, err error, want string) {
	t.Helper()
	if f := failure(t, err, jsonrpc.KindTimeout); f.Data["phase"] != want {
		t.Errorf("phase %v, want %s", f.Data["phase"], want)
	}
}

func status(t *testing.T, q *Queue, queued, running, waiting int) {
	t.Helper()
	synctest.Wait()
	if s := q.Status(); s.Queued != queued || s.Running != running || s.Waiting != waiting {
		t.Errorf("status %+v, want %d queued, %d running, %d waiting", s, queued, running, waiting)
	}
}

var errBoom = errors.New("boom")

// bubble runs f in a time of its own, at the end of which goroutines that wait for more work give up.
func bubble(t *testing.T, f func(*testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t)
		time.Sleep(time.Second)
	})
}

// do is Do for a function without a result.
func do(ctx context.Context, e Engine, j Job, f func(context.Context) error) error {
	_, err := e.Do(ctx, j, func(ctx context.Context) (json.RawMessage, error) { return nil, f(ctx) })
	return err
}
