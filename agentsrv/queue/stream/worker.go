package stream

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// taken is a call that was taken from the stream: this replica's until it is acked, or silent for ackWait.
type taken struct {
	message
	line  line
	ack   string // where to ack it
	count int    // how many times it was delivered
}

// dispatch takes calls while there are slots, from the tenants in turn. What it cannot take others hear of.
func (q *Queue) dispatch() {
	p := newPuller(q)
	defer p.close()
	for {
		select {
		case <-q.wake:
		case m := <-p.in:
			if l, t := p.answer(m); t != nil {
				p.late(l, t)
			}
		case <-q.end:
			return
		}
		for q.mayTake() {
			q.mu.Lock()
			l, changed, ok := q.waiting.next()
			q.mu.Unlock()
			if !ok {
				break
			}
			t, err := p.pull(l)
			if err != nil {
				q.log.Debug("queue: cannot take a call", "err", err)
			}
			if t == nil {
				q.mu.Lock()
				again := q.waiting.drop(l, changed)
				q.mu.Unlock()
				if again > 0 {
					time.AfterFunc(again, q.awake)
				}
				continue
			}
			q.begin(t)
		}
		q.hint()
	}
}

// mayTake reports whether a call that is taken now would run at once. Those that wait for their clients have a bound too.
func (q *Queue) mayTake() bool {
	s := q.local.Status()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.draining && (q.replicas.groupPeers() > 0 || !q.hasLocalCalls()) {
		return false
	}
	if q.o.Capacity >= 0 && s.Waiting >= max(q.o.Capacity, 1) {
		return false
	}
	return q.local.Free()-q.starting > 0
}

// hasLocalCalls reports that only this replica can run what waits for its clients here; q.mu is held.
func (q *Queue) hasLocalCalls() bool {
	for _, c := range q.calls {
		if c.job.ID == "" {
			return true
		}
	}
	return false
}

// hint tells others of what this replica cannot take.
func (q *Queue) hint() {
	q.mu.Lock()
	news := q.waiting.news()
	groupPeers := q.replicas.groupPeers()
	q.mu.Unlock()
	if len(news) == 0 || groupPeers == 0 {
		return
	}
	var b strings.Builder
	for _, l := range news {
		b.WriteString(l.String() + " ")
	}
	_ = q.nc.Publish(q.names.hint, []byte(b.String())) // sweep finds what nobody heard of
}

// begin has a call run that was taken.
func (q *Queue) begin(t *taken) {
	q.mu.Lock()
	if _, twice := q.jobs[t.ID]; twice { // a sign of life came too late
		q.mu.Unlock()
		return
	}
	q.starting++
	c := q.calls[t.ID]
	if c == nil {
		ctx, cancel := context.WithCancelCause(context.Background())
		j := &job{taken: t, q: q, cancel: cancel, line: q.newLine(t.Origin, t.ID, ctx.Done())}
		q.jobs[t.ID] = j // before it can be given to this replica again
		q.mu.Unlock()
		q.tasks.Go(func() { q.serve(ctx, j) })
		return
	}
	q.mu.Unlock()
	if c.is(q.me) { // and about to run
		q.unstart()
		return
	}
	if !c.grant(q.me) {
		q.release(t)
		return
	}
	c.mu.Lock()
	c.post(mail{kind: run, take: t})
	c.mu.Unlock()
}

// release is the end of a call that was taken and does not begin.
func (q *Queue) release(t *taken) {
	q.unstart()
	q.tasks.Go(func() { q.refuseTaken(t) })
}

// refuseTaken is a call that was taken and may not begin. A task's stays in the stream until its end is stored: who is to do that may be gone
// before, and a server that is killed may forget that a call left, which then would neither wait nor run, and never end.
func (q *Queue) refuseTaken(t *taken) {
	if t.Task != "" && q.o.Over != nil {
		ctx, cancel := context.WithTimeout(context.Background(), answerIn)
		defer cancel()
		over, known, err := q.o.Over(ctx, t.Task)
		if errors.Is(err, kit.ErrUnreadable) { // it would come again and again, for as long as the stream keeps it
			q.log.Warn("queue: a call that may not begin is thrown away", "task", t.Task, "err", err)
		} else if err != nil || known && !over {
			q.back(t, time.Second)
			return
		}
	}
	q.ackTaken(t, false)
}

// unstart gives back the slot that was reserved for a call.
func (q *Queue) unstart() {
	q.mu.Lock()
	q.starting--
	q.mu.Unlock()
	q.awake()
}

// ackTaken takes a call out of the stream. Where a tenant's calls at a time are limited, another one of them may go then. The note that it began
// goes once the server says that the call did: it comes again otherwise, perhaps to somebody who hears of no origin.
func (q *Queue) ackTaken(t *taken, unmark bool) {
	if q.o.TenantRunning == 0 && !unmark {
		_ = q.nc.Publish(t.ack, []byte("+ACK")) // it comes again, and finds that it is over
		return
	}
	q.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), answerIn)
		defer cancel()
		if _, err := q.nc.RequestWithContext(ctx, t.ack, []byte("+ACK")); err == nil && unmark { // likewise
			_ = q.unmark(t.ID)
		}
		if q.o.TenantRunning == 0 {
			return
		}
		q.mu.Lock()
		q.waiting.add(t.line, mine)
		q.mu.Unlock()
		q.awake()
	})
}

// back gives a call to whoever comes next.
func (q *Queue) back(t *taken, after time.Duration) {
	_ = q.nc.Publish(t.ack, []byte(`-NAK {"delay":`+strconv.FormatInt(int64(after), 10)+`}`)) // it comes back by itself, later
}

// deliveries is how many times a message was delivered, which the subject to ack it at says.
func deliveries(ack string) int {
	tokens := strings.Split(ack, ".")
	at := 4 // $JS.ACK.stream.consumer.deliveries
	if len(tokens) > 9 {
		at = 6 // with domain and account
	}
	if len(tokens) <= at {
		return 1
	}
	n, _ := strconv.Atoi(tokens[at])
	return n
}

// consumer makes that of a line.
func (q *Queue) consumer(l line) error {
	ctx, cancel := context.WithTimeout(context.Background(), tryFor)
	defer cancel()
	limit := -1
	if q.o.TenantRunning > 0 {
		limit = q.o.TenantRunning
	}
	return q.o.Conn.Try(ctx, "use a consumer of "+q.names.stream, func(ctx context.Context) error {
		_, err := q.js.CreateOrUpdateConsumer(ctx, q.names.stream, jetstream.ConsumerConfig{
			Durable: l.consumer(), FilterSubject: q.names.filter(l), AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.o.ackWait,
			MaxAckPending: limit, InactiveThreshold: forget,
		})
		return err
	})
}
