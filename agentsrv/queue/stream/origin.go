package stream

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/nats-io/nuid"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// call is one Do of this replica's clients.
type call struct {
	id    string
	job   queue.Job
	line  line
	seq   uint64   // in the stream
	large []string // what it has in the object store
	begun bool     // it waits no more; Queue.mu guards it

	mu     sync.Mutex
	worker string    // who runs it, "" for nobody
	asked  bool      // the client, so that it must not begin again
	come   bool      // its result did, or is in the mail
	over   bool      // nobody may begin it any more
	until  time.Time // until when that has to be remembered, zero if it does not
	mail   []mail
	news   chan struct{} // gets one when there is mail
}

// mail is something about a call.
type mail struct {
	kind kind
	from string
	data []byte
	take *taken // with run
}

// Beside the kinds of messages:
const (
	run  kind = 'r' // it is this replica's turn to run it
	lost kind = 'l' // whoever ran it is gone
)

func (c *call) post(m mail) {
	c.mail = append(c.mail, m)
	select {
	case c.news <- struct{}{}:
	default:
	}
}

// read takes the mail.
func (c *call) read() []mail {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.mail
	c.mail = nil
	return m
}

// grant lets a replica begin. A call that another one had begun begins again if that is safe, and else is lost. A replica that has it asks
// again only if it does not run it: it did not hear that it may begin, or could not say how the call ended. A task may begin again there,
// since whoever begins one looks whether it has begun before.
func (c *call) grant(to string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.over, c.come:
		if !c.until.IsZero() { // refused for as long as somebody asks: who hears of no origin begins it
			c.until = time.Now().Add(2 * tryFor)
		}
		return false
	case c.worker == "", !c.asked && (c.job.Repeatable || c.worker == to && c.job.ID != ""):
		c.worker = to
		return true
	}
	c.post(mail{kind: lost})
	return false
}

// is reports whether a replica has the call, and may go on with it.
func (c *call) is(of string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.worker == of && !c.over
}

// refuse lets nobody begin the call any more, who may have taken it already.
func (c *call) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over, c.until = true, time.Now().Add(2*tryFor)
}

// Do puts the job into the stream and returns how it ended, wherever it ran; f is called if that is here. See queue.Engine, and
// kit.ErrLeft.
func (q *Queue) Do(ctx context.Context, j queue.Job, f queue.Func) (json.RawMessage, error) {
	if q.local.Inside(ctx) { // part of a job that runs here
		return q.local.Do(ctx, j, f)
	}
	if ctx.Err() != nil {
		return nil, queue.Cancelled(ctx)
	}
	c, err := q.enter(j)
	if err != nil {
		return nil, err
	}
	defer q.forget(c)
	if j.ID != "" {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		defer cancel(nil)
		if sub, err := q.attend(j.ID, cancel); err == nil { // without it nobody can cancel it from elsewhere, which they hear
			defer sub.Unsubscribe()
		}
	}
	if err := q.publish(ctx, c); err != nil {
		return nil, err
	}
	hooks := kit.HooksOf(ctx)
	if hooks == nil {
		hooks = &kit.Hooks{}
	}
	if hooks.Accepted != nil {
		hooks.Accepted()
	}
	q.mu.Lock()
	q.waiting.add(c.line, mine)
	q.mu.Unlock()
	q.awake()
	w := wait{q: q, c: c, ctx: ctx, hooks: hooks, f: f, x: front.From(ctx)}
	return w.out()
}

func (q *Queue) enter(j queue.Job) (*call, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.draining {
		return nil, errInterrupted("the agent is shutting down and takes no more calls; call again when it is back")
	}
	if n := q.o.TenantQueued; n > 0 && q.queued[j.Tenant] >= n {
		return nil, q.full()
	}
	c := &call{id: nuid.Next(), job: j, line: line{q.replicas.me.Group, natsconn.Name(j.Tenant)}, news: make(chan struct{}, 1)}
	q.calls[c.id] = c
	q.queued[j.Tenant]++
	q.live++
	return c, nil
}

// began is the end of c's waiting.
func (q *Queue) began(c *call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.begun {
		return
	}
	c.begun = true
	if q.queued[c.job.Tenant]--; q.queued[c.job.Tenant] <= 0 {
		delete(q.queued, c.job.Tenant)
	}
}

