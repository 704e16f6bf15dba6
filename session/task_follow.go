package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/failure"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

const (
	maxRefusals  = 5               // errors of the server in a row after which a task is not followed any more
	maxQuestions = 32              // that one task asks while it is followed, answered ones included
	expiredGrace = 5 * time.Second // past a task's time to live, by this machine's clock, until it is given up
)

// observe asks for a task's status at the server's interval until it is over, and has its questions answered. It runs on the goroutine of the
// follower f, and gives what f.last and f.err get: a reply with a frame only where the outcome came with it. A lost connection is waited for,
// since the task outlives it; what ends the watching is the task's end, an answer that makes no sense, or that it is forgotten.
func (s *Session) observe(ctx context.Context, f *follower, id string) (rpc.Reply, error) {
	ctx, stop := context.WithCancel(ctx)
	q := &taskQuestions{s: s, id: id, asked: map[string]context.CancelFunc{}, over: make(chan questionDone)}
	defer q.wg.Wait()
	defer stop()
	failures, refusals := 0, 0
	for n := 1; ; n++ {
		t, known := s.tasks.table.Get(id)
		switch {
		case !known:
			return rpc.Reply{}, &failure.Error{Kind: failure.Interrupted, Message: "the task is not followed any more"}
		case t.Status.Over():
			return rpc.Reply{}, nil
		}
		pause := t.Wait(n)
		if failures > 0 {
			pause = max(pause, failure.Backoff(failures, time.Second, 30*time.Second))
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-f.wake:
		case d := <-q.over:
			timer.Stop()
			switch {
			case d.err != nil:
				return rpc.Reply{}, d.err
			case d.result != nil:
				s.getTaskQuietly(ctx, id)
				return *d.result, nil
			}
			n, q.held = 0, false
			continue // it was answered: the server gets its interval to take that in
		case <-ctx.Done():
			timer.Stop()
			return rpc.Reply{}, failure.Wrap(ctx.Err(), s.Title(), "")
		}
		timer.Stop()
		r, now, err := s.getTask(ctx, id, CallOptions{})
		var e *failure.Error
		switch {
		case err == nil:
			failures, refusals = 0, 0
		case failure.KindOf(err) == failure.NotFound:
			s.tasks.table.Update(id, func(t *tasks.Task) { t.Status = tasks.Unknown })
			return r, err
		case failure.KindOf(err) == failure.Protocol, s.cfg.NoReconnect && failure.KindOf(err) != failure.RpcError:
			return r, err
		case errors.As(err, &e) && e.Code != nil:
			if refusals++; refusals == maxRefusals {
				return r, err
			}
			fallthrough
		default:
			failures++
			s.tasks.table.Update(id, func(t *tasks.Task) { t.Problem = err })
			f.notifyWatchers()
			s.notifyChange()
			continue
		}
		if now.Status != t.Status || now.Message != t.Message || t.Problem != nil {
			n = 0
			f.notifyWatchers()
			s.notifyChange()
		}
		switch {
		case now.Status.Over() && now.Modern:
			return r, nil
		case now.Status.Over() && q.held: // its answer is on the way
			select {
			case d := <-q.over:
				if d.result != nil {
					return *d.result, nil
				}
			case <-ctx.Done():
			}
			return rpc.Reply{}, nil
		case now.Status.Over():
			return rpc.Reply{}, nil
		case now.Status == tasks.InputRequired && now.Modern:
			err = q.ask(ctx, jsonrpc.Get(r.Result, "inputRequests"))
		case now.Status == tasks.InputRequired:
			q.hold(ctx)
		}
		if until, limited := now.Expires(); err == nil && limited && time.Since(until) > expiredGrace {
			err = &failure.Error{
				Kind: failure.Timeout, Server: s.Title(), Message: fmt.Sprintf("the task is not over, and its time to live of %v has passed", now.TTL),
				Next: "call the tool again, or cancel the task",
			}
		}
		if err != nil {
			return r, err
		}
	}
}

// getTaskQuietly brings the table up to date with a task whose outcome is known already.
func (s *Session) getTaskQuietly(ctx context.Context, id string) {
	if _, _, err := s.getTask(ctx, id, CallOptions{}); err != nil {
		s.tasks.table.Update(id, func(t *tasks.Task) {
			if !t.Status.Over() {
				t.Status = tasks.Completed
			}
		})
	}
}

