package task

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// coalesce is how long what happens to a task is collected for one write of a shared table, and pause how long the next write
// waits, and an end that the table did not take.
const (
	coalesce = 20 * time.Millisecond
	pause    = 250 * time.Millisecond
)

// outcome makes r the record of a call that ended.
func (s *Service) outcome(r *record, result json.RawMessage, err error) {
	if n := int64(len(result)); n > s.o.MaxValue {
		result, err = nil, jsonrpc.Errorf(jsonrpc.KindTooLarge, "the result has %d bytes, more than the %d that a task keeps; ask for less, or call without a task", n, s.o.MaxValue)
	}
	if err == nil {
		r.State, r.Message, r.Result, r.ToolError = completed, "", result, string(jsonrpc.Get(result, "isError")) == "true"
		return
	}
	problem := s.problem(r, err)
	r.State, r.Message, r.Error = failed, problem.Message, problem
}

// problem is what a task says that ended without a result.
func (s *Service) problem(r *record, err error) *jsonrpc.Error {
	if f, ok := jsonrpc.AsRequestError(err); ok {
		return f.RPC(r.Modern)
	}
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return rpc
	}
	s.o.Logger.Error("a task failed", "tool", r.Tool, "err", err)
	return jsonrpc.Errorf(jsonrpc.KindInternal, "internal error").RPC(r.Modern)
}

// cancelledBy is the end of a task that a client cancels.
func cancelledBy(r *record) {
	r.State, r.Message = cancelled, "The task was cancelled by request."
}

// end ends the task as how says, unless it is over; false if it was. The end of a task that others see is what their table
// says it is, which is tried until ctx or the service ends.
//
// how changes a copy of the record and may be called later, or not at all: in a shared table another replica's end may have come first.
func (t *task) end(ctx context.Context, how func(*record)) (bool, error) {
	t.mu.Lock()
	if t.rec.State.isTerminal() {
		t.mu.Unlock()
		return false, nil
	}
	kept := t.persisted
	if !kept && t.s.table.isShared() { // keep does it, once there is a record
		first := t.earlyEnd == nil
		if first {
			t.earlyEnd = how
		}
		t.mu.Unlock()
		return first, nil
	}
	now := t.rec
	now.Inputs, now.Updated = nil, t.s.table.now()
	how(&now)
	if !kept || !t.s.table.isShared() {
		t.applyEnd(&now)
		t.mu.Unlock()
		if kept {
			t.s.storeEnd(t)
			t.announce(&now)
		}
		return true, nil
	}
	now.Log = append([]byte(nil), t.log.bytes()...)
	t.mu.Unlock()
	t.settling.Store(true)
	defer t.settling.Store(false)
	end, won, err := t.s.settleWithRetry(ctx, &now)
	if err == nil {
		t.adoptEnd(end)
	}
	return won, err
}

// applyEnd makes end the final state of a task that is not over yet, and wakes who waits for it; t.mu is held.
func (t *task) applyEnd(end *record) {
	t.rec.copyEnd(end)
	t.openRequests, t.openKeys = nil, nil
	close(t.done)
}

// adoptEnd ends the task here as the table says that it ended, which may be otherwise than this replica would have it.
func (t *task) adoptEnd(end *record) {
	t.mu.Lock()
	over, early := t.rec.State.isTerminal(), t.earlyEnd != nil
	if !over {
		t.applyEnd(end)
	}
	t.mu.Unlock()
	if over {
		return
	}
	if !early { // its client has not heard of a task yet
		t.announce(end)
	}
	t.cancel(jsonrpc.Errorf(jsonrpc.KindCancelled, "the task is over: %s", end.State))
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	if t.s.live[end.ID] == t {
		delete(t.s.live, end.ID)
	}
}

// settleWithRetry ends a task in a shared table. It tries again until that works, the task expires, or ctx or the service ends.
func (s *Service) settleWithRetry(ctx context.Context, r *record) (end *record, won bool, err error) {
	for complained := false; ; complained = true {
		once, cancel := context.WithTimeout(ctx, statementTimeout+natsconn.TransferTime(len(r.Result)))
		end, won, err = s.table.settle(once, r)
		cancel()
		if err == nil {
			if end == nil { // it expired, or gave way
				end = r
			}
			return end, won, nil
		}
		if !complained {
			s.o.Logger.Error("cannot save the end of a task: it shows as running until that works", "task", r.ID, "err", err)
		}
		select {
		case <-s.stop:
			return nil, false, err
		case <-ctx.Done():
			return nil, false, err
		case <-time.After(pause):
		}
		if !s.table.now().Before(r.Expires) {
			return r, false, nil
		}
	}
}

