package forward

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/certs"
)

// exchange is one call's request to the agent, and its answer.
type exchange struct {
	*Target
	c       *flow.Call
	out     outgoing
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
	ctx     context.Context
	cancel  context.CancelCauseFunc
	timer   *time.Timer // cancels when the agent is silent for too long; nil if it may be
	stay    func() bool // takes back that the end of the router ends an endless answer; nil for others
}

var (
	errSilent   = errors.New("the agent did not answer in time")
	errDraining = errors.New("the router no longer serves this agent")
	errLeft     = errors.New("the client stopped reading")
)

// run sends the request and passes the answer on.
func (x *exchange) run() {
	res, err := x.send()
	defer x.over()
	if err != nil {
		x.failed(err)
		return
	}
	x.answer(res)
}

// send sends the request; over ends what it began.
func (x *exchange) send() (*http.Response, error) {
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
	res, err := x.ask(x.ctx, x.c, x.out, x)
	x.c.Upstream = time.Since(began)
	return res, err
}

func starting(agent string, err error) error {
	return &jsonrpc.RequestError{
		Kind: jsonrpc.KindUpstream, Status: http.StatusServiceUnavailable, RetryAfter: time.Second, Err: err,
		Message: "Agent '" + agent + "' is still starting. Try again in a moment.",
	}
}

// probe is the pause between two attempts to connect to an agent that is starting.
const probe = 125 * time.Millisecond

// refused reports that no connection to the agent could be made, so that nothing was sent.
func refused(err error) bool {
	var op *net.OpError
	return errors.Is(err, syscall.ECONNREFUSED) && errors.As(err, &op) && op.Op == "dial"
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

// failed answers a call whose request had no answer.
func (x *exchange) failed(err error) {
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
		x.gone()
	case errors.Is(context.Cause(x.ctx), errDraining):
		x.c.Refuse(&jsonrpc.RequestError{Kind: jsonrpc.KindInterrupted, Message: "the router is stopping", Status: http.StatusServiceUnavailable, RetryAfter: time.Second})
	case x.elsewhere(err):
	default:
		x.c.Refuse(unreachable(err))
	}
}

// statusGone is what others log for a client that left before its answer; it is never sent.
const statusGone = 499

// gone records that nobody waits for the answer: the client disconnected, or lost its rights.
func (x *exchange) gone() {
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
