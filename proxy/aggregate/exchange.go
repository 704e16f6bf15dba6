package aggregate

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// exchange is one HTTP request, and the message in it. It is made by ServeHTTP and ends with it. c and what is about the message are set before the request
// is under way, and do not change then; agents' messages come from other goroutines, which may write to it until over is set.
type exchange struct {
	s       *Server
	c       *client
	w       http.ResponseWriter
	r       *http.Request
	env     jsonrpc.Envelope
	params  ingress.Params
	modern  bool
	version string
	events  bool                    // takes an event stream
	life    context.Context         // that the request is served in
	cancel  context.CancelCauseFunc // ends it
	began   time.Time
	caps    string // what a caller without a session can be asked for
	meant   string // the agent that the request is for, once that is clear
	asked   bool   // it was sent to that agent
	agent   string // that the request was passed to; under the client's mutex

	patience rpc.Patience

	mu   sync.Mutex // held while something is written to the client, so that nothing comes between
	out  *sse.Writer
	over bool // nothing may be written any more: the answer was, or nobody waits for it
}

// post serves a POST: one message. What is wrong with it is said before it is known whose it is, so that a message that is not one costs no session.
func (x *exchange) post(caller Caller) {
	body, err := ingress.Limits{Body: x.s.o.MaxRequest, Time: x.s.o.BodyTimeout}.Read(x.w, x.r)
	if err != nil {
		x.w.Header().Set("Connection", "close")
		x.refuse(err)
		return
	}
	x.env, err = ingress.Scan(body)
	if err != nil {
		x.modern = ingress.Modern(x.r)
		x.refuse(err)
		return
	}
	if x.env.Kind == jsonrpc.Response || x.env.Kind == jsonrpc.ErrorResponse {
		if c := x.session(caller); c != nil {
			c.handleAnswer(x.env)
			c.release()
			x.w.WriteHeader(http.StatusAccepted)
		}
		return
	}
	x.params, err = ingress.Inspect(x.env.Method, x.env.Params)
	var wrong error
	x.modern, x.version, wrong = ingress.Era(x.r.Header, x.env.Method, x.env.ID, x.env.Params, x.params)
	if err == nil {
		err = wrong
	}
	if err != nil {
		x.refuse(err)
		return
	}
	sse, json := ingress.Accepts(x.r.Header)
	x.events = sse
	if !sse && !json || !sse && x.env.Method == string(mcp.MethodSubscriptionsListen) {
		x.refuse(ingress.NotAcceptable(ingress.TypeJSON, ingress.TypeSSE))
		return
	}
	initialize := x.env.Method == string(mcp.MethodInitialize) && x.env.Kind == jsonrpc.Request && !x.modern
	switch {
	case initialize:
		x.initialize(caller)
		return
	case !x.modern && len(x.r.Header.Values(ingress.HeaderSession)) > 0:
		if x.c = x.session(caller); x.c == nil {
			return
		}
	default:
		x.caps = questionCapabilities(x.params.Caps)
		if x.c, err = x.s.acquireShared(caller, ingress.Hops(x.r.Header), x.caps); err != nil {
			x.refuse(err)
			return
		}
	}
	defer x.c.release()
	x.c.allow(caller)
	if x.env.Kind == jsonrpc.Notification {
		x.c.handleNotification(x.env)
		x.w.WriteHeader(http.StatusAccepted)
		return
	}
	x.serve()
}

// session is the one that a request names, in use; without one the request is refused.
func (x *exchange) session(caller Caller) *client {
	id := ""
	if ids := x.r.Header.Values(ingress.HeaderSession); len(ids) == 1 {
		id = ids[0]
	}
	if c := x.s.acquire(id, caller); c != nil {
		return c
	}
	if k := x.env.Kind; k == jsonrpc.Response || k == jsonrpc.ErrorResponse {
		x.env.ID = nil // which is that of our question
	}
	x.refuse(ingress.NoSession(id != ""))
	return nil
}

// end ends the session that a DELETE names. A session that does not exist has ended already; another caller's session
// does not exist for this one.
func (x *exchange) end(caller Caller) {
	if ids := x.r.Header.Values(ingress.HeaderSession); len(ids) == 1 && x.s.clients.Has(ids[0]) {
		c := x.session(caller)
		if c == nil {
			return
		}
		c.release()
		x.s.remove(c)
	}
	x.w.WriteHeader(http.StatusNoContent)
}

// serve answers a request. However it ends, the answer is the last that is written.
func (x *exchange) serve() {
	parent := x.r.Context()
	if x.c.id != "" {
		// In a session a client that goes cancels nothing: it says so.
		parent = context.WithoutCancel(parent)
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	x.life, x.cancel = ctx, cancel
	stop := context.AfterFunc(x.s.life, func() { cancel(errStopping) })
	defer stop()
	x.c.begin(x, cancel)
	defer x.c.endRequest(x)
	result, err := x.dispatch(ctx)
	switch {
	case err == errAnswered:
	case errors.Is(context.Cause(ctx), errCancelled), x.r.Context().Err() != nil:
		x.finish()
	case err != nil:
		x.refuse(err)
		x.record(err)
	default:
		x.reply(http.StatusOK, jsonrpc.NewResult(x.env.ID, jsonrpc.OneLine(result)))
	}
}

var (
	errStopping  = errors.New("the router is stopping")
	errCancelled = errors.New("the client cancelled the request")
)

// refuse answers with an error.
func (x *exchange) refuse(err error) {
	r := ingress.Refuse(x.env.ID, x.modern, err)
	if r.Failure.Kind == jsonrpc.KindInternal && r.Failure.Err != nil {
		x.s.log.Error("request failed", "method", x.env.Method, "err", err)
	}
	ingress.SetRetryAfter(x.w.Header(), r.RetryAfter)
	x.reply(r.Status, r.Frame)
}

// record has a request written down (in the audit, say) that no agent was asked: those that one was asked are written down where they are forwarded.
func (x *exchange) record(err error) {
	name := x.params.Name
	if name == nil {
		name = x.params.URI
	}
	if x.s.o.Refused == nil || x.asked || name == nil {
		return
	}
	if s, ok := jsonrpc.String(name); ok && x.meant == "" { // the caller may not know of the agent
		if refs := toolset.Candidates(s, x.s.o.Agents()); len(refs) == 1 {
			x.meant = refs[0].Server
		}
	}
	r := ingress.Refuse(x.env.ID, x.modern, err)
	x.s.o.Refused(&flow.Call{
		Request: flow.Request{W: x.w, R: x.r, Began: x.began, Agent: x.meant, Principal: x.c.principal},
		Message: flow.Message{Env: x.env, Params: x.params, Modern: x.modern, Version: x.version},
		Outcome: flow.Outcome{Status: r.Status, Sent: int64(len(r.Frame)), Failure: r.Failure},
	})
}

// reply writes the answer, once: as an event where the client reads a stream already, else as JSON.
func (x *exchange) reply(status int, frame []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over {
		return
	}
	x.over = true
	x.out.SetDeadline()
	if x.out.Begun() {
		x.event(frame)
		return
	}
	ingress.WriteJSON(x.w, status, frame)
}

// finish ends a request that nobody waits for any more: as a stream without an answer, since a request has to be answered by one of the two
// media types.
func (x *exchange) finish() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over && !x.out.Begun() {
		x.out.SetDeadline()
		x.out.Begin()
	}
	x.over = true
}
