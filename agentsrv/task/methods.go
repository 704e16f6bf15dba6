package task

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// pageSize is how many tasks one page of tasks/list has.
const pageSize = 50

// ack is the result of tasks/update and tasks/cancel in the modern era, which say nothing else.
var ack = json.RawMessage(`{"resultType":"complete"}`)

// Middleware makes tasks of calls, answers tasks/*, and advertises that. It stands before the queue.
func (s *Service) Middleware() front.Middleware {
	return func(next front.Next) front.Next {
		return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
			switch mcp.MCPMethod(x.Method) {
			case mcp.MethodToolsCall:
				return s.call(ctx, x, next)
			case mcp.MethodInitialize, mcp.MethodServerDiscover, mcp.MethodToolsList:
				return s.advertise(ctx, x, next)
			case "tasks/get", "tasks/cancel":
				return s.handleMethod(ctx, x)
			case "tasks/update":
				if x.Modern {
					return s.handleMethod(ctx, x)
				}
			case "tasks/result", "tasks/list":
				if !x.Modern {
					return s.handleMethod(ctx, x)
				}
			default:
				return next(ctx, x)
			}
			return nil, jsonrpc.Errorf(jsonrpc.KindMethodNotFound, "Method not found: %s is not part of this protocol revision", x.Method)
		}
	}
}

// missingExtension refuses what only clients can have that declare Extension.
func missingExtension() *jsonrpc.Error {
	return &jsonrpc.Error{
		Code: jsonrpc.CodeMissingCapability, Message: "this needs the extension " + Extension + "; declare it in the request's clientCapabilities.extensions",
		Data: json.RawMessage(`{"kind":"missing_client_capability","requiredCapabilities":{"extensions":{"` + Extension + `":{}}}}`),
	}
}

// handleMethod is tasks/*.
func (s *Service) handleMethod(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
	if x.Modern && !declaresExtension(x) {
		return nil, missingExtension()
	}
	if x.Method == "tasks/list" {
		return s.list(ctx, x)
	}
	id, ok := jsonrpc.String(jsonrpc.Get(x.Params, "taskId"))
	if !ok {
		return nil, kit.Invalid("taskId", kit.Required)
	}
	if name := x.Header.Get(mcp.HeaderName); x.Modern && name != "" && name != id {
		return nil, &jsonrpc.Error{
			Code: jsonrpc.CodeHeaderMismatch, Message: "the header " + mcp.HeaderName + " does not match params.taskId",
			Data: json.RawMessage(`{"kind":"header_mismatch"}`),
		}
	}
	t, r, err := s.findVisible(ctx, id)
	if err != nil {
		return nil, err
	}
	switch x.Method {
	case "tasks/get":
		if x.Modern {
			return json.Marshal(r.detailedTask(s.o.Poll))
		}
		return json.Marshal(r.legacy(s.o.Poll))
	case "tasks/result":
		return s.result(ctx, x, t, r)
	case "tasks/update":
		return s.update(ctx, x, t, r)
	}
	return s.handleCancel(ctx, x, t, r)
}

// lookupError says that a task cannot be looked up.
func (s *Service) lookupError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("task: look it up: %w", err)
	}
	s.o.Logger.Error("cannot read a task", "err", err)
	if errors.Is(err, errNewer) {
		return jsonrpc.Errorf(jsonrpc.KindInternal, "cannot read the task: %w", errNewer)
	}
	f := jsonrpc.Errorf(jsonrpc.KindInternal, "cannot read the task: its store does not answer; ask again later%w", jsonrpc.Hidden(err))
	f.RetryAfter = time.Second
	return f
}

// errUnknownTask is the error for a task that is not there, and for one that the caller may not see.
func errUnknownTask() error {
	return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Failed to retrieve task: Task not found").With("field", "taskId").With("reason", "unknown or expired")
}

// findVisible is the task of that id which the caller may see: t is nil when it is over and in the store.
func (s *Service) findVisible(ctx context.Context, id string) (t *task, r *record, err error) {
	s.mu.Lock()
	t = s.live[id]
	s.mu.Unlock()
	if t != nil {
		r, err = t.visibleRecord(ctx)
	} else if r, err = s.recordOf(ctx, id); err != nil {
		err = s.lookupError(ctx, err)
	}
	if err != nil {
		return nil, nil, err
	}
	if r == nil || !r.Owner.sees(ctx) || !s.table.now().Before(r.Expires) {
		return nil, nil, errUnknownTask()
	}
	return t, r, nil
}

// recordOf is the task of that id in the table.
func (s *Service) recordOf(ctx context.Context, id string) (*record, error) {
	if !validID(id) {
		return nil, nil
	}
	return s.table.get(ctx, id)
}

