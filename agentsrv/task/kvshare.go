package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// announce shows that the replica is alive, and finds out what the server's clock says.
func (k *kvTable) announce(ctx context.Context) error {
	kv, _, _ := k.handles()
	before := k.clock()
	rev, err := kv.Put(ctx, presenceKey(k.replica), nil)
	if err != nil {
		return err
	}
	between := before.Add(k.clock().Sub(before) / 2)
	e, err := kv.Get(ctx, presenceKey(k.replica))
	if err == nil && e.Revision() == rev {
		k.read.Store(&reading{e.Created(), between})
	}
	return err
}

// heartbeat makes the bucket anew where the server has lost it, with all tasks; the ones that run here then end as interrupted. What deletions of this replica
// left in the bucket is erased once everybody has heard of them.
func (k *kvTable) heartbeat(ctx context.Context, gone time.Duration) (open []*record, err error) {
	defer k.explainErr(&err)
	err = k.announce(ctx)
	if errors.Is(err, jetstream.ErrNoStreamResponse) || errors.Is(err, jetstream.ErrStreamNotFound) || isNotFound(err) {
		k.log.Error("tasks: the bucket is gone, and with it all tasks; it is made anew", "server", k.conn.Where(), "err", err)
		if err := k.connect(ctx); err != nil {
			return nil, err
		}
		err = k.announce(ctx)
	}
	if err != nil {
		return nil, err
	}
	alive := map[string]bool{}
	for _, e := range k.index.all(func(e entryAt) bool { return !e.newer && !e.State.isTerminal() && (gone > 0 || e.Origin == k.replica) }) {
		there, looked := alive[e.Origin]
		if !looked && e.Origin != k.replica {
			if there, err = k.alive(ctx, e.Origin, gone); err != nil {
				return nil, err
			}
			alive[e.Origin] = there
		}
		if there {
			continue
		}
		open = append(open, e.record())
	}
	for _, id := range k.index.takeOldMarkers() {
		k.erase(ctx, stateKey(id))
	}
	return open, nil
}

// alive reports whether another replica is.
func (k *kvTable) alive(ctx context.Context, replica string, gone time.Duration) (bool, error) {
	kv, _, _ := k.handles()
	e, err := kv.Get(ctx, presenceKey(replica))
	if isNotFound(err) {
		return false, nil
	}
	return err == nil && k.now().Sub(e.Created()) <= gone, err
}

// letter is what goes to the replica that has a task.
type letter struct {
	ID      string                     `json:"id"`
	Answers map[string]json.RawMessage `json:"answers"`
}

// answer waits until the other replica has the answers: a message that nobody takes is an error, and the client can try again.
func (k *kvTable) answer(ctx context.Context, r *record, answers map[string]json.RawMessage) error {
	raw, err := json.Marshal(letter{r.ID, answers})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, statementTimeout/2)
	defer cancel()
	if _, err = k.conn.NATS().RequestWithContext(ctx, k.subject(r.Origin), raw); errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("nats: the replica that has the task is gone: %s: %w", r.Origin, err)
	}
	return err
}

// fetchAnswers does nothing: deliver gets answers as messages.
func (k *kvTable) fetchAnswers(context.Context) error { return nil }

// deliver takes answers that another replica got.
func (k *kvTable) deliver(m *nats.Msg) {
	var l letter
	if err := json.Unmarshal(m.Data, &l); err != nil {
		k.log.Warn("tasks: answers from another replica cannot be read", "err", err)
		return
	}
	k.listener.handleAnswers(l.ID, l.Answers)
	_ = m.Respond(nil)
}

// wait is woken by the index. It looks for itself now and then, since a watcher can lose its connection, and what came meanwhile.
func (k *kvTable) wait(ctx context.Context, id string) (*record, error) {
	for {
		news := k.index.addWaiter(id)
		r, err := k.get(ctx, id)
		if err != nil || r == nil || r.State.isTerminal() {
			k.index.removeWaiter(id, news)
			return r, err
		}
		select {
		case <-news:
		case <-time.After(lookAgain):
			k.index.removeWaiter(id, news)
		case <-ctx.Done():
			k.index.removeWaiter(id, news)
			return nil, context.Cause(ctx)
		}
	}
}
