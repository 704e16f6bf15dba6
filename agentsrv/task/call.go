package task

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// mode is how a call wants to be a task.
type mode struct {
	legacy    bool          // params.task of 2025-11-25
	extension bool          // the client declared Extension
	async     bool          // _meta.async
	ttl       time.Duration // from the call on; never 0
	now       bool          // it is a task from the start
	must      bool          // it has to become one
	first     bool          // Policy.InputFirst
}

// call is tools/call.
func (s *Service) call(ctx context.Context, x *front.Exchange, next front.Next) (json.RawMessage, error) {
	how, err := s.read(x)
	if err != nil {
		return nil, err
	}
	tool := jsonrpc.GetString(x.Params, "name")
	p := s.policy(tool)
	how.first = p.InputFirst
	how.must = p.Support == mcp.TaskSupportRequired
	switch {
	case p.Support == mcp.TaskSupportForbidden && how.legacy:
		return nil, jsonrpc.Errorf(jsonrpc.KindMethodNotFound, "tool %q does not support tasks; call it without params.task", tool)
	case p.Support == mcp.TaskSupportForbidden && !(how.async && p.Async):
		return next(ctx, x)
	case how.legacy, how.async:
		how.now = true
	case how.extension:
		how.now = how.must && !how.first
	case !how.must:
		return next(ctx, x)
	case x.Modern:
		return nil, missingExtension()
	default:
		return nil, jsonrpc.Errorf(jsonrpc.KindMethodNotFound, "tool %q requires a task; call it with params.task", tool)
	}
	return s.start(ctx, x, tool, how, next)
}

// read finds out what the call says about tasks, and takes params.task away, which is nobody else's business.
func (s *Service) read(x *front.Exchange) (how mode, err error) {
	how.ttl = s.o.TTL
	// Most calls say nothing; looking for that is cheaper than reading them.
	if bytes.Contains(x.Params, []byte(`"task"`)) {
		if raw := jsonrpc.Get(x.Params, "task"); raw != nil {
			// Revisions before that knew no tasks, and were offered none.
			if how.legacy = !x.Modern && x.Version >= mcp.ProtocolVersion20251125 && raw[0] != 'n'; how.legacy {
				if how.ttl, err = s.ttl(raw); err != nil {
					return how, err
				}
			}
			x.Params, _ = jsonrpc.Update(x.Params, jsonrpc.Delete("task")) // were scanned
			x.Frame = nil
		}
	}
	if bytes.Contains(x.Params, []byte(`"`+MetaAsync+`"`)) {
		how.async = !how.legacy && string(jsonrpc.Get(x.Params, "_meta", MetaAsync)) == "true"
	}
	how.extension = declaresExtension(x)
	return how, nil
}

// declaresExtension reports whether the client of a modern request declared the extension with it.
func declaresExtension(x *front.Exchange) bool {
	if !x.Modern || !bytes.Contains(x.Params, []byte(Extension)) {
		return false
	}
	caps := jsonrpc.Get(x.Params, "_meta", mcp.MetaKeyClientCapabilities)
	e := jsonrpc.Get(caps, "extensions", Extension)
	return len(e) > 0 && e[0] == '{'
}

// ttl is the time to live that a client asks for, in milliseconds, within our limits: at least a second, at most Options.MaxTTL.
func (s *Service) ttl(task []byte) (time.Duration, error) {
	var in struct{ TTL *float64 }
	if err := json.Unmarshal(task, &in); err != nil || in.TTL != nil && *in.TTL < 0 {
		return 0, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: task.ttl must be a number of milliseconds").With("field", "task.ttl").With("reason", "not a positive number")
	}
	if in.TTL == nil {
		return s.o.TTL, nil
	}
	return time.Duration(min(max(*in.TTL, 1000), float64(s.o.MaxTTL.Milliseconds()))) * time.Millisecond, nil
}

// start runs the call, and answers with its result or as the task that it became. A call that may be a task, but need not, runs as an ordinary one where
// there is no room for another task.
func (s *Service) start(ctx context.Context, x *front.Exchange, tool string, how mode, next front.Next) (json.RawMessage, error) {
	tenant := kit.TenantOf(ctx)
	if err := s.reserve(tenant); err != nil {
		if how.now || how.must {
			return nil, err
		}
		return next(ctx, x)
	}
	t := s.newTask(ctx, x, tool, how)
	life, cancel := context.WithCancelCause(x.Detach(ctx))
	t.cancel = cancel
	// Until it is a task it ends with its request.
	tied := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	if !s.begin(t) {
		tied()
		cancel(nil)
		s.unreserve(tenant)
		return nil, errInterrupted()
	}
	go t.run(kit.WithHooks(life, &kit.Hooks{
		ID: t.rec.ID, Accepted: func() { t.emit(accepted) }, Started: t.started, Waiting: t.waiting, NoQueueTimeout: true,
	}), next)
	if !t.awaitTask(ctx) {
		tied()
		s.unreserve(tenant)
		return t.result, t.err
	}
	tied()
	if err := s.persist(t); err != nil {
		cancel(err)
		return nil, err
	}
	return t.createResult()
}

// awaitTask waits until the call is a task; false if it ended, or ctx did, before it became one.
func (t *task) awaitTask(ctx context.Context) bool {
	var impatient <-chan time.Time
	if !t.how.now {
		timer := time.NewTimer(t.s.o.TaskAfter)
		defer timer.Stop()
		impatient = timer.C
	}
	queued := false
	for {
		select {
		case <-impatient:
			if t.claim() {
				return true
			}
		case e := <-t.events:
			queued = queued || e == accepted
			switch {
			case e == ended:
				// An error before the queue had the call, of the queue for one, is the call's answer.
				return (queued || t.err == nil) && ctx.Err() == nil && (t.how.now || t.how.must) && t.becomeTask()
			case e == needsInput, t.how.now:
				if t.claim() {
					return true
				}
			}
		}
	}
}

// begin counts a call that runs; false once the service closes.
func (s *Service) begin(t *task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.runs[t] = struct{}{}
	s.work.Add(1)
	return true
}

// createResult is the answer to a call that became a task.
func (t *task) createResult() (json.RawMessage, error) {
	r := t.snapshot()
	switch {
	case t.how.legacy:
		m := r.legacy(t.s.o.Poll)
		m["status"] = "working" // that is how each task of 2025-11-25 begins, however soon it ends
		return json.Marshal(map[string]any{"task": m})
	case t.how.extension:
		m := r.modern(t.s.o.Poll)
		m["resultType"] = "task"
		return json.Marshal(m)
	}
	res, err := kit.JSON(map[string]any{"taskId": r.ID, "status": r.page(t.s.o.Poll)["status"], "pollInterval": t.s.o.Poll.Milliseconds()})
	if err != nil {
		return nil, err
	}
	return json.Marshal(res)
}
