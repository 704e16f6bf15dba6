package kit

import (
	"context"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Notifier sends a notification to the client whose request is being handled, in order, and before the result. It
// returns once that is written or queued for good, and waits for a client that is slow.
type Notifier interface {
	Notify(ctx context.Context, method string, params map[string]any) error
}

type notifierKey struct{}

// WithNotifier says who sends the notifications of the handlers that ctx is given to.
func WithNotifier(ctx context.Context, n Notifier) context.Context {
	return context.WithValue(ctx, notifierKey{}, n)
}

// NotifierOf is who sends the notifications of ctx's request: what WithNotifier said, else mcp-go's own queue.
func NotifierOf(ctx context.Context) Notifier {
	if n, ok := ctx.Value(notifierKey{}).(Notifier); ok {
		return n
	}
	return viaQueue{}
}

// viaQueue is the Notifier of mcp-go's own transports, in tests and in programs that serve the tools without front.
type viaQueue struct{}

// Notify sends through mcp-go's queue.
func (viaQueue) Notify(ctx context.Context, method string, params map[string]any) error {
	return sendQueued(ctx, method, params)
}

// Notify sends one notification to the client whose request ctx belongs to.
func Notify(ctx context.Context, method string, params map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return NotifierOf(ctx).Notify(ctx, method, params)
}

// Progress reports how far a call is, if the client asked for that by sending a token; total 0 is unknown.
func Progress(ctx context.Context, r mcp.CallToolRequest, progress, total float64, message string) error {
	if r.Params.Meta == nil || r.Params.Meta.ProgressToken == nil {
		return ctx.Err()
	}
	params := map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": progress}
	if total != 0 {
		params["total"] = total
	}
	if message != "" {
		params["message"] = message
	}
	return Notify(ctx, string(mcp.MethodNotificationProgress), params)
}

// Log sends notifications/message if the client asked for this level: per request in the modern era, with
// logging/setLevel in the legacy one.
func Log(ctx context.Context, level mcp.LoggingLevel, logger string, data any) error {
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
	return Notify(ctx, string(mcp.MethodNotificationMessage), map[string]any{"level": level, "logger": logger, "data": data})
}

const (
	settleMax  = 250 * time.Millisecond // at most this long is a result held back for notifications still on their way
	settlePoll = time.Millisecond
	settleLast = 2 * time.Millisecond // what the last one gets once the queue is empty
)

type queuedKey struct{}

// sendQueued sends through mcp-go's queue, which is all that its in-process transport has.
func sendQueued(ctx context.Context, method string, params map[string]any) error {
	srv := server.ServerFromContext(ctx)
	if srv == nil {
		return errors.New("notify: the context is not of a request")
	}
	for {
		err := srv.SendNotificationToClient(ctx, method, params)
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

// Settle is the middleware that, where notifications go through mcp-go's queue, holds a result back until those sent
// before it have left. Only calls that sent one wait.
func Settle(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		sent := false
		res, err := next(context.WithValue(ctx, queuedKey{}, &sent), r)
		session := server.ClientSessionFromContext(ctx)
		if !sent || session == nil {
			return res, err
		}
		time.Sleep(time.Nanosecond) // whoever sends them goes first: in virtual time it would be chance whether a poll is needed
		until := time.Now().Add(settleMax)
		for len(session.NotificationChannel()) > 0 && ctx.Err() == nil && time.Now().Before(until) {
			time.Sleep(settlePoll)
		}
		time.Sleep(settleLast)
		return res, err
	}
}
