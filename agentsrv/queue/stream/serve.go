package stream

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// job is a call that runs here.
type job struct {
	*taken
	q      *Queue
	cancel context.CancelCauseFunc
	line   *Line // nil for a call of this replica's own clients
	sub    *nats.Subscription

	mu    sync.Mutex
	acked bool // it left the stream
	alone bool // its origin is gone, or let go of it
	over  bool // its task was over before it began
	noted bool // that it began, so that it does not begin again
}

// here runs a call of this replica's own clients.
func (w *wait) here(t *taken) (json.RawMessage, error) {
	ctx, cancel := context.WithCancelCause(w.ctx)
	defer cancel(nil)
	j := &job{taken: t, q: w.q, cancel: cancel}
	return j.run(ctx, w.f, w.hooks, w.begins)
}

// serve runs a call that arrived elsewhere. It is one that runs here until its origin has the result: should it be given to this replica
// again meanwhile, that is of no account.
func (q *Queue) serve(ctx context.Context, j *job) {
	t := j.taken
	defer j.cancel(nil)
	defer q.untrack(j)
	if !j.may(ctx) {
		q.unstart()
		return
	}
	job := t.job()
	raw, err := j.run(ctx, func(ctx context.Context) (json.RawMessage, error) {
		if err := q.unpack(ctx, t); err != nil {
			return nil, err
		}
		job.Payload = t.Payload
		return q.o.Perform(ctx, job, j.line)
	}, &kit.Hooks{Waiting: func(begins bool) {
		state := "0"
		if begins {
			state = "1"
		}
		_ = j.line.notify(waits, []byte(state)) // likewise
	}}, func() { _ = j.line.notify(started, nil) }) // whoever does not hear it gets the result
	if errors.Is(err, kit.ErrLeft) {
		return
	}
	j.deliver(raw, err)
	if t.Large && t.Task != "" { // its origin may have left
		q.drop(t.ID)
	}
}

// may asks the origin whether the call may begin. A task whose origin is gone may if it has a record that says that it is not over.
func (j *job) may(ctx context.Context) bool {
	m, err := j.q.request(ctx, j.Origin, j.ID, appendKind(claim, nil))
	switch {
	case err == nil && string(m.Data) == string(yes):
		return true
	case err == nil && string(m.Data) == string(past): // it came again, since the server did not hear, or forgot, that it left the stream
		j.q.ackTaken(j.taken, false)
		return false
	case err == nil && (string(m.Data) == string(no) || j.Task == ""):
		j.q.refuseTaken(j.taken)
		return false
	case err == nil: // the origin let go of it
	case j.q.Alive(j.Origin): // it will be back
		j.q.back(j.taken, time.Second)
		return false
	case j.Task == "": // nobody waits for it
		j.q.ackTaken(j.taken, false)
		return false
	}
	j.alone = true
	return true
}

// run runs f, whatever that is, and sees to how it ends.
func (j *job) run(ctx context.Context, f queue.Func, hooks *kit.Hooks, began func()) (json.RawMessage, error) {
	q := j.q
	if j.line == nil {
		q.track(j)
		defer q.untrack(j)
	}
	var once sync.Once
	unstart := func() { once.Do(q.unstart) }
	defer unstart()
	if why := j.prepare(ctx); why != nil {
		switch {
		case errors.Is(why, errOver): // how it ended is stored
			j.over = true
			j.out(false)
			return nil, jsonrpc.Errorf(jsonrpc.KindCancelled, "the task has ended already")
		case errors.Is(why, kit.ErrLeft): // or stays here, for later
			q.back(j.taken, time.Second)
			return nil, why
		}
		return j.end(nil, why)
	}
	ran := false
	h := &kit.Hooks{
		NoQueueTimeout: true,
		Started:        func() { ran = true; unstart(); began() },
		Waiting: func(begins bool) {
			j.out(false) // a client must not be asked twice
			if hooks.Waiting != nil {
				hooks.Waiting(begins)
			}
		},
	}
	raw, err := q.local.Do(kit.WithHooks(ctx, h), j.job(), f)
	if err != nil && j.handBack(err, ran) {
		return nil, kit.ErrLeft
	}
	return j.end(raw, err)
}

// attend hears of those who cancel a task, or ask who has it.
func (q *Queue) attend(task string, cancel context.CancelCauseFunc) (*nats.Subscription, error) {
	return q.nc.Subscribe(q.names.run+"."+subjectToken(task), func(m *nats.Msg) {
		if len(m.Data) > 0 && kind(m.Data[0]) == stopIt {
			cancel(stopCause(m.Data[1:]))
		}
		_ = m.Respond(yes) // whoever asks asks again
	})
}

var errOver = errors.New("the task is over")

// prepare makes sure that the task is not over, and that one which must not run twice does not. A call that is cancelled meanwhile is
// prepared nevertheless: a note that it began must not be left unknown, and who runs it says why it ended.
func (j *job) prepare(ctx context.Context) error {
	q := j.q
	if j.Task == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tryFor)
	defer cancel()
	if j.line != nil { // Do does it otherwise
		sub, err := q.attend(j.Task, j.cancel)
		if err != nil {
			return errInterrupted("the call cannot begin: the queue's server does not answer; call again later")
		}
		j.sub = sub
	}
	if q.o.Over != nil {
		switch over, known, err := q.o.Over(ctx, j.Task); {
		case err != nil && !j.alone: // its origin would have said so
			q.log.Warn("queue: cannot tell whether a task is over; it runs", "err", err)
		case errors.Is(err, kit.ErrUnreadable):
			return errInterrupted("the call cannot begin: this replica cannot read its task; call again%w", jsonrpc.Hidden(err))
		case err != nil:
			q.log.Warn("queue: cannot tell whether a task is over; it waits", "task", j.Task, "err", err)
			return kit.ErrLeft
		case over || !known && j.alone:
			return errOver
		}
	}
	if j.Repeatable {
		return nil
	}
	err := q.o.Conn.Try(ctx, "note that a call begins in the bucket "+q.names.begun, func(ctx context.Context) error {
		_, err := q.begun.Create(ctx, j.ID, []byte(q.me))
		return err
	})
	switch {
	case errors.Is(err, jetstream.ErrKeyExists):
		return errInterrupted("the replica that ran the call is gone; check what it did before calling again")
	case err != nil:
		q.log.Error("queue: a call cannot begin", "task", j.Task, "err", err)
		return errInterrupted("the call cannot begin: the queue's server does not answer, or does not allow it; call again later")
	}
	j.mu.Lock()
	j.noted = true
	j.mu.Unlock()
	return nil
}

