package task

import (
	"encoding/json"
	"net/http"

	"github.com/mcphud/mcphud/session/jsonrpc"
)

// Routes are the pages for those who speak no MCP: GET /tasks/{id} and, as the older spelling, GET /getTaskStatus?taskId=
// answer with JSON {taskId, status, statusMessage?, createdAt, lastUpdatedAt, ttl, pollInterval, tool, log} and with result
// or error once there is one; status is pending, running, completed, failed or cancelled, and times are in milliseconds.
// A task that does not exist, expired, or belongs to somebody else is 404.
func (s *Service) Routes() map[string]http.Handler {
	return map[string]http.Handler{
		"GET /tasks/{id}":    http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.page(w, r, r.PathValue("id")) }),
		"GET /getTaskStatus": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.page(w, r, r.URL.Query().Get("taskId")) }),
	}
}

func (s *Service) page(w http.ResponseWriter, r *http.Request, id string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, rec, err := s.find(r.Context(), id)
	if err != nil {
		status, answer := http.StatusNotFound, map[string]string{"error": "task_not_found", "detail": "there is no such task, or its time is over"}
		if _, ok := jsonrpc.AsFailure(err); !ok {
			s.o.Logger.Error("a task could not be shown", "err", err)
			status, answer = http.StatusInternalServerError, map[string]string{"error": "internal", "detail": "the task could not be looked up; try again"}
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer) // a client that went away hears nothing
		return
	}
	_ = json.NewEncoder(w).Encode(rec.page(s.o.Poll))
}
