// Fourth part of an exchange: its request is framed and sent, within its time, and a call without an answer is refused, or served by
// another upstream.

package forward

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/certs"
)

// exchange is one call's request to the agent, and its answer. The goroutine that serves the call has it; only the timers touch it beside that, and
// they only cancel ctx.
type exchange struct {
	*Target
	c       *flow.Call
	out     outgoing          // what is sent
	id      []byte            // of the request as the agent sees it
	session *sessions.Session // whose session it is sent in; nil without
	version string            // of the protocol, for the answer's header; "" if it is not known
	opens   bool              // a successful answer opens a session
	minted  bool              // the session has an id of the router's
	rewrite bool              // the answer introduces the server
	unwrap  bool              // an event stream must become the one JSON text that it leads to
	endless bool              // the answer is an event stream without an end

	rc      *http.ResponseController // of the client's connection
	bounded time.Time                // when its deadline was set; zero before
	ctx     context.Context          // of the request to the agent: the caller's, and shorter; nil before begin
	cancel  context.CancelCauseFunc  // with why: errSilent, errDraining, or nil once it is over
	timer   *time.Timer              // cancels when the agent is silent for too long; nil if it may be
	stay    func() bool              // takes back that the end of the router ends an endless answer; nil for others
}

// Why an exchange ends early, as causes of its context; answerFailure has the words for callers.
var (
	errSilent   = errors.New("the agent did not answer in time")
	errDraining = errors.New("the router no longer serves this agent")
	errLeft     = errors.New("the client stopped reading")
)

// run makes the exchange: it sends the request and passes the answer on.
func (x *exchange) run() {
	x.finish(x.begin())
}

// begin sends the request; over ends what it began.
func (x *exchange) begin() (*http.Response, error) {
	x.ctx, x.cancel = context.WithCancelCause(flow.With(x.c.R.Context(), x.c))
	if x.out.method != http.MethodGet || x.c.Task { // a stream may have nothing to say for long
		cancel := x.cancel
		x.timer = time.AfterFunc(x.Route.Timeout, func() { cancel(errSilent) })
	}
	if x.endless {
		cancel := x.cancel
		x.stay = context.AfterFunc(x.stays, func() { cancel(errDraining) })
	}
	began := time.Now()
	res, err := x.roundTrip(x.ctx, x.c, x.out, x)
	x.c.Upstream = time.Since(began)
	return res, err
}

// probe is the pause between two attempts to connect to an agent that is starting.
const probe = 125 * time.Millisecond

// clock is the time that an agent has to answer.
type clock interface{ alive() }

// roundTrip sends a request, and waits for an agent that starts: its time to answer, where that is measured, begins when it listens.
// c is as for request.
func (t *Target) roundTrip(ctx context.Context, c *flow.Call, o outgoing, measured clock) (*http.Response, error) {
	began := time.Now()
	for {
		res, err := t.up.RoundTrip(t.request(ctx, c, o))
		if err == nil || t.Route.WaitReady == 0 || !connectionRefused(err) || c != nil && c.Elsewhere != nil {
			return res, err
		}
		if time.Since(began)+probe > t.Route.WaitReady {
			return nil, stillStarting(t.Route.Name, err)
		}
		pause := time.NewTimer(probe)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, err
		}
		if measured != nil {
			measured.alive()
		}
	}
}

// connectionRefused reports that no connection to the agent could be made, so that nothing was sent.
func connectionRefused(err error) bool {
	var op *net.OpError
	return errors.Is(err, syscall.ECONNREFUSED) && errors.As(err, &op) && op.Op == "dial"
}

// stillStarting is the error for callers of an agent that does not listen yet.
func stillStarting(agent string, err error) error {
	return &jsonrpc.RequestError{
		Kind: jsonrpc.KindUpstream, Status: http.StatusServiceUnavailable, RetryAfter: time.Second, Err: err,
		Message: "Agent '" + agent + "' is still starting. Try again in a moment.",
	}
}

