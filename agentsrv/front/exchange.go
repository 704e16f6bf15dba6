package front

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Exchange is one JSON-RPC request, or notification, on its way through the server. Whoever changes Params sets Frame to
// nil; the byte slices are not modified in place, since they are parts of one another.
//
// The fields are set before the first middleware, and changed by middlewares alone, one after the other. Methods may be called by several goroutines
// of a handler; what is sent after the answer is out is dropped with ErrOver.
type Exchange struct {
	ID     []byte // the id with the client's own bytes, nil for a notification
	Method string
	Params []byte // JSON, nil if the client sent none
	Frame  []byte // the whole message as it arrived; nil once Params differ from it

	Modern  bool                    // served by the rules of 2026-07-28
	Version string                  // negotiated, or declared by the request; "2025-06-18" where nobody said
	Session *Session                // of the legacy era; nil in the modern one and for callers without a session
	Caller  kit.Identity            // who asks
	Header  http.Header             // of the HTTP request, nil over stdio; not to be modified
	Token   []byte                  // _meta.progressToken as JSON, nil if the client asked for no progress
	carried bool                    // Header is of a request that this process made of a message with a connection of its own
	peer    *peer                   // what mcp-go sees of the client
	remote  *client                 // of a session that another process has
	line    Line                    // to that process; nil for an exchange that arrived here
	out     messenger               // where messages about this request go
	cancel  context.CancelCauseFunc // of its context; nil for one that no transport stands behind
	abandon func()                  // ends the response to a request that the client cancelled; nil over stdio
	failure atomic.Pointer[error]   // what a handler returned, before mcp-go made a text of it
	tried   *outcome                // of the tool's handler, which ran before the engine was asked

	wait  atomic.Pointer[func(func())] // by OnWait; nil for a plain call
	after []func()                     // by Then: called once the answer is out

	mu   sync.Mutex // held while a frame is sent, so that none follows the answer
	over bool       // the answer is out: nothing may follow it
}

// Next is the rest of the way. It returns the result as JSON, or why there is none: a *jsonrpc.RequestError, a
// *jsonrpc.Error (sent as it is), or any other error, which is logged and sent as -32603 without its text. For a
// notification both are ignored.
type Next func(ctx context.Context, x *Exchange) (result json.RawMessage, err error)

// Middleware does something before, after or instead of the rest of the way. The context that it passes on must descend
// from the one it got.
type Middleware func(Next) Next

// messenger carries messages to the client while a request is worked on.
type messenger interface {
	// send writes one frame, or keeps it for a client that comes back. It waits for a slow client, up to a deadline.
	send(frame []byte) error
}

// ErrOver is returned to those who send a notification about a request that is answered already.
var ErrOver = errors.New("the request is answered; nothing more can be sent about it")

// exchangeKey finds the exchange in a context.
type exchangeKey struct{}

// From is the exchange that ctx belongs to, nil outside of one.
func From(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// Causes of the end of a request's context, beside those of callers of Cancel. After the first two, and the end of its session, it gets no answer.
var (
	errCancelled  = errors.New("the client cancelled the request")
	errClientGone = errors.New("the client closed the connection of the request")
	errClosing    = errors.New("the server is stopping")
)

// WantsProgress reports whether the client sent a progress token.
func (x *Exchange) WantsProgress() bool { return x.Token != nil }

// Notify sends a notification on the request's own stream: in the order of the calls, and before the result. It returns
// when the notification is written, waiting for a slow client, or kept for a client that will resume. A client that takes
// one JSON object and no stream gets the result alone, which is not an error: it said so.
func (x *Exchange) Notify(ctx context.Context, method string, params map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var raw []byte
	if params != nil {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	if err := x.send(jsonrpc.NewNotification(method, raw)); !errors.Is(err, errNoStream) {
		return err
	}
	return nil
}

// send writes a frame on the request's stream unless the answer is out.
func (x *Exchange) send(frame []byte) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || x.out == nil {
		return ErrOver
	}
	return x.out.send(frame)
}

// finish makes every later Notify fail.
func (x *Exchange) finish() {
	x.mu.Lock()
	x.over = true
	x.mu.Unlock()
}

// OnWait sets how Waiting runs its function; a queue gives up the task's slot around it. The last one set wins.
func (x *Exchange) OnWait(run func(f func())) {
	x.wait.Store(&run)
}

// Waiting runs f, which waits for the client's answer or for another agent. Meanwhile the request occupies no slot of
// the queue.
func (x *Exchange) Waiting(f func()) {
	if run := x.wait.Load(); run != nil && *run != nil {
		(*run)(f)
		return
	}
	f()
}

// Then has f called once the answer is on its way, or the notification was handled. It is for middlewares, before they
// return.
func (x *Exchange) Then(f func()) { x.after = append(x.after, f) }

// markAnswered calls what Then was given.
func (x *Exchange) markAnswered() {
	for _, f := range x.after {
		f()
	}
}

// Detach gives a context for work that outlives the request: it ends neither with the request nor when the client
// cancels that, and still carries the exchange. Once the request is answered, its notifications are dropped with
// ErrOver, and questions to the client go out on the session's own stream.
func (x *Exchange) Detach(ctx context.Context) context.Context {
	return context.WithoutCancel(ctx)
}

// Cancel ends the context of the request with the given cause.
func (x *Exchange) Cancel(cause error) {
	if x.cancel != nil {
		x.cancel(cause)
	}
	if x.abandon != nil && errors.Is(cause, errCancelled) {
		x.abandon()
	}
}

// Hangup ends the connection of the request's stream but not the request: the client comes back for the rest after
// retry, with Last-Event-ID. It is false where nothing can be resumed: in the modern era, over stdio, without a session,
// and without a response that may be an event stream.
func (x *Exchange) Hangup(retry time.Duration) bool {
	if x.line != nil {
		return x.line.Hangup(retry)
	}
	st, ok := x.out.(*stream)
	return ok && st.hangup(retry)
}

// NewExchange is an exchange of a caller that no transport stands behind, for one request inside another (a batch) and
// for tests: notifications go where parent's go, if there is one. Its context is made by WithExchange.
func NewExchange(parent *Exchange, id []byte, method string, params []byte) *Exchange {
	x := &Exchange{ID: id, Method: method, Params: params, Version: defaultVersion}
	if parent != nil {
		x.Modern, x.Version, x.Session, x.Caller, x.Header, x.Token = parent.Modern, parent.Version, parent.Session, parent.Caller, parent.Header, parent.Token
		x.peer, x.remote, x.line, x.out = parent.peer, parent.remote, parent.line, relay{parent}
	}
	return x
}

// relay sends on another exchange's stream.
type relay struct{ to *Exchange }

func (r relay) send(frame []byte) error { return r.to.send(frame) }

// WithExchange gives the context that middlewares and handlers of x run in.
func WithExchange(ctx context.Context, x *Exchange) context.Context {
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	return kit.WithCaller(kit.WithNotifier(ctx, x), x.Caller)
}
