package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

const (
	methodTasksGet    = string(mcp.MethodTasksGet)
	methodTasksResult = string(mcp.MethodTasksResult)
	methodTasksCancel = string(mcp.MethodTasksCancel)
	methodTasksList   = string(mcp.MethodTasksList)
	methodTasksUpdate = "tasks/update"

	// maxListed bounds what is read of a server's list of tasks.
	maxListed = 1000
	// maxFollowed is how many tasks of a list are asked about again while they run.
	maxFollowed = 32
	// cancelTask is how long a caller who gave up waits until the server knows.
	cancelTask = time.Second
	// heldResult is the limit of a request that the server answers when a task is over (2025-11-25, tasks/result).
	heldResult = 30 * 24 * time.Hour
)

// TaskSupport says whether a tool can be called as a task. In 2025-11-25 the tool says so, where the server offers that at all. In
// the extension of 2026-07-28 the server decides with each call, so that every tool of a server that has it is optional.
func (s *Session) TaskSupport(it offer.Item) tasks.Support {
	c := s.current()
	switch {
	case c == nil:
		return tasks.Forbidden
	case c.era == Modern:
		if jsonrpc.Get(c.capabilities, "extensions", tasks.Extension) != nil {
			return tasks.Optional
		}
		return tasks.Forbidden
	case jsonrpc.Get(c.capabilities, "tasks", "requests", "tools", "call") == nil:
		return tasks.Forbidden
	}
	switch v := tasks.Support(jsonrpc.GetString(it.Raw, "execution", "taskSupport")); v {
	case tasks.Optional, tasks.Required:
		return v
	}
	return tasks.Forbidden
}

// asTask says whether a call has to be made with params.task; an error where that is wanted and cannot be.
func (s *Session) asTask(ctx context.Context, name string, wanted bool) (bool, error) {
	c := s.current()
	switch {
	case wanted:
		if _, err := s.acquire(ctx, "tools/call"); err != nil {
			return false, err
		}
	case c == nil || !c.runsTasks:
		return false, nil
	}
	it, _ := s.itemNamed(offer.Tools, name)
	support := tasks.Forbidden
	if wanted || bytes.Contains(it.Raw, []byte(`"taskSupport"`)) {
		support = s.TaskSupport(it)
	}
	if wanted && support == tasks.Forbidden {
		return false, &failure.Error{
			Kind: failure.Usage, Server: s.Title(), Stage: "tools/call " + text.Clip(name, 100), Message: "the tool cannot run as a task: the server does not offer that",
			Next: "call it without",
		}
	}
	return support == tasks.Required || wanted && s.link.snapshot().speaks() == Legacy, nil
}

// settle is the outcome of a tool call whose answer may be a task, which is waited for: by CreateTaskResult of 2025-11-25 where the call asked for
// it, and by the extension of 2026-07-28 where the server chose it. The reply then has what tasks/result or tasks/get brought, under the number
// of the call's own request.
func (s *Session) settle(ctx context.Context, tool string, r rpc.Reply, o CallOptions) (rpc.Reply, error) {
	if !mayBeTask(r.Result) {
		return r, nil
	}
	modern := s.link.snapshot().speaks() == Modern
	raw := tasks.Created(r.Result, modern)
	if raw == nil {
		return r, nil
	}
	stage := "tools/call " + text.Clip(tool, 100)
	t, err := tasks.Parse(raw, modern)
	if err != nil {
		return r, failure.Wrap(err, s.Title(), stage)
	}
	t.Tool, t.Conn, t.Request, t.Token, t.Waited = tool, s.link.snapshot().conns, r.Request, string(jsonrpc.Get(r.Frame, "id")), true
	t.Trace = r.Traceparent
	t, _ = s.tasks.table.Put(t, time.Now())
	r.Task = t.ID
	f := s.follow(t.ID)
	s.notifyChange()
	end, left, err := s.awaitTask(ctx, f, t.ID, stage, o)
	if left {
		r.Ongoing = true
		s.tasks.table.Update(t.ID, func(t *tasks.Task) { t.Waited = false })
		return r, nil
	}
	if failure.KindOf(err) == failure.NeedsInput && !o.Task {
		_ = s.giveUp(ctx, t.ID) // nobody knows of it, and nobody will answer
	}
	end.Task, end.Took = t.ID, time.Since(t.Since)+r.Took
	// The outcome is that of the call, whichever request about its task it came with.
	end.Request, end.Traceparent = r.Request, r.Traceparent
	return end, failure.Wrap(err, s.Title(), stage)
}