func (q *Queue) forget(c *call) {
	q.began(c)
	if len(c.large) > 0 {
		q.tasks.Go(func() { q.drop(c.large...) })
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.mu.Lock(); c.until.IsZero() {
		delete(q.calls, c.id)
	}
	c.mu.Unlock()
	if q.live--; q.live == 0 && q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
}

func (q *Queue) full() error {
	f := jsonrpc.Errorf(jsonrpc.KindQueueFull, "Task queue at capacity")
	f.RetryAfter = time.Second
	return f.With("capacity", q.o.Capacity)
}

// wait is the wait of one Do.
type wait struct {
	q     *Queue
	c     *call
	ctx   context.Context
	hooks *kit.Hooks
	f     queue.Func
	x     *front.Exchange // nil outside of requests
	begun bool
	late  <-chan time.Time // in the queue
	sent  int              // frames since the last credit
}

// out waits for the end.
func (w *wait) out() (json.RawMessage, error) {
	leave := w.q.leave
	if w.c.job.ID == "" {
		leave = nil // its client waits for it here
	}
	if !w.hooks.NoQueueTimeout {
		timer := time.NewTimer(w.q.o.QueueTimeout)
		defer timer.Stop()
		w.late = timer.C
	}
	for {
		select {
		case <-w.c.news:
			for _, m := range w.c.read() {
				if result, err, done := w.take(m); done {
					return result, err
				}
			}
		case <-w.ctx.Done():
			return nil, w.giveUp(queue.Cancelled(w.ctx))
		case <-w.late:
			limit := w.q.o.QueueTimeout
			return nil, w.giveUp(jsonrpc.Errorf(jsonrpc.KindTimeout, "Request timed out: still queued after %v; call again later", limit).With("phase", "queued"))
		case <-w.q.stop:
			if leave != nil && w.release() { // it was closed before
				return nil, kit.ErrLeft
			}
			return nil, w.giveUp(errInterrupted("the agent shut down before this call was done; check what it did before calling again"))
		case <-leave:
			if w.release() {
				return nil, kit.ErrLeft
			}
			leave = nil // it runs here
		}
	}
}

// release gives up waiting for a task that others run, or will run.
func (w *wait) release() bool {
	w.c.mu.Lock()
	defer w.c.mu.Unlock()
	if w.c.worker == w.q.me {
		return false
	}
	w.c.large = nil // whoever runs it drops that
	return true     // whoever asks whether it may begin hears that nobody knows, and looks at the task
}

// take is one piece of mail.
func (w *wait) take(m mail) (result json.RawMessage, err error, done bool) { //nolint:staticcheck // done says whether the others count
	if m.kind == run {
		result, err = w.here(m.take)
		return result, err, true
	}
	if m.kind == lost {
		return nil, w.giveUp(errInterrupted("the replica that ran the call is gone; check what it did before calling again")), true
	}
	w.c.mu.Lock()
	if w.c.worker == "" { // it was thought lost, and lives
		w.c.worker = m.from
	}
	current := m.from == w.c.worker
	w.c.mu.Unlock()
	if !current { // it was lost, or thought so, and another one runs the call
		return nil, nil, false
	}
	switch m.kind {
	case started:
		w.begins()
	case frame:
		w.passOn(m)
	case waits:
		w.c.mu.Lock()
		w.c.asked = true
		w.c.mu.Unlock()
		if w.hooks.Waiting != nil {
			w.hooks.Waiting(string(m.data) == "1")
		}
	case question:
		w.ask(m)
	case hangup:
		if w.x != nil {
			w.x.Hangup(time.Duration(number(m.data)) * time.Millisecond)
		}
	case result_:
		w.begins()
		result, err = w.q.fetchResult(w.c, m.data)
		return result, err, true
	}
	return nil, nil, false
}

// begins is the first moment at which the call runs.
func (w *wait) begins() {
	if w.begun {
		return
	}
	w.begun, w.late = true, nil
	w.q.began(w.c)
	if w.hooks.Started != nil {
		w.hooks.Started()
	}
}

// passOn writes what the tool sends, in order, and lets more come.
func (w *wait) passOn(m mail) {
	if w.x != nil {
		_ = w.x.Send(m.data) // a client that is gone shows in ctx
	}
	if w.sent++; w.sent == window/2 {
		w.q.notify(m.from, w.c.id, appendKind(credit, []byte(text(w.sent))))
		w.sent = 0
	}
}

// ask puts a question to the client; the answer goes back when there is one.
func (w *wait) ask(m mail) {
	var a asked
	if json.Unmarshal(m.data, &a) != nil {
		return
	}
	w.q.tasks.Go(func() {
		back := asked{ID: a.ID}
		if w.x == nil {
			back.Error = problemOf(jsonrpc.Errorf(jsonrpc.KindToolExecution, "nobody can be asked"))
		} else if result, err := w.x.Ask(w.ctx, a.Method, a.Params); err != nil {
			back.Error = problemOf(err)
		} else {
			back.Result = result
		}
		w.q.notify(m.from, w.c.id, appendKind(answer, back))
	})
}

// giveUp is the end of a call whose caller does not wait any more. Whoever runs it has the time that queue.Options.Grace says
// to end it.
func (w *wait) giveUp(why error) error {
	c := w.c
	c.refuse()
	c.mu.Lock()
	worker := c.worker
	c.mu.Unlock()
	switch worker {
	case "":
		w.q.takeOut(c)
		return why
	case w.q.me: // at this very moment
		for {
			for _, m := range c.read() {
				if m.kind == run {
					w.q.release(m.take)
					return why
				}
			}
			<-c.news
		}
	}
	w.q.notify(worker, c.id, appendKind(stopIt, problemOf(why)))
	grace := time.NewTimer(w.q.o.Grace + time.Second)
	defer grace.Stop()
	for {
		select {
		case <-c.news:
			for _, m := range c.read() {
				if m.kind == result_ && m.from == worker || m.kind == lost {
					return why
				}
			}
		case <-grace.C:
			return why
		}
	}
}

// takeOut removes a call that has not begun from the stream.
func (q *Queue) takeOut(c *call) {
	q.tasks.Go(func() {
		if err := q.remove(context.Background(), c.seq); err != nil {
			q.log.Debug("queue: cannot take a call out; nobody will begin it", "err", err)
		}
	})
}
