package stream

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/agentsrv/queue"
)

// Status is what this replica does, with what it knows of the others.
func (q *Queue) Status() queue.Status {
	s := q.local.Status()
	q.mu.Lock()
	defer q.mu.Unlock()
	s.Capacity = q.o.Capacity
	for _, n := range q.queued {
		s.Queued += n
	}
	all := &queue.Shared{
		Engine: "NATS JetStream", Server: q.o.Conn.Where(), Connected: q.o.Conn.Up(), Replica: q.me, Replicas: 1, Running: s.Running + s.Waiting,
		Concurrency: q.o.Concurrency, Capacity: q.o.Capacity, Different: q.replicas.different(),
	}
	for _, o := range q.replicas.others {
		if o.Group == q.replicas.me.Group {
			all.Replicas++
			all.Running += o.Running
			all.Concurrency += o.Concurrency
		}
	}
	all.Queued = max(q.seen.messages-all.Running, s.Queued)
	s.Shared = all
	return s
}

// Drain ends this replica's part: it takes nothing more, from clients or from the stream, and what waits stays there for others. What
// runs has until ctx ends, and so have those that wait for a call of theirs; then they are cancelled, or handed back if they may
// begin again. With nobody else there the calls of its own clients still run. See queue.Queue.
func (q *Queue) Drain(ctx context.Context) error {
	q.mu.Lock()
	if q.draining {
		q.mu.Unlock()
		<-q.end
		return nil
	}
	q.draining = true
	for _, p := range q.waiting.state {
		p.fresh = true
	}
	bye := q.replicas.me
	left, idle := q.live, make(chan struct{})
	if left == 0 {
		close(idle)
	} else {
		q.idle = idle
	}
	q.mu.Unlock()
	bye.Bye = true
	q.beat(bye)
	close(q.leave)
	q.hint()
	var late error
	select {
	case <-idle:
	case <-ctx.Done():
		q.mu.Lock()
		if left = q.live; left > 0 {
			late = fmt.Errorf("queue: %d calls were interrupted by the shutdown: %w", left, context.Cause(ctx))
		}
		q.mu.Unlock()
	}
	defer context.AfterFunc(ctx, func() { close(q.stop) })()
	jobs := q.local.Drain(ctx)
	<-idle
	done := make(chan struct{})
	go func() { q.tasks.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		select {
		case <-done:
		case <-time.After(answerIn):
		}
	}
	q.kill()
	q.awake()
	<-done
	q.loops.Wait()
	q.unlisten()
	return cmp.Or(late, jobs)
}
