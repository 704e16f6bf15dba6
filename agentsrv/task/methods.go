package task

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// pageSize is how many tasks one page of tasks/list has.
const pageSize = 50

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
				return s.method(ctx, x)
			case "tasks/update":
				if x.Modern {
					return s.method(ctx, x)
				}
			case "tasks/result", "tasks/list":
				if !x.Modern {
					return s.method(ctx, x)
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

// method is tasks/*.
func (s *Service) method(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
	if x.Modern && !declares(x) {
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
	t, r, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	switch x.Method {
	case "tasks/get":
		if x.Modern {
			return json.Marshal(r.detailed(s.o.Poll))
		}
		return json.Marshal(r.legacy(s.o.Poll))
	case "tasks/result":
		return s.result(ctx, x, t, r)
	case "tasks/update":
		return s.update(x, t)
	}
	return s.end(x, t, r)
}

func unknown() error {
	return jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Failed to retrieve task: Task not found").With("field", "taskId").With("reason", "unknown or expired")
}

// find is the task of that id which the caller may see: t is nil when it is over and in the store.
func (s *Service) find(ctx context.Context, id string) (t *task, r *record, err error) {
	s.mu.Lock()
	t = s.live[id]
	s.mu.Unlock()
	if t != nil {
		r = t.snapshot()
	} else if r, err = s.table.get(ctx, id, time.Now()); err != nil {
		return nil, nil, fmt.Errorf("task: look it up: %w", err)
	}
	if r == nil || !r.Owner.sees(ctx) || !time.Now().Before(r.Expires) {
		return nil, nil, unknown()
	}
	return t, r, nil
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
		r = t.snapshot()
	}
	switch {
	case r.Result != nil:
		return set(r.Result, relatedTask(r.ID), "_meta", related), nil
	case r.Error != nil:
		return nil, r.Error
	}
	return nil, jsonrpc.Errorf(jsonrpc.KindCancelled, "the task was cancelled")
}

// update takes the answers of a modern client.
func (s *Service) update(x *front.Exchange, t *task) (json.RawMessage, error) {
	var in struct {
		InputResponses map[string]json.RawMessage `json:"inputResponses"`
	}
	if err := json.Unmarshal(x.Params, &in); err != nil || in.InputResponses == nil {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: inputResponses must be an object").With("field", "inputResponses").With("reason", "not an object")
	}
	if t != nil {
		t.answer(in.InputResponses)
	}
	return ack, nil
}

// end is tasks/cancel.
func (s *Service) end(x *front.Exchange, t *task, r *record) (json.RawMessage, error) {
	if t != nil && t.become(cancelled, "The task was cancelled by request.", func(*record) {}) {
		t.cancel(jsonrpc.Errorf(jsonrpc.KindCancelled, "the task was cancelled"))
		r = t.snapshot()
	} else if !x.Modern {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Cannot cancel task: already in terminal status '%s'", r.legacy(0)["status"]).With("field", "taskId")
	}
	if x.Modern {
		return ack, nil
	}
	return json.Marshal(r.legacy(s.o.Poll))
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
	records, last, err := s.table.list(ctx, o, before, pageSize+1, time.Now())
	if err != nil {
		return nil, fmt.Errorf("tasks/list: %w", err)
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
			r = t.snapshot()
		}
		tasks = append(tasks, r.legacy(s.o.Poll))
	}
	return json.Marshal(out)
}
