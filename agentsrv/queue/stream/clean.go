package stream

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// atOnce is how many messages one look is about.
const atOnce = 32

// clean takes out the messages of calls that are over. A server that was killed may have forgotten that they left the stream: no consumer
// is given them again, and they would take the room of others for as long as the stream keeps messages. It goes on beside the heartbeats, which
// must not wait for a slow server, one at a time, and ends with the queue.
func (q *Queue) clean(subjects map[string]int) {
	if q.cleaning.Swap(true) {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	q.loops.Go(func() {
		defer cancel()
		q.cleanAll(ctx, subjects)
		q.cleaning.Store(false)
	})
	q.loops.Go(func() {
		select {
		case <-q.end:
			cancel()
		case <-ctx.Done():
		}
	})
}

func (q *Queue) cleanAll(ctx context.Context, subjects map[string]int) {
	now := time.Now()
	for subject := range q.known {
		if subjects[subject] == 0 {
			delete(q.known, subject)
		}
	}
	n := 0
	for subject := range subjects {
		switch since, known := q.known[subject]; {
		case !known:
			q.known[subject] = now
		case now.Sub(since) > 3*q.o.ackWait && n < atOnce && ctx.Err() == nil:
			n++
			q.known[subject] = now
			if err := q.cleanOne(ctx, subject); err != nil {
				q.log.Debug("queue: cannot look at a call in the stream", "subject", subject, "err", err)
			}
		}
	}
}

// cleanOne takes out the message of a subject if its call is over: as a task, or because nobody waits for it any more
// that has no record. So it does if the call had left the stream before it was over, which it does once it asks its client something.
func (q *Queue) cleanOne(ctx context.Context, subject string) error {
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	s, err := q.js.Stream(ctx, q.names.stream)
	if err != nil {
		return err
	}
	raw, err := s.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return err
	}
	var m message
	if err := json.Unmarshal(raw.Data, &m); err != nil {
		return err
	}
	over, known := false, m.Task != ""
	if known && q.o.Over != nil {
		if over, known, err = q.o.Over(ctx, m.Task); err != nil {
			return err
		}
	}
	if !over && (known || q.hasWaiter(m)) {
		if left, err := q.leftBefore(ctx, subject, raw.Sequence); !left || err != nil {
			return err
		}
	}
	return q.remove(ctx, raw.Sequence)
}

// leftBefore reports that a call left the stream already: its consumer knows that, whatever the stream has.
func (q *Queue) leftBefore(ctx context.Context, subject string, seq uint64) (bool, error) {
	l, ok := q.names.lineOf(subject)
	if !ok {
		return false, nil
	}
	c, err := q.js.Consumer(ctx, q.names.stream, l.consumer())
	if errors.Is(err, jetstream.ErrConsumerNotFound) { // a new one gives all there is
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return c.CachedInfo().AckFloor.Stream >= seq, nil
}

// hasWaiter reports that somebody waits for the end of a call.
func (q *Queue) hasWaiter(m message) bool {
	if m.Origin != q.me {
		return q.Alive(m.Origin)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.calls[m.ID] != nil
}
