package queue

import (
	"context"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Touch tells that the job which ctx belongs to is getting on: the time that it may run without a sign of progress
// starts again; Options.MaxTimeout goes on. Outside jobs it does nothing. It takes no lock, so that each progress notification may call
// it.
func Touch(ctx context.Context) {
	if r := runOf(ctx); r != nil {
		r.touched.Store(int64(time.Since(r.begun)))
	}
}

// Wait runs f, which waits for the client or for another agent, while others have the slot of the job that ctx belongs
// to; afterwards the job waits for a slot again, before all jobs that have not begun. That time does not count as
// running. Of several Waits at a time in one job the first yields the slot and the last reacquires it. Wait returns f's
// error, or why the job has to end, which then must return. Outside jobs it is f().
func Wait(ctx context.Context, f func() error) error {
	if r := runOf(ctx); r != nil {
		return r.wait(f)
	}
	return f()
}

// Pause is Wait for something of the agent's own, such as a free worker: nobody is told that the job waits for a client.
func Pause(ctx context.Context, f func() error) error {
	if r := runOf(ctx); r != nil {
		return r.pause(f)
	}
	return f()
}

// wait is pause, of which the hooks hear: a client that sees the job is told that it waits.
func (r *run) wait(f func() error) error {
	return r.pause(func() error {
		r.notifyWaiting(true)
		defer r.notifyWaiting(false)
		return f()
	})
}

// pause runs f without the job's slot.
func (r *run) pause(f func() error) error {
	r.yield()
	err := f()
	if w := r.reacquire(); w != nil {
		if late := r.q.turn(r, w, 0); late != nil { // rest minds the time
			return late
		}
	}
	return err
}

// notifyWaiting tells the hooks that a wait begins or ends.
func (r *run) notifyWaiting(waiting bool) {
	if r.hooks != nil && r.hooks.Waiting != nil {
		r.hooks.Waiting(waiting)
	}
}

// yield gives the slot to others, if the job has one.
func (r *run) yield() {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	r.waits++
	if r.state == holding {
		r.state, r.since = yielded, time.Since(r.begun)
		r.q.yielding++
		r.q.release(r.tenant)
	}
}

// reacquire takes the slot back or, if none is free, joins those that want theirs.
func (r *run) reacquire() *waiter {
	q := r.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.waits--; r.waits > 0 || r.state != yielded {
		return nil
	}
	if q.free(r.tenant) {
		q.take(r.tenant)
		r.resumeNow()
		return nil
	}
	now := time.Since(r.begun)
	r.paused += now - r.since
	r.since = now
	w := &waiter{tenant: r.tenant, run: r, ready: make(chan struct{})}
	w.at = q.resume.PushBack(w)
	r.again = w
	q.notifyChange()
	return w
}

// resumeNow is the moment at which the job has its slot again; q.mu is held.
func (r *run) resumeNow() {
	now := time.Since(r.begun)
	r.paused += now - r.since
	r.since = now
	r.state = holding
	r.q.yielding--
	r.touched.Store(int64(now))
}

// dropYield is the end of a job that yielded its slot and will not get it back; q.mu is held.
func (r *run) dropYield() {
	r.q.yielding--
	if r.again != nil && r.again.at != nil {
		r.q.unlink(r.again)
	}
}

// ran is for how long the job had a slot, now being the time since it began; q.mu is held.
func (r *run) ran(now time.Duration) time.Duration {
	if r.state == yielded {
		now = r.since
	}
	return now - r.paused
}

// remaining is how long the job may go on from now until somebody has to look again, or why it has to end.
func (r *run) remaining() (time.Duration, error) {
	q := r.q
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Since(r.begun)
	ceiling := q.opts.MaxTimeout - r.ran(now)
	idle := r.timeout - (now - time.Duration(r.touched.Load()))
	phase, text, left := "running", "Request timed out: the tool ran for %v; ask for less at a time", min(ceiling, idle)
	spent := r.ran(now)
	if r.state == yielded {
		spent = now - r.since
		// Should it get its slot back now, it may run for as long as this.
		idle = r.timeout
		if r.waits > 0 {
			phase, text, left = "waiting", "Request timed out: still waiting after %v, for a client or a free worker; call again later", q.opts.WaitTimeout-spent
		} else {
			phase, text, left = "queued", "Request timed out: still queued again after %v; call again later", q.opts.QueueTimeout-spent
		}
	}
	if left <= 0 {
		return 0, jsonrpc.Errorf(jsonrpc.KindTimeout, text, spent.Round(time.Millisecond)).With("phase", phase)
	}
	// Which limit comes first may change before the next look, but none can come sooner than these.
	return max(min(left, ceiling, idle, q.opts.WaitTimeout, q.opts.QueueTimeout), time.Millisecond), nil
}
