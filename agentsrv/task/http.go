package task

import (
	"context"
	"net/http"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Routes are the pages for those who speak no MCP: GET /tasks/{id}, GET /task?taskId= (where browser clients look, next to
// /mcp) and, as the older spelling, GET /getTaskStatus?taskId= answer with JSON {taskId, status, statusMessage?, createdAt,
// lastUpdatedAt, ttl, pollInterval, tool, log} and with result or error once there is one; status is pending, running,
// completed, failed or cancelled, and times are in milliseconds. A task that does not exist, expired, or belongs to
// somebody else is 404.
func (s *Service) Routes() map[string]http.Handler {
	query := kit.Page(func(r *http.Request) (int, any) {
		id := r.URL.Query().Get("taskId")
		if id == "" {
			return http.StatusBadRequest, map[string]string{"error": "invalid_request", "detail": "name the task: " + r.URL.Path + "?taskId=ID"}
		}
		return s.page(r.Context(), id)
	})
	return map[string]http.Handler{
		"/tasks/{id}":    kit.Page(func(r *http.Request) (int, any) { return s.page(r.Context(), r.PathValue("id")) }),
		"/task":          query,
		"/getTaskStatus": query,
	}
}

// page is the status and the body for one task. Why there is none is not told: unknown, expired and another's look the same.
func (s *Service) page(ctx context.Context, id string) (int, any) {
	_, rec, err := s.findVisible(ctx, id)
	if err == nil {
		return http.StatusOK, rec.page(s.o.Poll)
	}
	f, ok := jsonrpc.AsRequestError(err)
	if ok && f.Kind == jsonrpc.KindInvalidParams {
		return http.StatusNotFound, map[string]string{"error": "task_not_found", "detail": "unknown or expired task"}
	}
	detail := "cannot read the task; try again"
	if ok {
		detail = f.Message
	}
	return http.StatusInternalServerError, map[string]string{"error": "internal", "detail": detail}
}
