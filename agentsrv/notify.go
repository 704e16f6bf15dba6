package agentsrv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	settleMax  = 250 * time.Millisecond // at most this long is a result held back for notifications still on their way
	settlePoll = time.Millisecond
	settleLast = 2 * time.Millisecond // what the last one gets once the queue is empty
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

type streamKey struct{}

func (s *stream) attach(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), streamKey{}, s))
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

// notify sends one notification to the client whose request ctx belongs to. It returns once that is written, over
// transports other than HTTP once it is queued.
func (a *Agent) notify(ctx context.Context, method string, params map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s, ok := ctx.Value(streamKey{}).(*stream); ok {
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
	for {
		err := a.mcp.SendNotificationToClient(ctx, method, params)
		if !errors.Is(err, server.ErrNotificationChannelBlocked) {
			if sent, ok := ctx.Value(queuedKey{}).(*bool); ok && err == nil {
				*sent = true
			}
			return err
		}
		// The queue holds 100; a handler that is faster than the connection waits.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(settlePoll):
		}
	}
}

// logMessage sends notifications/message if the client asked for this level: per request in the modern era, with
// logging/setLevel in the legacy one.
func (a *Agent) logMessage(ctx context.Context, level mcp.LoggingLevel, data any) error {
	var floor mcp.LoggingLevel
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		if floor = info.LogLevel; floor == "" {
			return nil
		}
	} else if s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithLogging); ok {
		floor = s.GetLogLevel()
	}
	if !level.ShouldSendTo(floor) {
		return nil
	}
	return a.notify(ctx, string(mcp.MethodNotificationMessage), map[string]any{"level": level, "logger": "demo", "data": data})
}

type queuedKey struct{}

// settle is the middleware that, where notifications go through mcp-go's queue, holds a result back until those sent
// before it have left.
func (a *Agent) settle(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		queued := false
		res, err := next(context.WithValue(ctx, queuedKey{}, &queued), r)
		session := server.ClientSessionFromContext(ctx)
		if !queued || session == nil {
			return res, err
		}
		until := time.Now().Add(settleMax)
		for len(session.NotificationChannel()) > 0 && ctx.Err() == nil && time.Now().Before(until) {
			time.Sleep(settlePoll)
		}
		time.Sleep(settleLast)
		return res, err
	}
}