// taskNotified takes what a server says of tasks unasked.
func (s *Session) taskNotified(c *conn, method string, params []byte) {
	switch method {
	case "notifications/tasks/status", "notifications/tasks":
		t, err := tasks.Parse(params, method == "notifications/tasks")
		if err != nil {
			return // the journal has it
		}
		if _, known := s.tasks.table.Get(t.ID); !known {
			return
		}
		if t.Status != tasks.Working { // over, or it asks something: what comes of that is fetched
			s.wakeTask(t.ID)
			return
		}
		if _, changed := s.tasks.table.Put(t, time.Now()); changed {
			s.taskChanged(t.ID)
		}
	case "notifications/progress":
		id, ok := s.tasks.table.ByToken(c.id, string(jsonrpc.Get(params, "progressToken")))
		if !ok {
			return
		}
		s.tasks.table.Update(id, func(t *tasks.Task) { t.Progress = t.Progress.Next(params) })
		s.taskChanged(id)
	}
}

// taskQuestions are what one task asks. Only the goroutine of observe uses them, but for over and wg.
type taskQuestions struct {
	s     *Session
	id    string
	asked map[string]context.CancelFunc // by key of inputRequests: withdraws the question. Keys stay, for none is asked twice
	over  chan questionDone             // unbuffered: what is answered waits until observe takes it
	held  bool                          // tasks/result was asked for before the task is over, and is not answered yet
	wg    sync.WaitGroup                // the questions and that request; observe waits for them
}

// questionDone is a question that was answered, or the end of a held tasks/result.
type questionDone struct {
	result *rpc.Reply // of tasks/result
	err    error      // the task cannot be followed any more
}

// end gives d to observe, unless the task is not followed any more.
func (q *taskQuestions) end(ctx context.Context, d questionDone) {
	select {
	case q.over <- d:
	case <-ctx.Done():
	}
}

// ask has the questions of an extension's task answered that were not asked yet, and withdraws those that are gone.
func (q *taskQuestions) ask(ctx context.Context, requests []byte) error {
	open := map[string]bool{}
	var problem error
	err := jsonrpc.Members(requests, func(key string, request []byte) bool {
		open[key] = true
		if _, again := q.asked[key]; again {
			return true
		}
		if len(q.asked) == maxQuestions {
			problem = &failure.Error{
				Kind: failure.Protocol, Server: q.s.Title(), Message: fmt.Sprintf("the task asked more than %d questions", maxQuestions), Next: "see what was exchanged", Remedy: failure.SeeTraffic,
			}
			return false
		}
		one, cancel := context.WithCancel(ctx)
		q.asked[key] = cancel
		t, _ := q.s.tasks.table.Get(q.id)
		x := pending.Question{Key: key, Method: jsonrpc.GetString(request, "method"), Params: bytes.Clone(jsonrpc.Get(request, "params")), Cause: causeOf(t)}
		q.s.askInTurn(one, &q.wg, func(turn context.Context) {
			result, fault, err := q.s.answer(turn, x)
			q.wg.Go(func() { q.sendAnswer(ctx, one, x, result, fault, err) })
		})
		return true
	})
	if err != nil {
		return &failure.Error{Kind: failure.Protocol, Server: q.s.Title(), Message: "the task's inputRequests is not an object: " + err.Error(), Err: err, Next: "see the answer as it was sent", Remedy: failure.SeeTraffic}
	}
	for key, cancel := range q.asked {
		if !open[key] && cancel != nil {
			cancel()
		}
	}
	return problem
}

// sendAnswer sends the answer to a question. ctx ends with the task, one with the question.
func (q *taskQuestions) sendAnswer(ctx, one context.Context, x pending.Question, result []byte, fault *jsonrpc.Error, err error) {
	if one.Err() != nil {
		return // it is not asked any more
	}
	if fault != nil {
		err = refusal(x, fault)
		var e *failure.Error
		if errors.As(err, &e) && e.Kind == failure.NeedsInput {
			e.Data = x.Params
		}
	}
	if err != nil {
		q.end(ctx, questionDone{err: err})
		return
	}
	if result == nil {
		result = []byte("{}")
	}
	more := fmt.Appendf(nil, `,"inputResponses":{%s:%s}`, jsonrpc.Quote(x.Key), result)
	_, err = q.s.askTask(ctx, methodTasksUpdate, q.id, more, CallOptions{})
	q.end(ctx, questionDone{err: err})
}

// causeOf is the call that became a task.
func causeOf(t tasks.Task) pending.Cause {
	return pending.Cause{Method: string(mcp.MethodToolsCall), Target: t.Tool, Started: t.Since}
}

// hold asks for the result of a task of 2025-11-25 before it is over: its questions come on the stream of that answer.
func (q *taskQuestions) hold(ctx context.Context) {
	if q.held {
		return
	}
	q.held = true
	q.wg.Go(func() {
		r, err := q.s.askTask(ctx, methodTasksResult, q.id, nil, CallOptions{Timeout: heldResult, MaxTimeout: heldResult})
		switch {
		case err == nil:
			q.end(ctx, questionDone{result: &r})
		case failure.KindOf(err) == failure.NotFound:
			q.end(ctx, questionDone{err: err})
		default: // the status says more
			q.end(ctx, questionDone{})
		}
	})
}
