package agentsrv

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	settleMax   = 250 * time.Millisecond // at most this long is a result held back for notifications still on their way
	settlePoll  = time.Millisecond
	settleBlind = 2 * time.Millisecond // what a transport without a ledger gets once the queue is empty
)

// ledger counts notifications: those that handlers queued, and those that reached a response.
//
// mcp-go forwards notifications to a response from a goroutine of its own. One that has been taken off the queue when
// the handler returns is dropped, since the result closes the stream first. settle therefore holds the result back until
// every queued one was written. A legacy session has one queue for all its streams, so these share one ledger; a request
// of the modern era has a queue, and a ledger, of its own.
type ledger struct {
	queued, written atomic.Int64
	changed         chan struct{} // cap 1: written moved
	refs            int           // guarded by ledgers.mu
}

func newLedger() *ledger { return &ledger{changed: make(chan struct{}, 1)} }

// ledgers holds the ledger of each legacy session that has a request open.
type ledgers struct {
	mu sync.Mutex
	m  map[string]*ledger
}

// open finds or makes the ledger for a request; done must be called when the request ends.
func (ls *ledgers) open(session string) (l *ledger, done func()) {
	if session == "" {
		return newLedger(), func() {}
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l = ls.m[session]
	if l == nil {
		if ls.m == nil {
			ls.m = map[string]*ledger{}
		}
		l = newLedger()
		ls.m[session] = l
	}
	l.refs++
	return l, func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		if l.refs--; l.refs == 0 {
			delete(ls.m, session)
		}
	}
}

type ledgerKey struct{}

func withLedger(ctx context.Context, l *ledger) context.Context {
	return context.WithValue(ctx, ledgerKey{}, l)
}

// ledgerWriter sees each server-sent event that mcp-go writes (one Write each).
type ledgerWriter struct {
	http.ResponseWriter
	ledger *ledger
}

var (
	eventMark        = []byte("event: ")
	notificationMark = []byte(`"method":"notifications/`) // inside a JSON string the quotes would be escaped
)

func (w *ledgerWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	if bytes.HasPrefix(p, eventMark) && bytes.Contains(p, notificationMark) {
		w.ledger.written.Add(1)
		select {
		case w.ledger.changed <- struct{}{}:
		default:
		}
	}
	return n, err
}

// Flush keeps streaming possible: mcp-go asks the writer for it.
func (w *ledgerWriter) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *ledgerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// notify sends one notification to the client whose request ctx belongs to. mcp-go's queue holds 100; a handler that is
// faster than the connection waits here instead of losing some.
func (a *Agent) notify(ctx context.Context, method string, params map[string]any) error {
	for {
		err := a.mcp.SendNotificationToClient(ctx, method, params)
		if err == nil {
			if l, ok := ctx.Value(ledgerKey{}).(*ledger); ok {
				l.queued.Add(1)
			}
			return nil
		}
		if !errors.Is(err, server.ErrNotificationChannelBlocked) {
			return err
		}
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

// settle is the middleware that holds a result back until the notifications sent before it have left.
func (a *Agent) settle(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		l, ledgered := ctx.Value(ledgerKey{}).(*ledger)
		if !ledgered {
			l = newLedger()
			ctx = withLedger(ctx, l)
		}
		res, err := next(ctx, r)
		switch queued := l.queued.Load(); {
		case queued == 0:
		case ledgered:
			l.wait(ctx, queued)
		default:
			waitEmpty(ctx)
		}
		return res, err
	}
}

// wait returns once n notifications were written, ctx is done, or settleMax has passed; what is missing then is lost
// (its stream broke) and will not be waited for again.
func (l *ledger) wait(ctx context.Context, n int64) {
	limit := time.NewTimer(settleMax)
	defer limit.Stop()
	for l.written.Load() < n {
		select {
		case <-l.changed:
			// Another call of the same session may wait as well; whoever is not served by this signal polls.
		case <-time.After(settlePoll):
		case <-ctx.Done():
			return
		case <-limit.C:
			if missing := n - l.written.Load(); missing > 0 {
				l.written.Add(missing)
			}
			return
		}
	}
}

// waitEmpty is for stdio and in-process transports, whose writers cannot be watched.
func waitEmpty(ctx context.Context) {
	session := server.ClientSessionFromContext(ctx)
	if session == nil {
		return
	}
	until := time.Now().Add(settleMax)
	for len(session.NotificationChannel()) > 0 && ctx.Err() == nil && time.Now().Before(until) {
		time.Sleep(settlePoll)
	}
	time.Sleep(settleBlind)
}
