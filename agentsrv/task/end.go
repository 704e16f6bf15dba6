package task

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
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
func (t *task) end(ctx context.Context, how func(*record)) (bool, error) {
	t.mu.Lock()
	if t.rec.State.over() {
		t.mu.Unlock()
		return false, nil
	}
	kept := t.kept
	if !kept && t.s.table.isShared() { // keep does it, once there is a record
		first := t.early == nil
		if first {
			t.early = how
		}
		t.mu.Unlock()
		return first, nil
	}
	now := t.rec
	now.Inputs, now.Updated = nil, t.s.table.now()
	how(&now)
	if !kept || !t.s.table.isShared() {
		t.ends(&now)
		t.mu.Unlock()
		if kept {
			t.s.settle(t)
			t.announce(&now)
		}
		return true, nil
	}
	now.Log = append([]byte(nil), t.log.bytes()...)
	t.mu.Unlock()
	t.deciding.Store(true)
	defer t.deciding.Store(false)
	end, won, err := t.s.decide(ctx, &now)
	if err == nil {
		t.adopt(end)
	}
	return won, err
}

// ends is the end of the task, which is not over; t.mu is held.
func (t *task) ends(end *record) {
	t.rec.take(end)
	t.open, t.asked = nil, nil
	close(t.done)
}

// adopt ends the task as the table says.
func (t *task) adopt(end *record) {
	t.mu.Lock()
	over, early := t.rec.State.over(), t.early != nil
	if !over {
		t.ends(end)
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

// decide ends a task in a shared table, however long that takes, or until ctx or the service ends.
func (s *Service) decide(ctx context.Context, r *record) (end *record, won bool, err error) {
	for complained := false; ; complained = true {
		once, cancel := context.WithTimeout(ctx, statementTimeout)
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

// keep makes the call that became a task one that others find.
func (s *Service) keep(t *task) error {
	s.mu.Lock()
	s.live[t.rec.ID] = t
	s.arm(t.rec.Expires)
	s.mu.Unlock()
	r := t.snapshot()
	if r.State.over() { // the end comes by settle
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
		add(s.own, t.rec.Owner.Tenant, usage{tasks: -1})
		s.mu.Unlock()
	}
	t.mu.Lock()
	t.kept = true
	over, early := t.rec.State.over(), t.early
	t.mu.Unlock()
	switch {
	case early != nil:
		s.late(t, early)
	case over:
		s.settle(t)
	default:
		t.save()
	}
	return nil
}

// late ends a task that ended before it had a record in a shared table. Its client hears of it as a task that goes on if that takes long.
func (s *Service) late(t *task, how func(*record)) {
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

// settle hands how a task ended to the store. What that does not take stays in memory.
func (s *Service) settle(t *task) {
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
		t.gone = true
	case !t.gone:
		add(s.own, r.Owner.Tenant, usage{bytes: r.size()})
		t.held = r.size()
	}
}

// save has a shared table learn how far the task is, soon.
func (t *task) save() {
	if !t.s.table.isShared() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dirty = t.kept
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
		if !t.dirty || t.rec.State.over() {
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
	return r != nil && r.State.over(), r != nil, err
}

// Settle ends the task of that id with what its job came to, if it is one and not over. A result that asks for input ends nothing.
func (s *Service) Settle(ctx context.Context, id string, result json.RawMessage, err error) error {
	r, lost := s.table.get(ctx, id)
	if lost != nil || r == nil || r.State.over() {
		return lost
	}
	if asks, _ := questions(result); asks != nil && err == nil {
		return nil
	}
	r.Updated = s.table.now()
	s.outcome(r, result, err)
	_, _, lost = s.table.settle(ctx, r)
	return lost
}
