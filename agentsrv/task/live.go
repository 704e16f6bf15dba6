package task

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// task is a call that runs: not yet a task, or one. It stays one in memory until the store has how it ended.
//
// Three goroutines meet here: the one of its call (run), that of its client until it is a task (awaitTask), and those of requests about it. What they
// agree on is under mu: claimed is set by whoever makes it a task, ended by the call that was quicker.
type task struct {
	s      *Service
	x      *front.Exchange         // the call
	how    mode                    // set once
	cancel context.CancelCauseFunc // of the call; set before it runs
	events chan event              // to the call that waits, of which nobody reads any more once it is a task
	done   chan struct{}           // closed when the state is over
	saved  chan struct{}           // closed when a store of this process alone was told how it ended

	mu        sync.Mutex    // guards what follows, but for settling
	rec       record        // ID, Tool, Owner, Created and Expires never change, and are read without mu
	claimed   bool          // it is a task
	persisted bool          // the table was asked to keep it
	dirty     bool          // a shared table does not know how far it is
	saving    bool          // but is told
	earlyEnd  func(*record) // how it ended before a shared table had a record of it; endPersisted writes it

	settling     atomic.Bool // settleWithRetry runs for it
	ended        bool        // it ended before it was one, with result and err
	result       json.RawMessage
	err          error
	host         *front.Exchange // whose stream carries what is sent about the call, nil for none
	log          logTail
	logged       time.Time                  // when the store last got it
	openRequests map[string][]byte          // questions of a legacy handler without an answer, by their id: whole frames
	openKeys     map[string]string          // questions of a modern handler without an answer: its own key by the one it has on the wire
	usedKeys     map[string]bool            // keys on the wire so far
	answers      map[string]json.RawMessage // answers by the handler's own keys
	resume       chan struct{}              // gets one when all are answered

	// Guarded by Service.mu.
	inserted  bool  // the store has it
	heldBytes int64 // bytes of the end that the table did not take; part of unsavedUsage
	expired   bool  // its time is over, or it gave way to another one
}

// event is what happens to a call while its client waits.
type event int

const (
	accepted   event = iota // the queue has it
	needsInput              // it needs input, and asks for that as a task
	ended
)

// emit tells the client's goroutine, if it still waits. It never blocks.
func (t *task) emit(e event) {
	select {
	case t.events <- e:
	default:
	}
}

// newTask makes the task of a call, which runs nothing and is nobody's yet. Its id is the secret by which callers without a token find it, so it is random.
func (s *Service) newTask(ctx context.Context, x *front.Exchange, tool string, how mode) *task {
	now := s.table.now()
	host := x
	if how.now { // its client will listen elsewhere
		host = nil
	}
	return &task{
		s: s, x: x, how: how, host: host,
		events: make(chan event, 8), done: make(chan struct{}), saved: make(chan struct{}), resume: make(chan struct{}, 1), logged: time.Now(),
		rec: record{
			ID: rand.Text(), Tool: tool, Owner: ownerOf(ctx), Created: now, Updated: now, Expires: now.Add(how.ttl), State: pending,
			Modern: x.Modern, Origin: s.replica,
		},
	}
}

// snapshot is what is known now.
func (t *task) snapshot() *record {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.rec
	r.Inputs = maps.Clone(r.Inputs)
	r.Log = append([]byte(nil), t.log.bytes()...)
	return &r
}

