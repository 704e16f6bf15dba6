package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
)

// run is one job that has begun; it is the context that its function gets, so that Wait, Pause and Touch find it.
//
// Three clocks bound it, see remaining: Timeout without a sign of progress, MaxTimeout of time with a slot, and while it has none
// WaitTimeout or QueueTimeout.
type run struct {
	context.Context // ends when the job has to
	q               *Queue
	tenant          *tenant
	tool            string
	timeout         time.Duration           // how long it may go on without a sign of progress
	cancel          context.CancelCauseFunc // of Context, with why the job has to end
	hooks           *kit.Hooks              // nil for none
	done            chan outcome            // cap 1: call never blocks, also where nobody waits any more
	begun           time.Time
	touched         atomic.Int64 // when it last showed progress, as time since begun

	// Under q.mu:
	state  state
	waits  int           // Wait calls going on
	again  *waiter       // its last wish to have the slot back
	since  time.Duration // when it yielded its slot, or began to wait for it again, as time since begun
	paused time.Duration // how long it was without a slot, up to since
}

// outcome is how a job's function ended. Without an error result is what it returned, also nil.
type outcome struct {
	result json.RawMessage
	err    error
}

// state is what a job that began has of the queue.
type state int

const (
	holding   state = iota // it has its slot
	yielded                // it gave it to others, in Wait
	abandoned              // it lost it, and still has not ended
	kept                   // it was abandoned, but too many others were too: it has its slot
	over                   // it ended
)

// runKey finds the run in a context.
type runKey struct{}

// runOf is the job that ctx belongs to, nil for none.
func runOf(ctx context.Context) *run {
	r, _ := ctx.Value(runKey{}).(*run)
	return r
}

// Value makes the job findable from its context.
func (r *run) Value(key any) any {
	if key == (runKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// run runs f, for which a slot of t is held, and watches over it.
func (q *Queue) run(ctx context.Context, t *tenant, job Job, hooks *kit.Hooks, f Func) (json.RawMessage, error) {
	r := &run{q: q, tenant: t, tool: job.Tool, hooks: hooks, timeout: q.opts.Timeout, done: make(chan outcome, 1), begun: time.Now()}
	if job.Timeout > 0 {
		r.timeout = min(job.Timeout, q.opts.MaxTimeout)
	}
	r.Context, r.cancel = context.WithCancelCause(ctx)
	defer r.cancel(nil)
	q.workers.Run(func() { r.call(f) })
	timer := time.NewTimer(min(r.timeout, q.opts.WaitTimeout, q.opts.QueueTimeout))
	defer timer.Stop()
	var why error
	for why == nil {
		select {
		case end := <-r.done:
			if end.err != nil && ctx.Err() != nil {
				return nil, Cancelled(ctx)
			}
			return end.result, end.err
		case <-timer.C:
			var rest time.Duration
			if rest, why = r.remaining(); why == nil {
				timer.Reset(rest)
			}
		case <-ctx.Done():
			why = Cancelled(ctx)
		case <-q.stop:
			why = errInterrupted("the agent shut down during the call; check what it did before calling again")
		}
	}
	r.cancel(why)
	timer.Reset(q.opts.Grace)
	select {
	case <-r.done:
	case <-timer.C:
		r.abandon()
	}
	return nil, why
}

// call runs f, survives it, and gives back what it holds. Also a function that calls runtime.Goexit, as tests do when they fail, has an
// outcome: nobody would stop waiting otherwise.
func (r *run) call(f Func) {
	end := outcome{err: errors.New("the handler ended its goroutine instead of returning")}
	defer func() {
		if p := recover(); p != nil {
			r.q.opts.Logger.Error("a tool panicked", "tool", r.tool, "tenant", r.tenant.name, "panic", mask.Log(fmt.Sprint(p)), "stack", string(debug.Stack()))
			end = outcome{err: jsonrpc.Errorf(jsonrpc.KindInternal, "internal error")}
		}
		r.end()
		r.done <- end
	}()
	end.result, end.err = f(r)
}

// end gives back what the job still has.
func (r *run) end() {
	q := r.q
	q.mu.Lock()
	defer q.mu.Unlock()
	switch r.state {
	case holding:
		q.mean += (r.ran(time.Since(r.begun)) - q.mean) / 8
		q.release(r.tenant)
	case yielded:
		r.dropYield()
	case kept:
		q.abandoned--
		q.release(r.tenant)
	case abandoned:
		q.abandoned--
	}
	r.state = over
	q.forget(r.tenant)
	q.notifyChange()
}

// abandon stops waiting for a job that does not end. Others get its slot, unless so many were abandoned before that what
// they cost has to have a bound.
func (r *run) abandon() {
	q := r.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.state == over { // at this very moment
		return
	}
	was := r.state
	r.state = abandoned
	switch {
	case was == yielded:
		r.dropYield()
	case q.abandoned < q.opts.MaxAbandoned:
		q.release(r.tenant)
	default:
		r.state = kept
	}
	q.abandoned++
	q.notifyChange()
	q.opts.Logger.Warn("a tool ignores its cancellation and was abandoned", "tool", r.tool, "tenant", r.tenant.name,
		"abandoned", q.abandoned, "keeps_slot", r.state == kept)
}

// Cancelled is why a job ended whose caller's context did.
func Cancelled(ctx context.Context) error {
	cause := context.Cause(ctx)
	if f, ok := jsonrpc.AsRequestError(cause); ok {
		return f
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return jsonrpc.Errorf(jsonrpc.KindTimeout, "Request timed out: the caller's deadline has passed%w", jsonrpc.Hidden(cause))
	}
	return jsonrpc.Errorf(jsonrpc.KindCancelled, "the call was cancelled%w", jsonrpc.Hidden(cause))
}

// errInterrupted is the error of a job that a shutdown ended or kept out. It may be called again in a second.
func errInterrupted(text string) error {
	f := jsonrpc.Errorf(jsonrpc.KindInterrupted, "%s", text)
	f.RetryAfter = time.Second
	return f
}
