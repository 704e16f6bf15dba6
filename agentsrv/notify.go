package agentsrv

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// stream is the response to one POST, on which notifications about that request go out.
//
// mcp-go queues notifications per session. In the legacy era the stream of a GET and all POSTs of the session empty that
// queue in competition, so that progress may overtake the result that ends it, and one that was taken off the queue when
// the handler returned is dropped. Written here, by the handler itself, they keep their order and none is lost.
type stream struct {
	http.ResponseWriter

	mu      sync.Mutex
	started bool // the status line is out
}

func (s *stream) attach(r *http.Request) *http.Request {
	return r.WithContext(kit.WithNotifier(r.Context(), s))
}

// Notify implements kit.Notifier.
func (s *stream) Notify(ctx context.Context, method string, params map[string]any) error {
	frame, err := json.Marshal(map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	// This makes mcp-go end the response as the event stream that it is now.
	if u, ok := server.ClientSessionFromContext(ctx).(server.SessionWithStreamableHTTPConfig); ok {
		u.UpgradeToSSEWhenReceiveNotification()
	}
	return s.event(frame)
}

// WriteHeader sends the status line once; mcp-go does not know whether an event was written before.
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		s.started = true
		s.ResponseWriter.WriteHeader(status)
	}
}

// Write is one event, or a whole JSON response, of mcp-go.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
	return s.ResponseWriter.Write(p)
}

// Flush keeps streaming possible: mcp-go asks the writer for it.
func (s *stream) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush()
}

func (s *stream) flush() {
	if f, ok := s.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (s *stream) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// event writes one server-sent event, making the response an event stream if it is none yet.
func (s *stream) event(data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started {
		s.started = true
		s.Header().Set("Content-Type", "text/event-stream")
		s.Header().Set("Cache-Control", "no-cache")
		s.ResponseWriter.WriteHeader(http.StatusOK)
	}
	if _, err := fmt.Fprintf(s.ResponseWriter, "event: message\ndata: %s\n\n", data); err != nil {
		return err
	}
	s.flush()
	return nil
}