// validID reports whether an id is like those of rand.Text, which no table minds.
func validID(id string) bool {
	for _, c := range id {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return id != "" && len(id) <= 64
}

// result waits for the end of a legacy task and answers like the call would have.
func (s *Service) result(ctx context.Context, x *front.Exchange, t *task, r *record) (json.RawMessage, error) {
	if t != nil {
		detach := t.attach(x)
		defer detach()
		select {
		case <-t.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		var err error
		if r, err = t.visibleRecord(ctx); err != nil {
			return nil, err
		}
	} else if !r.State.isTerminal() {
		end, err := s.table.wait(ctx, r.ID)
		if err != nil {
			return nil, s.lookupError(ctx, err)
		}
		if end == nil {
			return nil, errUnknownTask()
		}
		r = end
	}
	switch {
	case r.Result != nil:
		return set(r.Result, relatedTask(r.ID), "_meta", metaRelatedTask), nil
	case r.Error != nil:
		return nil, r.Error
	}
	return nil, jsonrpc.Errorf(jsonrpc.KindCancelled, "the task was cancelled")
}

// update takes the answers of a modern client.
func (s *Service) update(ctx context.Context, x *front.Exchange, t *task, r *record) (json.RawMessage, error) {
	var in struct {
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
	}
	if err := json.Unmarshal(x.Params, &in); err != nil || in.InputResponses == nil {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: inputResponses must be an object").With("field", "inputResponses").With("reason", "not an object")
	}
	if t != nil {
		t.answer(in.InputResponses)
	} else if r.State == inputRequired {
		if err := s.table.answer(ctx, r, in.InputResponses); err != nil {
			s.o.Logger.Error("cannot hand an answer to the replica that has the task", "task", r.ID, "replica", r.Origin, "err", err)
			return nil, errNotSaved(err)
		}
	}
	if s.table.isShared() && r.State == inputRequired {
		s.awaitAnswers(ctx, r, in.InputResponses)
	}
	return ack, nil
}

// awaitAnswers waits until the table shows that questions of a task are answered: a client that asks the next replica must not see them again.
// Where nobody takes the answers, the task will end as interrupted.
func (s *Service) awaitAnswers(ctx context.Context, r *record, answers map[string]json.RawMessage) {
	ctx, cancel := context.WithTimeout(ctx, statementTimeout/2)
	defer cancel()
	for again := time.Duration(coalesce); ; again = min(again*3/2, pause) {
		now, err := s.table.get(ctx, r.ID)
		if err != nil || now == nil {
			return
		}
		maps.DeleteFunc(answers, func(key string, _ json.RawMessage) bool { return r.Inputs[key] == nil || now.Inputs[key] == nil })
		if len(answers) == 0 {
			return
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return
		}
	}
}

// handleCancel is tasks/cancel.
func (s *Service) handleCancel(ctx context.Context, x *front.Exchange, t *task, r *record) (json.RawMessage, error) {
	r, won, err := s.cancel(ctx, t, r)
	if err != nil {
		return nil, err
	}
	if !won && !x.Modern {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Cannot cancel task: already in terminal status '%s'", r.legacy(0)["status"]).With("field", "taskId")
	}
	if x.Modern {
		return ack, nil
	}
	return json.Marshal(r.legacy(s.o.Poll))
}

// cancel ends a task, here or wherever it runs, unless it is over: how it ended, and whether by that.
func (s *Service) cancel(ctx context.Context, t *task, r *record) (end *record, won bool, err error) {
	why := jsonrpc.Errorf(jsonrpc.KindCancelled, "the task was cancelled")
	if t == nil && r.State.isTerminal() {
		return r, false, nil
	}
	ctx, stop := context.WithTimeout(ctx, statementTimeout)
	defer stop()
	if t != nil {
		if won, err = t.end(ctx, cancelledBy); won {
			t.cancel(why)
		}
		if err == nil {
			end, err = t.visibleRecord(ctx)
		}
	} else {
		end = r
		cancelledBy(end)
		end.Updated, end.Inputs = s.table.now(), nil
		if end, won, err = s.settleWithRetry(ctx, end); won && s.o.Cancel != nil {
			s.o.Cancel(ctx, end.ID, why)
		}
	}
	if err != nil {
		return nil, false, errNotSaved(err)
	}
	return end, won, nil
}

// list is the caller's tasks, the newest first. Who has neither session nor token has no list: anybody could be that.
func (s *Service) list(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
	var before int64
	if raw := jsonrpc.Get(x.Params, "cursor"); raw != nil {
		cursor, ok := jsonrpc.String(raw)
		var err error
		if before, err = strconv.ParseInt(cursor, 36, 64); !ok || err != nil || before <= 0 {
			return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: the cursor is not from tasks/list").With("field", "cursor").With("reason", "unknown")
		}
	}
	tasks := []map[string]any{}
	out := map[string]any{"tasks": &tasks}
	o := ownerOf(ctx)
	if o.Principal == "" && o.Session == "" {
		return json.Marshal(out)
	}
	records, last, err := s.table.list(ctx, o, before, pageSize+1)
	if err != nil {
		return nil, s.lookupError(ctx, err)
	}
	if len(records) > pageSize {
		records = records[:pageSize]
		out["nextCursor"] = strconv.FormatInt(last+1, 36)
	}
	for _, r := range records {
		s.mu.Lock()
		t := s.live[r.ID]
		s.mu.Unlock()
		if t != nil {
			if r, err = t.visibleRecord(ctx); err != nil {
				return nil, err
			}
		}
		tasks = append(tasks, r.legacy(s.o.Poll))
	}
	return json.Marshal(out)
}