// mayBeTask is a quick look at a result. The description of a task is a handful of members: what is large is not searched for one.
func mayBeTask(result []byte) bool {
	return len(result) < 64<<10 && bytes.Contains(result, []byte(`"taskId"`))
}

// awaitTask waits until a task is over: the answer of the call that became it. left is true where o.Leave came first. When ctx is
// cancelled, so is the task. The time that the task waits for input does not count, while something is asked.
func (s *Session) awaitTask(ctx context.Context, f *follower, id, stage string, o CallOptions) (r rpc.Reply, left bool, err error) {
	if f == nil {
		return r, false, &failure.Error{Kind: failure.ChannelClosed, Message: "the session was closed"}
	}
	changed := make(chan struct{}, 1)
	defer f.watch(changed)()
	rest := s.timeout(o.MaxTimeout, s.cfg.MaxTimeout, config.DefaultMaxTimeout)
	for n := 1; ; n++ {
		t, _ := s.tasks.table.Get(id)
		if t.ID != "" && !t.Status.Over() {
			o.reportTask(t, n)
		}
		begun := time.Now()
		var expire <-chan time.Time
		var timer *time.Timer
		if t.Status != tasks.InputRequired || !s.tasks.hasQuestion() {
			timer = time.NewTimer(rest)
			expire = timer.C
		}
		over := false
		select {
		case <-f.done:
			over = true
		case <-changed:
		case <-o.Leave:
			left = true
		case <-expire:
			err = &failure.Error{
				Kind: failure.Timeout, Message: fmt.Sprintf("task %s is not over after %v, and goes on at the server", text.Clip(id, 100), s.timeout(o.MaxTimeout, s.cfg.MaxTimeout, config.DefaultMaxTimeout)),
				Next: "ask for its result later, or cancel it", Remedy: failure.SeeTask, Object: id,
			}
		case <-ctx.Done():
			err = s.giveUp(ctx, id)
		}
		if timer != nil {
			timer.Stop()
			rest -= time.Since(begun)
		}
		switch {
		case over:
			r, err = s.outcome(ctx, f, id)
			return r, false, err
		case left, err != nil:
			return r, left, err
		}
	}
}

// giveUp cancels a task that its caller does not want any more.
func (s *Session) giveUp(ctx context.Context, id string) error {
	brief, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTask)
	defer cancel()
	e := &failure.Error{Kind: failure.KindOf(ctx.Err()), Message: "the task was cancelled", Err: ctx.Err()}
	if _, err := s.CancelTask(brief, id); err != nil {
		e.Message = "the server was asked to cancel the task, and did not confirm it"
	}
	return e
}

// reportTask tells the caller of a call how its task is.
func (o CallOptions) reportTask(t tasks.Task, n int) {
	if o.OnTask != nil {
		o.OnTask(t)
		return
	}
	if o.OnProgress == nil {
		return
	}
	o.OnProgress(rpc.Progress{Count: n, Progress: t.Progress.Done, Total: t.Progress.Total, HasTotal: t.Progress.HasTotal, Message: "task: " + t.Summary()})
}

// outcome is what the call of a task that is not followed any more would have been answered with.
func (s *Session) outcome(ctx context.Context, f *follower, id string) (rpc.Reply, error) {
	if f.err != nil {
		return f.last, f.err
	}
	t, ok := s.tasks.table.Get(id)
	switch {
	case f.last.Frame != nil && (!ok || t.Modern):
		return takeOutcome(f.last)
	case f.last.Frame != nil:
		return f.last, nil
	case ok && t.Modern:
		r, err := s.askTask(ctx, methodTasksGet, id, nil, CallOptions{})
		if err != nil {
			return r, err
		}
		return takeOutcome(r)
	}
	return s.askTask(ctx, methodTasksResult, id, nil, CallOptions{Timeout: heldResult, MaxTimeout: heldResult})
}

