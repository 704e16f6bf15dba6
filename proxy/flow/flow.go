// Package flow is one request to an agent on its way through the router: what is known of it, the chain of middlewares
// that it passes, the upstream that it goes to, and the errors that the router answers with.
package flow

import (
	"context"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Call is one HTTP request to an agent's endpoint on its way through the middlewares. It belongs to one goroutine. Its
// fields are in groups by who writes them; everybody may read those of a group that was written before.
type Call struct {
	Request
	Message
	Outcome
	Steps

	Route  *routes.Route // set by the ingress
	Target Handler       // serves the call in the end; set by the ingress
	// Elsewhere serves a call of which nothing was sent by another upstream of its agent; false if none of them serves. nil where
	// there is no other.
	Elsewhere func() bool
}

// Request is what is known before the body is read. The router makes it; access control adds the principal.
type Request struct {
	W http.ResponseWriter
	R *http.Request

	Began     time.Time
	Agent     string // as in the path; there may be no such agent
	Task      bool   // asks for the page of a task, beside the endpoint, instead of the endpoint
	Principal string // who calls, "" for anybody; sessions are bound to it
}

// Message is what the body says: zero until the ingress has read it, or set by the maker of a call that did not come over HTTP.
type Message struct {
	Body    []byte           // of a POST, as received; not to be modified
	Env     jsonrpc.Envelope // of a POST; its slices are parts of Body
	Params  ingress.Params   // of a request or notification; parts of Body
	Modern  bool             // served by the rules of 2026-07-28
	Version string           // protocol version that the request names; "" if it names none
}

// Outcome is what came of the call, for metrics and audit when it is over. Whoever answers writes it.
type Outcome struct {
	Trace    string                // id of the trace that the call belongs to, "" if there is none
	Parent   [8]byte               // id of the span that the call is made in, zero if there is none
	Span     [8]byte               // id of the call's own span, zero if it has none yet
	Sampled  bool                  // spans of the trace are recorded
	Session  string                // hash of the session's id that is safe to log, "" without a session
	Status   int                   // HTTP status of the answer, 0 before it began
	Sent     int64                 // bytes of the answer's body
	Fault    string                // the fault that the route injected, "" for none
	Failure  *jsonrpc.RequestError // the router's own answer; nil where the answer is the agent's
	Upstream time.Duration         // until the agent's answer began, 0 if the agent was not asked
}

// Handler answers a call.
type Handler func(*Call)

// Middleware does something before, after or instead of the rest of the way.
type Middleware func(Handler) Handler

// Chain puts middlewares, outermost first, around a handler.
func Chain(h Handler, around ...Middleware) Handler {
	for i := len(around) - 1; i >= 0; i-- {
		h = around[i](h)
	}
	return h
}

// Name is the tool, prompt or resource that a request is about, "" if it is about none. It is text from outside.
func (c *Call) Name() string {
	v := c.Params.Name
	if v == nil {
		v = c.Params.URI
	}
	s, _ := jsonrpc.String(v)
	return s
}

// Denied reports that the router refused the call for a reason that lies with the caller.
func (c *Call) Denied() bool {
	if c.Failure == nil {
		return c.Status == http.StatusMethodNotAllowed && c.Upstream == 0
	}
	switch c.Failure.Kind {
	case jsonrpc.KindUnauthorized, jsonrpc.KindForbidden, jsonrpc.KindRateLimited, jsonrpc.KindMethodNotFound, jsonrpc.KindToolNotFound, jsonrpc.KindParse,
		jsonrpc.KindInvalidRequest, jsonrpc.KindBatch, jsonrpc.KindTooLarge, jsonrpc.KindInvalidParams, jsonrpc.KindSessionInvalid:
		return true
	}
	return c.Failure.Status == http.StatusLoopDetected
}

type key struct{}

// With returns a context that carries the call.
func With(ctx context.Context, c *Call) context.Context { return context.WithValue(ctx, key{}, c) }

// From is the call that a request to an agent is made for, nil for one that the router makes on its own account.
func From(ctx context.Context) *Call {
	c, _ := ctx.Value(key{}).(*Call)
	return c
}