// handBack hands a job of another process back that a shutdown interrupted, if it may begin again.
func (j *job) handBack(err error, ran bool) bool {
	f, ok := jsonrpc.AsRequestError(err)
	select {
	case <-j.q.leave:
	default:
		return false
	}
	j.mu.Lock()
	acked, noted := j.acked, j.noted
	j.mu.Unlock()
	if !ok || f.Kind != jsonrpc.KindInterrupted || j.line == nil || acked || ran && !j.Repeatable {
		return false
	}
	if noted && j.q.unmark(j.ID) != nil {
		return false
	}
	j.q.back(j.taken, 0)
	return true
}

// end stores how a task ended, takes the call out of the stream, and returns what it is given.
func (j *job) end(raw json.RawMessage, err error) (json.RawMessage, error) {
	if j.Task != "" && j.q.o.Settle != nil {
		j.settle(raw, err)
	}
	j.out(true)
	return raw, err
}

// settle stores how a task ended, and does not let go before that is done, or nobody waits for it any more. Where this replica can never do it,
// the task's origin hears how it ended, or those who can read it see that the task is nowhere.
func (j *job) settle(raw json.RawMessage, failure error) {
	for wait := tryEvery; ; wait = min(2*wait, 5*time.Second) {
		ctx, cancel := context.WithTimeout(j.q.life, tryFor+natsconn.TransferTime(len(raw)))
		err := j.q.o.Settle(ctx, j.Task, raw, failure)
		cancel()
		if err == nil {
			return
		}
		if errors.Is(err, kit.ErrUnreadable) {
			j.q.log.Warn("queue: cannot store how a task ended", "task", j.Task, "err", err)
			return
		}
		j.q.log.Warn("queue: cannot store how a task ended; trying again", "task", j.Task, "err", err)
		select {
		case <-time.After(wait):
		case <-j.q.stop:
			return
		}
	}
}

// stopCause is why a call is to end, in what stopIt says. What does not say why is a cancellation.
func stopCause(data []byte) error {
	p := &problem{Text: "the call was cancelled", Kind: jsonrpc.KindCancelled}
	_ = json.Unmarshal(data, p)
	return p.err()
}

// out takes the call out of the stream; at its end the note that it began goes too.
func (j *job) out(end bool) {
	j.mu.Lock()
	was, unmark := j.acked, end && j.noted
	j.acked = true
	j.mu.Unlock()
	if !was || unmark {
		j.q.ackTaken(j.taken, unmark)
	}
}

// handle takes something that the origin says, or somebody who cancels a task.
func (j *job) handle(k kind, data []byte) {
	switch {
	case k == stopIt:
		j.cancel(stopCause(data))
	case j.line == nil:
	case k == answer:
		j.line.handleAnswer(data)
	case k == credit:
		j.line.addCredit(number(data))
	}
}

func (q *Queue) track(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs[j.ID] = j
}

func (q *Queue) untrack(j *job) {
	q.mu.Lock()
	delete(q.jobs, j.ID)
	q.mu.Unlock()
	if j.sub != nil {
		_ = j.sub.Unsubscribe() // the connection may be gone
	}
}

// renew gives signs of life of what runs here.
func (q *Queue) renew() {
	t := time.NewTicker(q.o.ackWait / 3)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-q.end:
			return
		}
		q.mu.Lock()
		var acks []string
		for _, j := range q.jobs {
			j.mu.Lock()
			if !j.acked {
				acks = append(acks, j.ack)
			}
			j.mu.Unlock()
		}
		q.mu.Unlock()
		for _, to := range acks {
			_ = q.nc.Publish(to, []byte("+WPI")) // the next one may arrive in time
		}
	}
}

// deliver hands the result to the origin, until that has it or is gone. A quick job may have been settled before its origin made the task's
// record, so that an origin which cannot be reached may have left one without an end.
func (j *job) deliver(raw json.RawMessage, failure error) {
	q, t := j.q, j.taken
	out := outcome{Result: raw, Error: problemOf(failure)}
	b := appendKind(result_, out)
	if int64(len(b)) > q.maxMessage() {
		var err error
		if b, err = q.pack(t.ID, b); err != nil {
			b = appendKind(result_, outcome{Error: problemOf(err)})
		}
	}
	for {
		_, err := q.request(context.Background(), t.Origin, t.ID, b)
		if err != nil && t.Task != "" && !j.over && q.o.Settle != nil {
			ctx, cancel := context.WithTimeout(context.Background(), answerIn)
			_ = q.o.Settle(ctx, t.Task, raw, failure) // it was settled once; without a server the next turn does it
			cancel()
		}
		if err == nil || errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrNoResponders) && !q.Alive(t.Origin) {
			return
		}
		select {
		case <-time.After(tryEvery):
		case <-q.end:
			return
		}
	}
}