// takeOutcome takes the outcome out of an answer to tasks/get of the extension.
func takeOutcome(r rpc.Reply) (rpc.Reply, error) {
	switch status := tasks.Status(jsonrpc.GetString(r.Result, "status")); status {
	case tasks.Completed:
		result := jsonrpc.Get(r.Result, "result")
		if result == nil {
			return r, &failure.Error{Kind: failure.Protocol, Message: "the completed task has no result", Next: "see the answer as it was sent", Remedy: failure.SeeTraffic}
		}
		r.Result = result
		return r, nil
	case tasks.Failed:
		return r, rpc.ErrorOf(jsonrpc.Get(r.Result, "error"))
	case tasks.Cancelled:
		return r, &failure.Error{Kind: failure.Interrupted, Message: "the task was cancelled", Next: "call the tool again for a result"}
	default:
		return r, &failure.Error{Kind: failure.Usage, Message: "the task is not over: " + string(status), Next: "wait until it is"}
	}
}

// Tasks lists the tasks of this server that were started here or found in its list, over all connections, the newest first.
func (s *Session) Tasks() []tasks.Task { return s.tasks.table.All() }

// Task is what is known of one of them.
func (s *Session) Task(id string) (tasks.Task, bool) { return s.tasks.table.Get(id) }

// GetTask asks the server for a task, which is followed from then on while it is not over.
func (s *Session) GetTask(ctx context.Context, id string) (rpc.Reply, error) {
	r, t, err := s.getTask(ctx, id, CallOptions{})
	if err == nil && !t.Status.Over() {
		s.follow(id)
	}
	s.notifyChange()
	return r, err
}

// TaskResult is what the call of a task is answered with, once it is over. When ctx is cancelled the task goes on.
func (s *Session) TaskResult(ctx context.Context, id string, o CallOptions) (rpc.Reply, error) {
	stage := "tasks/result " + text.Clip(id, 100)
	r, t, err := s.getTask(ctx, id, CallOptions{})
	if err != nil {
		return r, err
	}
	if t.Status.Over() {
		f := &follower{}
		if t.Modern {
			f.last = r
		}
		r, err = s.outcome(ctx, f, id)
		r.Task = id
		return r, failure.Wrap(err, s.Title(), stage)
	}
	waits, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	leave := make(chan struct{})
	defer context.AfterFunc(ctx, func() { close(leave) })()
	o.Leave = leave
	r, left, err := s.awaitTask(waits, s.follow(id), id, stage, o)
	if left {
		err = &failure.Error{Kind: failure.KindOf(ctx.Err()), Message: "the task goes on at the server", Err: ctx.Err()}
	}
	r.Task = id
	return r, failure.Wrap(err, s.Title(), stage)
}

// CancelTask asks the server to cancel a task. It decides whether it does: see Task afterwards.
func (s *Session) CancelTask(ctx context.Context, id string) (rpc.Reply, error) {
	r, err := s.askTask(ctx, methodTasksCancel, id, nil, CallOptions{})
	if err != nil {
		return r, err
	}
	if t, err := tasks.Parse(r.Result, false); err == nil && t.ID == id && s.link.snapshot().speaks() == Legacy {
		s.tasks.table.Put(t, time.Now())
	}
	s.wakeTask(id)
	s.notifyChange()
	return r, nil
}

// ForgetTask removes a task from Tasks. The server is not told; whoever waits for it does so no longer.
func (s *Session) ForgetTask(id string) {
	s.tasks.table.Forget(id)
	s.wakeTask(id)
	s.notifyChange()
}