// outgoing is what a request to an agent has of its own, beside what request takes from the caller and the route.
type outgoing struct {
	method  string   // POST, GET or DELETE
	body    []byte   // nil for none
	session string   // of the agent; "" for none
	version string   // overrides the caller's; "" leaves that
	accept  []string // of the header Accept
	url     *url.URL // instead of the endpoint; nil for that
}

// headerVersion names the protocol version; this and the names below are in canonical form, as the keys of a http.Header.
const headerVersion = "Mcp-Protocol-Version"

// passed are the headers of a caller that are forwarded to the agent. All others stay with the router: credentials,
// cookies, X-Forwarded-… and the like.
var passed = []string{
	"Baggage", "Last-Event-Id", "Mcp-Method", "Mcp-Name", headerVersion, "Traceparent", "Tracestate", "User-Agent",
}

var (
	jsonType   = []string{ingress.TypeJSON}
	acceptBoth = []string{ingress.TypeJSON + ", " + ingress.TypeSSE}
)

// request frames a request to the agent anew. c is nil for one that the router makes on its own account. Headers of the route come last and win: they are
// the agent's credentials, in whose place no caller can put any. The hops are counted up, so that a router that leads to itself ends.
func (t *Target) request(ctx context.Context, c *flow.Call, o outgoing) *http.Request {
	r := new(http.Request).WithContext(ctx)
	r.Method, r.URL, r.Host = o.method, t.url, t.url.Host
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	if o.url != nil {
		r.URL = o.url
	}
	h := make(http.Header, 8)
	r.Header = h
	values := make([]string, 0, 3) // one allocation for those that are ours alone
	set := func(name, v string) {
		values = append(values, v)
		h[name] = values[len(values)-1 : len(values) : len(values)]
	}
	hops := 1
	if c != nil {
		copyPassed(h, c.R.Header)
		hops += ingress.Hops(c.R.Header)
	}
	set(ingress.HeaderHops, strconv.Itoa(hops))
	if _, ok := h["User-Agent"]; !ok {
		h["User-Agent"] = nil // keeps net/http from naming itself
	}
	h["Accept"] = o.accept
	if o.session != "" {
		set(ingress.HeaderSession, o.session)
	}
	if o.version != "" {
		set(headerVersion, o.version)
	}
	if t.basic != nil {
		h["Authorization"] = t.basic
	}
	for name, v := range t.Route.Headers {
		h[name] = v
	}
	if o.body != nil {
		h["Content-Type"] = jsonType
		r.ContentLength = int64(len(o.body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(o.body)), nil }
		r.Body, _ = r.GetBody() // never fails
	}
	return r
}

