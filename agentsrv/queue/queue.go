// Package queue lets tool calls run a few at a time, in the order they came.
//
// A job is refused at once when the queue is full, is given up when it waited or ran for too long, leaves when its
// caller goes, and gives its slot to others while it waits for its client or for another agent. Jobs of one tenant keep
// their order; where several tenants have jobs waiting they take turns, so that none can push the others out.
//
// stream is the same for several processes, queuetest what both have to pass, and chaos kills processes and looks at what came of their jobs.
package queue

import (
	"cmp"
	"container/list"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Unlimited as Capacity lets any number of jobs wait.
const Unlimited = -1

// Options are the limits of a Queue. The zero value of each is its default.
type Options struct {
	Concurrency   int           // jobs that run at a time; 1
	Capacity      int           // jobs that may wait; 100, Unlimited for any number
	TenantRunning int           // jobs that one tenant may run at a time; 0 is as many as Concurrency
	TenantQueued  int           // jobs that one tenant may have waiting; 0 is as many as Capacity
	Timeout       time.Duration // how long a job may run without a sign of progress, unless it says otherwise; 30 s
	MaxTimeout    time.Duration // how long any job may run, whatever it says and reports; 60 s
	QueueTimeout  time.Duration // how long a job waits for its turn; 60 s
	WaitTimeout   time.Duration // how long a job may wait in one piece for its client or another agent; 10 min
	Grace         time.Duration // how long a cancelled job may take before it is abandoned; 2 s
	MaxAbandoned  int           // jobs that are abandoned and still hold no slot; any further one keeps its slot; 64

	// ToolTimeout is Timeout for a call of a tool with these params of tools/call, 0 if it has none of its own.
	ToolTimeout func(tool string, params []byte) time.Duration
	// Repeatable is Job.Repeatable for calls of a tool; nil if none are.
	Repeatable func(tool string) bool
	// Freed is called when a slot may have become free. It must return at once, and not call the queue.
	Freed func()
	// Changed hears of a new Status, at most twenty times a second and never at the same time as itself.
	Changed func(Status)
	// Logger gets the stacks of panics and what was abandoned; slog.Default().
	Logger *slog.Logger
}

// Job is what a call tells about itself. The zero Job is one of the tenant "", with the limits of Options.
type Job struct {
	ID         string        // of the task that it is, or may become; "" for a call that stays one
	Tenant     string        // whose it is
	Tool       string        // for messages and logs
	Timeout    time.Duration // instead of Options.Timeout; never beyond Options.MaxTimeout
	Repeatable bool          // it may run again should whoever runs it be lost: it changes nothing, or nothing more
	Payload    []byte        // what another process needs to run it, where jobs go to others
}

// Func is what a job does. Its context ends when it has to.
type Func func(context.Context) (json.RawMessage, error)

// Engine is a queue, wherever its jobs are: in this process (Queue), or where several find them (package stream). Both pass the tests of
// package queuetest.
type Engine interface {
	// Do waits for job's turn, has f run, and returns what that returned; see Queue.Do.
	Do(ctx context.Context, job Job, f Func) (json.RawMessage, error)
	Middleware() front.Middleware
	Status() Status
	Drain(ctx context.Context) error
	Tools() []server.ServerTool
	Resources() []server.ServerResource
	Page() http.Handler
}

// Queue runs jobs. It starts nothing before the first one, and needs Drain or Close only while jobs are in it.
//
// A slot belongs to a tenant's job from take to release. What is waiting for one is in one of two lists: jobs that began, yielded and
// want to go on (resume) come before those that have not begun (turns, by tenant).
type Queue struct {
	opts    Options
	stop    chan struct{} // closed when what still runs has to end
	workers *kit.Workers

	mu        sync.Mutex
	tenants   map[string]*tenant
	turns     list.List // *tenant: those that have jobs waiting and may run one more
	resume    list.List // *waiter: jobs that want their slot back, before all new ones
	queued    int       // jobs that have not begun
	running   int       // slots taken
	yielding  int       // jobs that yielded their slot, those in resume among them
	abandoned int
	mean      time.Duration // moving average of how long jobs have a slot
	live      int           // calls of Do that were accepted and have not returned
	draining  bool
	stopped   bool          // stop is closed
	idle      chan struct{} // closed when live gets 0; made by Drain

	teller    *time.Timer // reports the status
	notifying bool        // it will
	reported  Status
}

// Completed is o with its defaults filled in.
func (o Options) Completed() Options {
	o.Concurrency = max(cmp.Or(o.Concurrency, 1), 1)
	o.Capacity = max(cmp.Or(o.Capacity, 100), Unlimited)
	if o.TenantRunning <= 0 {
		o.TenantRunning = o.Concurrency
	}
	o.MaxTimeout = cmp.Or(o.MaxTimeout, time.Minute)
	o.Timeout = min(cmp.Or(o.Timeout, 30*time.Second), o.MaxTimeout)
	o.QueueTimeout = cmp.Or(o.QueueTimeout, time.Minute)
	o.WaitTimeout = cmp.Or(o.WaitTimeout, 10*time.Minute)
	o.Grace = cmp.Or(o.Grace, 2*time.Second)
	o.MaxAbandoned = cmp.Or(o.MaxAbandoned, 64)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}

// New makes a queue.
func New(o Options) *Queue {
	o = o.Completed()
	return &Queue{opts: o, workers: kit.NewWorkers(), stop: make(chan struct{}), tenants: map[string]*tenant{}}
}

// Do waits for job's turn and runs f, whose context ends when the job has to. It returns what f does, or a
// *jsonrpc.RequestError: queue_full, timeout (data.phase is queued, running or waiting), cancelled, interrupted by Drain, or
// internal for a panic. When f does not end although it was cancelled, Do returns without it after Options.Grace.
//
// A job that calls Do on its own queue gives up its slot meanwhile; it would wait for itself otherwise.
func (q *Queue) Do(ctx context.Context, job Job, f Func) (result json.RawMessage, err error) {
	if outer := runOf(ctx); q.Inside(ctx) {
		err := outer.wait(func() (err error) {
			result, err = q.do(ctx, job, nil, f)
			return err
		})
		return result, err
	}
	return q.do(ctx, job, kit.HooksOf(ctx), f)
}

// Inside reports whether ctx is that of a job of this queue.
func (q *Queue) Inside(ctx context.Context) bool {
	r := runOf(ctx)
	return r != nil && r.q == q
}

// Free is how many more jobs would run at once.
func (q *Queue) Free() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return max(q.opts.Concurrency-q.running-q.queued-q.resume.Len(), 0)
}