// ListTasks asks the server for its list of tasks, which only 2025-11-25 has, and follows those that run. The result is that of one
// list, all pages in one; of a longer one than is read nextCursor stays.
func (s *Session) ListTasks(ctx context.Context) (json.RawMessage, []tasks.Task, error) {
	c, err := s.acquire(ctx, methodTasksList)
	if err != nil {
		return nil, nil, err
	}
	if c.era == Modern || !c.supports(methodTasksList) {
		e := &failure.Error{Kind: failure.Usage, Server: s.Title(), Stage: methodTasksList, Message: "the server has no list of tasks", Next: "ask for a task by its id"}
		if c.era == Modern {
			e.Message = "there is no list of tasks in protocol version " + c.version
		}
		return nil, nil, e
	}
	var whole, array []byte
	var all []tasks.Task
	for cursor := []byte(nil); ; {
		var params []byte
		if cursor != nil {
			params = fmt.Appendf(nil, `{"cursor":%s}`, cursor)
		}
		r, err := s.requestInRounds(ctx, methodTasksList, "", params, nil, CallOptions{})
		if err != nil {
			return nil, nil, err
		}
		if whole == nil {
			whole = r.Result
		}
		err = jsonrpc.Elements(jsonrpc.Get(r.Result, "tasks"), func(raw []byte) bool {
			array = append(append(array, ','), raw...)
			t, flaw := tasks.Parse(raw, false)
			if flaw != nil {
				return true // it is shown as it came
			}
			t.Conn = c.id
			t, _ = s.tasks.table.Put(t, time.Now())
			all = append(all, t)
			return true
		})
		if err != nil {
			return nil, nil, &failure.Error{Kind: failure.Protocol, Server: s.Title(), Stage: methodTasksList, Message: "the list of tasks is malformed: " + err.Error(), Err: err, Next: "see the answer as it was sent", Remedy: failure.SeeTraffic}
		}
		next := jsonrpc.Get(r.Result, "nextCursor")
		if _, more := jsonrpc.String(next); !more || bytes.Equal(next, cursor) || len(all) >= maxListed {
			change := jsonrpc.Delete("nextCursor")
			if more && len(all) >= maxListed {
				change = jsonrpc.Set(next, "nextCursor")
			}
			whole, err = jsonrpc.Update(whole, jsonrpc.Set(append(append([]byte{'['}, bytes.TrimPrefix(array, []byte(","))...), ']'), "tasks"), change)
			if err != nil {
				return nil, nil, failure.Wrap(err, s.Title(), methodTasksList)
			}
			break
		}
		cursor = bytes.Clone(next)
	}
	for _, t := range all {
		if !t.Status.Over() && s.tasks.countFollowers() < maxFollowed {
			s.follow(t.ID)
		}
	}
	s.notifyChange()
	return whole, all, nil
}

// getTask asks for a task and remembers what it is.
func (s *Session) getTask(ctx context.Context, id string, o CallOptions) (rpc.Reply, tasks.Task, error) {
	r, err := s.askTask(ctx, methodTasksGet, id, nil, o)
	if err != nil {
		return r, tasks.Task{}, err
	}
	t, err := tasks.Parse(r.Result, s.link.snapshot().speaks() == Modern)
	if err == nil && t.ID != id {
		err = &failure.Error{Kind: failure.Protocol, Message: "the server answered with another task, " + strconv.Quote(text.Clip(t.ID, 100)), Next: "see the answer as it was sent", Remedy: failure.SeeTraffic}
	}
	if err != nil {
		return r, t, failure.Wrap(err, s.Title(), methodTasksGet+" "+text.Clip(id, 100))
	}
	if _, known := s.tasks.table.Get(id); !known {
		t.Conn = s.link.snapshot().conns
	}
	t, _ = s.tasks.table.Put(t, time.Now())
	return r, t, nil
}

// askTask makes a request about a task. more are further members of params, "" for none.
func (s *Session) askTask(ctx context.Context, method, id string, more []byte, o CallOptions) (rpc.Reply, error) {
	params := fmt.Appendf(nil, `{"taskId":%s%s}`, jsonrpc.Quote(id), more)
	o.inner.hidden = true
	if t, known := s.tasks.table.Get(id); known {
		o.inner.traceparent = t.Trace
	}
	if name, ok := mcp.EncodeHeaderValue(id); ok && s.link.snapshot().speaks() == Modern {
		o.Relay.Header = http.Header{mcp.HeaderName: {name}} // SEP-2663, "Streamable HTTP: Routing Headers"
	}
	r, err := s.requestInRounds(ctx, method, id, params, nil, o)
	var e *failure.Error
	if !errors.As(err, &e) || e.Code == nil || *e.Code != jsonrpc.CodeInvalidParams {
		return r, err
	}
	c := *e
	if t, known := s.tasks.table.Get(id); method == methodTasksCancel && known && t.Status.Over() {
		c.Next = "it is over: see its result" // the server refuses to cancel that
		return r, &c
	}
	c.Kind, c.Detail, c.Err = failure.NotFound, c.Message, nil
	c.Message, c.Next = "the server knows no such task", "it expired, or belongs to another session or server"
	return r, &c
}
