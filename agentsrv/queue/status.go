package queue

import (
	"context"
	"fmt"
	"time"
)

// statusEvery is the shortest time between two calls of Options.Changed.
const statusEvery = 50 * time.Millisecond

// Status is what the queue does now.
type Status struct {
	Queued      int `json:"queued"`      // waiting for a slot
	Running     int `json:"running"`     // holding one
	Concurrency int `json:"concurrency"` // how many slots there are
	Waiting     int `json:"waiting"`     // begun, and without a slot while they wait for a client or another agent
	Capacity    int `json:"capacity"`    // how many may be queued, -1 for any number
	Abandoned   int `json:"abandoned"`   // were cancelled and still run

	Shared *Shared `json:"shared,omitempty"` // nil where nobody else has this queue
}

// Shared is what all processes that share a queue have together.
type Shared struct {
	Engine      string   `json:"engine"`
	Server      string   `json:"server"`              // where it is, without what is secret
	Connected   bool     `json:"connected"`           // to it; if not, the numbers are those of before
	Replica     string   `json:"replica"`             // this process
	Replicas    int      `json:"replicas"`            // that are there, this one among them
	Queued      int      `json:"queued"`              // calls that wait in all of them
	Running     int      `json:"running"`             // calls that run in any of them
	Concurrency int      `json:"concurrency"`         // slots of all
	Capacity    int      `json:"capacity"`            // calls that may wait in all of them, -1 for any number
	Different   []string `json:"different,omitempty"` // replicas of this name with other tools or another version: they have calls of their own
}

// Status is a snapshot.
func (q *Queue) Status() Status {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.status()
}

// status is Status; mu is held. A job that began, yielded its slot and wants it back counts as queued, and as waiting only before that.
func (q *Queue) status() Status {
	again := q.resume.Len()
	return Status{
		Queued: q.queued + again, Running: q.running, Concurrency: q.opts.Concurrency,
		Waiting: q.yielding - again, Capacity: q.opts.Capacity, Abandoned: q.abandoned,
	}
}

// notifyChange schedules a call of Options.Changed, one for many changes; q.mu is held.
func (q *Queue) notifyChange() {
	if q.opts.Changed == nil || q.notifying || q.draining {
		return
	}
	q.notifying = true
	if q.teller == nil {
		q.teller = time.AfterFunc(statusEvery, q.report)
	} else {
		q.teller.Reset(statusEvery)
	}
}

// report passes on the status if it changed.
func (q *Queue) report() {
	q.mu.Lock()
	now := q.status()
	news := now != q.reported
	q.reported = now
	q.mu.Unlock()
	if news {
		q.opts.Changed(now)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notifying = false
	if q.status() != q.reported {
		q.notifyChange()
	}
}

// Drain ends the queue: no job is accepted any more, those that were have until ctx ends, and then are cancelled. It
// returns once Do has returned for all of them, at most Options.Grace after ctx, with an error if some had to be stopped.
func (q *Queue) Drain(ctx context.Context) error {
	defer q.workers.Close()
	q.mu.Lock()
	q.draining = true
	if q.teller != nil {
		q.teller.Stop()
	}
	if q.live == 0 {
		q.mu.Unlock()
		return nil
	}
	if q.idle == nil {
		q.idle = make(chan struct{})
	}
	idle := q.idle
	q.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	q.mu.Lock()
	left := q.live
	if !q.stopped {
		q.stopped = true
		close(q.stop)
	}
	q.mu.Unlock()
	<-idle
	if left == 0 {
		return nil
	}
	return fmt.Errorf("queue: %d calls were interrupted by the shutdown: %w", left, context.Cause(ctx))
}

// leave is the end of one Do.
func (q *Queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.live--; q.live == 0 && q.idle != nil {
		close(q.idle)
	}
}
