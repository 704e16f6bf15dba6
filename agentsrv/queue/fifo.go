package queue

import (
	"container/list"
	"context"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// maxTenants is how many tenants without jobs are remembered, to spare the next job of theirs the allocation; more would let callers who
// make up names fill the memory.
const maxTenants = 256

// tenant has the jobs of one tenant in their order.
type tenant struct {
	name    string
	live    int           // its jobs in the queue, whatever they do
	running int           // those that hold a slot
	waiting list.List     // *waiter: those that have not begun
	turn    *list.Element // in Queue.turns, nil if it is not there
}

// waiter is one job that wants a slot. It is granted one with q.mu held, and learns so from ready.
type waiter struct {
	tenant  *tenant
	run     *run          // the job, if it began already and yielded its slot
	ready   chan struct{} // closed when it has the slot
	at      *list.Element // in Queue.resume if it began, else in tenant.waiting; nil if it waits no more
	granted bool          // it has the slot; one that gives up waiting before it began gives it back
}

// The functions below are called with q.mu held.

// tenant finds or makes the tenant of that name, for one more job.
func (q *Queue) tenant(name string) *tenant {
	t := q.tenants[name]
	if t == nil {
		t = &tenant{name: name}
		q.tenants[name] = t
	}
	t.live++
	return t
}

// forget is the end of one job of t. Tenants without jobs go once there are many.
func (q *Queue) forget(t *tenant) {
	if t.live--; t.live == 0 && len(q.tenants) > maxTenants {
		delete(q.tenants, t.name)
	}
}

// free reports whether a job of t may have a slot now. Whoever waits while it is true for somebody else belongs to a
// tenant that has all it may have, since schedule runs whenever a slot comes back.
func (q *Queue) free(t *tenant) bool {
	return q.running < q.opts.Concurrency && t.running < q.opts.TenantRunning
}

// take gives a slot to a job of t.
func (q *Queue) take(t *tenant) {
	q.running++
	t.running++
	q.notifyChange()
}

// release gives back a slot of t, and hands out what is free.
func (q *Queue) release(t *tenant) {
	q.running--
	t.running--
	q.notifyChange()
	q.enlist(t)
	q.schedule()
	if q.opts.Freed != nil && q.running < q.opts.Concurrency {
		q.opts.Freed()
	}
}

// enlist makes sure that t gets its turn if it has a job waiting and may run one more.
func (q *Queue) enlist(t *tenant) {
	if t.turn == nil && t.waiting.Len() > 0 && t.running < q.opts.TenantRunning {
		t.turn = q.turns.PushBack(t)
	}
}

// schedule hands out free slots until there is none or nobody may have one: first to jobs that had one before, then to
// the tenants in turn.
func (q *Queue) schedule() {
	for e := q.resume.Front(); e != nil && q.running < q.opts.Concurrency; {
		w := e.Value.(*waiter)
		e = e.Next()
		if q.free(w.tenant) {
			q.grant(w)
		}
	}
	for q.running < q.opts.Concurrency && q.turns.Len() > 0 {
		t := q.turns.Remove(q.turns.Front()).(*tenant)
		t.turn = nil
		if q.free(t) {
			q.grant(t.waiting.Front().Value.(*waiter))
		}
		q.enlist(t)
	}
}

// grant gives a slot to w, which waits for it.
func (q *Queue) grant(w *waiter) {
	q.unlink(w)
	q.take(w.tenant)
	if w.run != nil {
		w.run.resumeNow()
	}
	w.granted = true
	close(w.ready)
}

// unlink takes w out of the list that it waits in.
func (q *Queue) unlink(w *waiter) {
	t := w.tenant
	if w.run != nil {
		q.resume.Remove(w.at)
	} else {
		t.waiting.Remove(w.at)
		q.queued--
	}
	w.at = nil
	if t.turn != nil && t.waiting.Len() == 0 {
		q.turns.Remove(t.turn)
		t.turn = nil
	}
	q.notifyChange()
}

// turn waits, without q.mu, until w has its slot. When it returns an error, w has none and waits no more.
func (q *Queue) turn(ctx context.Context, w *waiter, limit time.Duration) error {
	var late <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	var err error
	select {
	case <-w.ready:
		return nil
	case <-ctx.Done():
		err = Cancelled(ctx)
	case <-q.stop:
		err = errInterrupted("the agent shut down before this call's turn came; call again when it is back")
	case <-late:
		err = jsonrpc.Errorf(jsonrpc.KindTimeout, "Request timed out: still queued after %v; call again later", limit).With("phase", "queued")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case w.granted && w.run != nil: // at this very moment
		return nil
	case w.granted:
		q.release(w.tenant)
	case w.at != nil:
		q.unlink(w)
	}
	return err
}