// visibleRecord returns what clients are told of the task. An end is shown only once the table has it: a process that is killed before that would report another end later.
func (t *task) visibleRecord(ctx context.Context) (*record, error) {
	r := t.snapshot()
	if !r.State.isTerminal() || t.s.table.isShared() {
		return r, nil
	}
	select {
	case <-t.saved:
		return r, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// setState changes the state of a task that is not over, saves it and notifies the client. A nil inputs leaves the questions as they are.
func (t *task) setState(s state, message string, inputs map[string]json.RawMessage) {
	t.mu.Lock()
	if t.rec.State.isTerminal() || t.rec.State == s && inputs == nil {
		t.mu.Unlock()
		return
	}
	t.rec.State, t.rec.Message, t.rec.Updated = s, message, t.s.table.now()
	if inputs != nil {
		t.rec.Inputs = inputs
	}
	kept, now := t.persisted, t.rec
	t.mu.Unlock()
	if kept {
		t.announce(&now)
		t.save()
	}
}

// announce sends notifications/tasks/status, in the legacy era.
func (t *task) announce(r *record) {
	if t.how.legacy && t.x.Session != nil {
		_ = t.x.Session.Notify(string(mcp.MethodNotificationTasksStatus), r.legacy(t.s.o.Poll)) // fails for an ended session, which does not matter
	}
}

// claim makes the call a task, unless it ended already.
func (t *task) claim() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return false
	}
	t.claimed, t.host = true, nil
	return true
}

// becomeTask makes the call that ended a task after all, unless it may ask first and does.
func (t *task) becomeTask() bool {
	if asks, _ := inputRequests(t.result); asks != nil && t.err == nil && !t.how.now {
		return false
	}
	t.mu.Lock()
	t.claimed, t.host = true, nil
	t.mu.Unlock()
	t.endWith(t.result, t.err)
	return true
}

// forward takes what is sent about the call.
func (t *task) forward(frame []byte) error {
	e, err := jsonrpc.Scan(frame)
	if err != nil {
		return fmt.Errorf("task: %w", err)
	}
	t.mu.Lock()
	host, claimed := t.host, t.claimed || t.how.now
	if e.Kind == jsonrpc.Request && claimed {
		if t.openRequests == nil {
			t.openRequests = map[string][]byte{}
		}
		t.openRequests[string(e.ID)] = frame
	}
	t.mu.Unlock()
	if e.Kind == jsonrpc.Notification {
		t.logNotification(e)
	} else if claimed {
		t.setState(inputRequired, "waits for the answer to "+e.Method, nil)
	}
	if claimed && t.how.legacy {
		frame = addRelatedTask(frame, t.rec.ID)
	}
	switch {
	case host != nil:
		err = host.Send(frame)
		if err != nil && !claimed && e.Kind == jsonrpc.Notification { // it may have become a task meanwhile, which ends the stream
			t.mu.Lock()
			claimed = t.claimed
			t.mu.Unlock()
		}
		if claimed && err != nil { // the next tasks/result gets the questions
			return nil
		}
		return err
	default: // nobody listens; what is worth it is in the log, and questions wait
		return nil
	}
}

// attach makes x's stream carry what is sent about the task, questions that wait for an answer first. The result undoes
// that.
func (t *task) attach(x *front.Exchange) func() {
	t.mu.Lock()
	t.host = x
	waiting := maps.Clone(t.openRequests)
	t.mu.Unlock()
	for _, frame := range waiting {
		_ = x.Send(addRelatedTask(frame, t.rec.ID)) // a stream that broke ends the request too
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.host == x {
			t.host = nil
		}
	}
}

// started and waiting are what the queue tells.
func (t *task) started() { t.setState(running, "", nil) }

// waiting tells that a handler begins or ends to wait for its client's answer. All questions of a handler are answered once it goes on.
func (t *task) waiting(begins bool) {
	if begins {
		return
	}
	t.mu.Lock()
	back := t.rec.State == inputRequired
	t.openRequests = nil
	t.mu.Unlock()
	if back {
		t.setState(running, "", nil)
	}
}

// logNotification appends a notification to the log. Progress also becomes the status message of a running task, whose client
// may have no stream that it could arrive on.
func (t *task) logNotification(e jsonrpc.Envelope) {
	line, progress := logLine(e)
	if line == nil {
		return
	}
	t.mu.Lock()
	if progress != "" && t.rec.State == running {
		t.rec.Message, t.rec.Updated = progress, t.s.table.now()
	}
	t.log.add(line)
	now := time.Now()
	due := t.persisted && now.Sub(t.logged) > time.Second
	if due {
		t.logged = now
	}
	t.mu.Unlock()
	switch {
	case t.s.table.isShared():
		t.save()
	case due:
		t.write()
	}
}