// do is Do for a job that is not inside of another one, or whose outer job has given up its slot. hooks, nil for none, hear how far the
// job is; an inner job has none, for its caller knows of the outer one only.
func (q *Queue) do(ctx context.Context, job Job, hooks *kit.Hooks, f Func) (json.RawMessage, error) {
	if ctx.Err() != nil {
		return nil, Cancelled(ctx)
	}
	t, w, err := q.enter(job)
	if err != nil {
		return nil, err
	}
	defer q.leave()
	if hooks != nil && hooks.Accepted != nil {
		hooks.Accepted()
	}
	if w != nil {
		limit := q.opts.QueueTimeout
		if hooks != nil && hooks.NoQueueTimeout {
			limit = 0
		}
		if err := q.turn(ctx, w, limit); err != nil {
			q.drop(t)
			return nil, err
		}
	}
	if hooks != nil && hooks.Started != nil {
		hooks.Started()
	}
	return q.run(ctx, t, job, hooks, f)
}

// enter takes a slot for the tenant of job, or joins the queue if there is none; then the waiter is not nil.
func (q *Queue) enter(job Job) (*tenant, *waiter, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.draining {
		return nil, nil, errInterrupted("the agent is shutting down and takes no more calls; call again when it is back")
	}
	t := q.tenant(job.Tenant)
	if q.free(t) {
		q.live++
		q.take(t)
		return t, nil, nil
	}
	if q.opts.Capacity != Unlimited && q.queued+q.yielding >= q.opts.Capacity || q.opts.TenantQueued > 0 && t.waiting.Len() >= q.opts.TenantQueued {
		q.forget(t)
		return nil, nil, q.full()
	}
	q.live++
	w := &waiter{tenant: t, ready: make(chan struct{})}
	q.queued++
	w.at = t.waiting.PushBack(w)
	q.enlist(t)
	q.notifyChange()
	return t, w, nil
}

// drop is the end of a job that has not begun.
func (q *Queue) drop(t *tenant) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.forget(t)
}

// full is the refusal of one job too many; q.mu is held.
func (q *Queue) full() error {
	f := jsonrpc.Errorf(jsonrpc.KindQueueFull, "Task queue at capacity")
	f.RetryAfter = time.Second
	if q.mean > 0 {
		// About when the last of those who wait has had its turn: by then there is room.
		turns := (q.queued + q.opts.Concurrency) / q.opts.Concurrency
		f.RetryAfter = min(max(q.mean*time.Duration(turns), 100*time.Millisecond), time.Minute)
	}
	return f.With("capacity", q.opts.Capacity)
}