// persist stores the call that became a task, so that other requests, and other replicas of a shared table, find it.
func (s *Service) persist(t *task) error {
	s.mu.Lock()
	s.live[t.rec.ID] = t
	s.arm(t.rec.Expires)
	s.mu.Unlock()
	r := t.snapshot()
	if r.State.isTerminal() { // the end comes by storeEnd
		r.State = running
	}
	ctx, cancel := context.WithTimeout(context.Background(), awaitServer+statementTimeout)
	err := s.table.insert(ctx, r)
	cancel()
	switch {
	case err != nil && s.table.isShared():
		s.o.Logger.Error("cannot save a task: it is refused", "err", err)
		s.mu.Lock()
		s.drop(t.rec.ID, t)
		s.mu.Unlock()
		return errNotSaved(err)
	case err != nil:
		s.o.Logger.Error("cannot save a task: it is in memory only", "err", err)
	default:
		s.mu.Lock()
		t.inserted = true
		add(s.unsavedUsage, t.rec.Owner.Tenant, usage{tasks: -1})
		s.mu.Unlock()
	}
	t.mu.Lock()
	t.persisted = true
	over, early := t.rec.State.isTerminal(), t.earlyEnd
	t.mu.Unlock()
	switch {
	case early != nil:
		s.endPersisted(t, early)
	case over:
		s.storeEnd(t)
	default:
		t.save()
	}
	return nil
}

// endPersisted writes the end of a task whose call ended before it had a record in a shared table. It waits for that no longer than pause: the client then sees a task that still runs.
func (s *Service) endPersisted(t *task, how func(*record)) {
	stored := make(chan struct{})
	s.work.Go(func() {
		defer close(stored)
		_, _ = t.end(context.Background(), how) // fails when the service stops
	})
	soon := time.NewTimer(pause)
	defer soon.Stop()
	select {
	case <-stored:
	case <-soon.C:
	}
}

// errNotSaved refuses a task that no other replica would know of.
func errNotSaved(err error) error {
	f := jsonrpc.Errorf(jsonrpc.KindInternal, "cannot keep the task: its store does not answer or has no room; call again later%w", jsonrpc.Hidden(err))
	f.RetryAfter = time.Second
	return f
}

// storeEnd writes how a task ended to a table of this process alone. An end that the table does not take stays in memory until the task expires.
func (s *Service) storeEnd(t *task) {
	defer close(t.saved)
	r := t.snapshot()
	s.mu.Lock()
	inserted := t.inserted
	s.mu.Unlock()
	kept, evicted := false, false
	if inserted {
		ctx, cancel := statement()
		end, _, err := s.table.settle(ctx, r)
		cancel()
		kept = end != nil
		evicted = !kept && err == nil
		if err != nil {
			s.o.Logger.Error("cannot save the end of a task: it is in memory only", "err", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case kept:
		delete(s.live, r.ID)
	case evicted: // it had ended when it was inserted
		delete(s.live, r.ID)
		t.expired = true
	case !t.expired:
		add(s.unsavedUsage, r.Owner.Tenant, usage{bytes: r.size()})
		t.heldBytes = r.size()
	}
}

// save has a shared table learn how far the task is, soon.
func (t *task) save() {
	if !t.s.table.isShared() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dirty = t.persisted
	if t.saving || !t.dirty {
		return
	}
	t.saving = true
	t.s.work.Go(t.saver)
}

// saver writes until there is nothing to write for a while.
func (t *task) saver() {
	for wait := time.Duration(coalesce); ; wait = pause {
		select {
		case <-t.done:
		case <-t.s.stop:
		case <-time.After(wait):
		}
		t.mu.Lock()
		if !t.dirty || t.rec.State.isTerminal() {
			t.saving = false
			t.mu.Unlock()
			return
		}
		t.dirty = false
		t.mu.Unlock()
		t.write()
	}
}

// write has the table learn how far the task is.
func (t *task) write() {
	ctx, cancel := statement()
	defer cancel()
	if err := t.s.table.update(ctx, t.snapshot()); err != nil && !errors.Is(err, errOver) {
		t.s.o.Logger.Warn("cannot save how far a task is", "err", err)
	}
}

// Over reports whether the task of that id is over, so that a job for it need not begin, and whether there is one: not yet, or not any more.
func (s *Service) Over(ctx context.Context, id string) (over, known bool, err error) {
	r, err := s.table.get(ctx, id)
	return r != nil && r.State.isTerminal(), r != nil, err
}

// Settle ends the task of that id with what its job came to, if it is one and not over. A result that asks for input ends nothing.
func (s *Service) Settle(ctx context.Context, id string, result json.RawMessage, err error) error {
	r, lost := s.table.get(ctx, id)
	if lost != nil || r == nil || r.State.isTerminal() {
		return lost
	}
	if asks, _ := inputRequests(result); asks != nil && err == nil {
		return nil
	}
	r.Updated = s.table.now()
	s.outcome(r, result, err)
	_, _, lost = s.table.settle(ctx, r)
	return lost
}