// copyPassed copies what of a caller's headers goes to the agent: those of passed, and arguments of tools that are repeated there (SEP-2243).
func copyPassed(to, from http.Header) {
	for _, name := range passed {
		if v := from[name]; len(v) > 0 {
			to[name] = v
		}
	}
	for name, v := range from {
		if strings.HasPrefix(name, mcp.HeaderParamPrefix) {
			to[name] = v
		}
	}
	// What Connection names is meant for the next hop only, and that is the router.
	for _, v := range from["Connection"] {
		for name := range strings.SplitSeq(v, ",") {
			delete(to, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
}

// finish passes the answer on, or says why there is none, and ends what begin began.
func (x *exchange) finish(res *http.Response, err error) {
	defer x.over()
	if err != nil {
		x.answerFailure(err)
		return
	}
	x.answer(res)
}

// alive gives the agent its time anew.
func (x *exchange) alive() {
	if x.timer != nil {
		x.timer.Reset(x.Route.Timeout)
	}
}

// patient removes the timeout: the agent may be silent from now on.
func (x *exchange) patient() {
	if x.timer != nil {
		x.timer.Stop()
		x.timer = nil
	}
}

// over ends the exchange with the agent, whatever state it is in.
func (x *exchange) over() {
	x.patient()
	if x.stay != nil {
		x.stay() // or the context would hold on to every stream that there ever was
	}
	x.cancel(nil)
}

// answerFailure answers a call whose request had no answer.
func (x *exchange) answerFailure(err error) {
	for _, name := range returned { // of an answer that began and is not passed on
		delete(x.c.W.Header(), name)
	}
	switch {
	case errors.Is(context.Cause(x.ctx), errSilent):
		x.c.Refuse(&jsonrpc.RequestError{
			Kind: jsonrpc.KindTimeout, Status: http.StatusGatewayTimeout, Err: err,
			Message: "Agent '" + x.c.Agent + "' did not answer within " + text.Duration(x.Route.Timeout),
		})
	case x.c.R.Context().Err() != nil:
		x.recordGone()
	case errors.Is(context.Cause(x.ctx), errDraining):
		x.c.Refuse(&jsonrpc.RequestError{Kind: jsonrpc.KindInterrupted, Message: "the router is stopping", Status: http.StatusServiceUnavailable, RetryAfter: time.Second})
	case x.tryElsewhere(err):
	default:
		x.c.Refuse(unreachable(err))
	}
}

// tryElsewhere has a call that could not be sent served by another upstream, if it may be and there is one; true if the call is answered.
func (x *exchange) tryElsewhere(err error) bool {
	again := x.c.Elsewhere
	if again == nil || !wasNotSent(err) || x.c.R.Context().Err() != nil {
		return false
	}
	x.avoid.Store(time.Now().Add(avoided).UnixNano())
	if x.session == nil {
		if x.cancel != nil {
			x.over()
		}
		return again()
	}
	if errors.Is(err, flow.ErrNotSent) {
		return false // it may have the session yet
	}
	// The process that had the session is gone. Told so, the client opens another.
	x.session.Forget()
	x.c.Refuse(ingress.NoSession(true))
	return true
}

// wasNotSent reports that nothing of a request was sent.
func wasNotSent(err error) bool {
	var op *net.OpError
	return errors.Is(err, flow.ErrNotSent) || errors.As(err, &op) && op.Op == "dial"
}

// statusGone is what others log for a client that left before its answer; it is never sent.
const statusGone = 499

// recordGone records that nobody waits for the answer: the client disconnected, or lost its rights.
func (x *exchange) recordGone() {
	if x.c.Status == 0 {
		x.c.Status = statusGone
	}
	f, ok := jsonrpc.AsRequestError(context.Cause(x.c.R.Context()))
	if !ok {
		f = &jsonrpc.RequestError{Kind: jsonrpc.KindCancelled, Message: "the client disconnected", Status: statusGone}
	}
	x.c.Failure = f
}

// unreachable is the error for an agent that gave no answer. A *jsonrpc.RequestError from the upstream is kept.
func unreachable(err error) *jsonrpc.RequestError {
	if f, ok := jsonrpc.AsRequestError(err); ok {
		return f
	}
	return &jsonrpc.RequestError{Kind: jsonrpc.KindUnreachable, Message: "Failed to reach agent: " + hide(err) + advice(err), Status: http.StatusBadGateway, Err: err}
}

// advice is what to do about an agent whose certificate cannot be verified.
func advice(err error) string {
	if errors.As(err, new(*certs.Error)) {
		return "; set ca in its route to a file with its certificate or its CA's"
	}
	if errors.As(err, new(x509.UnknownAuthorityError)) {
		return "; set ca in its route, or SSL_CERT_FILE in the router's environment, to a file with its certificate or its CA's, or install the CA on this machine"
	}
	return ""
}

// hide is the text of an error without secrets that may be in a URL in it.
func hide(err error) string { return mask.Text(err.Error()) }

// Own sends the router's own requests to the agent, as a client with sessions of its own. It opens no streams.
func (t *Target) Own() http.RoundTripper { return own{t} }

// own is the RoundTripper of Own.
type own struct{ t *Target }

// RoundTrip sends a request as the route has it: to its endpoint, with its headers.
func (o own) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return &http.Response{
			Status: "405 Method Not Allowed", StatusCode: http.StatusMethodNotAllowed, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Allow": {"POST, DELETE"}}, Body: http.NoBody, Request: r,
		}, nil
	}
	out := outgoing{method: r.Method, session: r.Header.Get(ingress.HeaderSession), accept: r.Header["Accept"]}
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if len(body) > 0 {
			out.body = body
		}
	}
	return o.t.roundTrip(r.Context(), &flow.Call{Request: flow.Request{R: r}}, out, nil)
}
