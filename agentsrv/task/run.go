package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// run makes the call, again with the answers when it asks for input, until it has its result.
func (t *task) run(ctx context.Context, next front.Next) {
	defer func() {
		t.cancel(nil)
		t.s.mu.Lock()
		delete(t.s.runs, t)
		t.s.mu.Unlock()
		t.s.work.Done()
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, t.how.ttl, jsonrpc.Errorf(jsonrpc.KindTimeout, "the task's ttl has expired").With("phase", "running"))
	defer cancel()
	params := t.x.Params
	for {
		x := front.NewExchange(t.x, t.x.ID, t.x.Method, params)
		x.SendTo(t.forward)
		result, err := t.callTool(front.WithExchange(ctx, x), x, next)
		if err == nil && t.x.Modern {
			if asks, state := inputRequests(result); asks != nil {
				answers, again := t.ask(ctx, asks)
				switch {
				case again:
					params = withAnswers(t.x.Params, answers, state)
					continue
				case answers == nil && ctx.Err() != nil:
					result, err = nil, context.Cause(ctx)
				}
			}
		}
		t.finish(result, err)
		return
	}
}

// callTool runs the call. It recovers from a panic below: in a goroutine of its own nobody else would.
func (t *task) callTool(ctx context.Context, x *front.Exchange, next front.Next) (result json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.s.o.Logger.Error("a task panicked", "tool", t.rec.Tool, "panic", fmt.Sprint(p))
			err = jsonrpc.Errorf(jsonrpc.KindInternal, "internal error")
		}
	}()
	return next(ctx, x)
}

// finish is the end of the call: of the task that it is, or of one that its client still waits for.
func (t *task) finish(result json.RawMessage, err error) {
	t.mu.Lock()
	if !t.claimed {
		if errors.Is(err, kit.ErrLeft) { // its client waits here
			err = errInterrupted()
		}
		t.ended, t.result, t.err = true, result, err
		t.mu.Unlock()
		t.emit(ended)
		return
	}
	t.mu.Unlock()
	if !errors.Is(err, kit.ErrLeft) {
		t.endWith(result, err)
	}
}

// endWith ends the task with the result or error of its call. A result that asks for input is an error here: nobody can be asked any more.
func (t *task) endWith(result json.RawMessage, err error) {
	if asks, _ := inputRequests(result); asks != nil && err == nil {
		result, err = nil, jsonrpc.Errorf(jsonrpc.KindToolExecution, "the tool needs input, which this task cannot ask for; call it without a task")
	}
	_, _ = t.end(context.Background(), func(r *record) { t.s.outcome(r, result, err) }) // fails when the service stops
}

// ask puts questions to the client and waits for the answers. again tells that the call can go on with them; without
// answers and again the questions are the call's own result, or ctx ended.
func (t *task) ask(ctx context.Context, asks map[string]json.RawMessage) (answers map[string]json.RawMessage, again bool) {
	t.mu.Lock()
	if !t.how.extension || t.how.first && !t.claimed {
		t.mu.Unlock()
		return asks, false
	}
	t.openKeys, t.answers = map[string]string{}, map[string]json.RawMessage{}
	if t.usedKeys == nil {
		t.usedKeys = map[string]bool{}
	}
	inputs := map[string]json.RawMessage{}
	for own, request := range asks {
		key := own
		for n := 2; t.usedKeys[key]; n++ { // a key names one question for as long as the task lives
			key = fmt.Sprintf("%s-%d", own, n)
		}
		t.usedKeys[key] = true
		t.openKeys[key], inputs[key] = own, request
	}
	t.mu.Unlock()
	t.setState(inputRequired, "waits for input", inputs)
	t.emit(needsInput)
	select {
	case <-t.resume:
	case <-ctx.Done():
		return nil, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.answers, true
}

// answer takes answers; those to questions that are not asked, or not any more, are ignored.
func (t *task) answer(answers map[string]json.RawMessage) {
	defer t.save()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.rec.State != inputRequired || len(t.openKeys) == 0 {
		return
	}
	for key, answer := range answers {
		if own, ok := t.openKeys[key]; ok {
			t.answers[own] = answer
			delete(t.openKeys, key)
			delete(t.rec.Inputs, key)
		}
	}
	t.rec.Updated = t.s.table.now()
	if len(t.openKeys) == 0 {
		t.rec.State, t.rec.Message = running, ""
		t.resume <- struct{}{}
	}
}
