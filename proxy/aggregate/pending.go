package aggregate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// pendingCall is a call of a caller of the modern era to an agent of the legacy one, which may ask the client by requests. What it
// asks is answered to the caller as input_required; the call goes on meanwhile, and the caller comes back to it, with what
// was asked for, by the state that only the caller knows.
type pendingCall struct {
	state        string
	caps         string // what its caller can be asked for
	c            *client
	agent        string
	method, name string // which must be the same when the caller comes again
	cancel       context.CancelCauseFunc
	patience     rpc.Patience
	asked        chan struct{} // cap 1: there is something to ask for
	done         chan struct{} // closed when result and err are there, which nobody changes then
	taken        chan struct{} // cap 1: somebody has them
	result       []byte
	err          error

	mu   sync.Mutex
	x    *exchange           // that waits for it now, nil while none does; at most one at a time
	asks map[string]question // not answered yet, by the key that the caller answers under
	last int                 // such key
}

// question is what an agent asks the caller of a pendingCall.
type question struct {
	text   []byte               // method and params, as inputRequests has them
	answer chan json.RawMessage // cap 1, for one answer: whoever sends it takes the question out of asks
}

const (
	statePrefix  = "mcphud-parked."
	maxPending   = 1000 // calls of one server that wait for answers
	maxPendingBy = 100  // those of one principal
)

// questionCapabilities is what of a caller's capabilities is about questions, in one form for all who can be asked the same.
func questionCapabilities(caps []byte) string {
	var all []string
	for _, name := range ingress.ClientCapabilities {
		v := jsonrpc.Get(caps, name)
		if len(v) == 0 || v[0] != '{' {
			continue
		}
		var modes []string
		for _, mode := range []string{"form", "url", "tools", "context"} {
			if m := jsonrpc.Get(v, mode); len(m) > 0 && m[0] == '{' {
				modes = append(modes, `"`+mode+`":{}`)
			}
		}
		all = append(all, `"`+name+`":{`+strings.Join(modes, ",")+`}`)
	}
	return "{" + strings.Join(all, ",") + "}"
}

// callPending makes a call that may ask its caller. It goes on in the background, with the life of the client and not of one request: the caller's
// connection ends with each input_required. It ends when nobody hears of it for as long as the agent may be silent.
func (x *exchange) callPending(ctx context.Context, sess *session.Session, agent string, params, token []byte) ([]byte, error) {
	p := &pendingCall{
		state: statePrefix + rand.Text(), caps: x.caps, c: x.c, agent: agent, method: x.env.Method, name: x.target(),
		asked: make(chan struct{}, 1), done: make(chan struct{}), taken: make(chan struct{}, 1), asks: map[string]question{},
	}
	life, cancel := context.WithCancelCause(x.c.life)
	carried := x.forwardedHeaders(false)
	p.cancel = cancel
	p.patience.Start(x.s.o.Limit(agent), 0, func(bool) { cancel(errIdle) })
	x.c.setPending(p, true)
	if !x.c.background(func(ctx context.Context) {
		defer x.s.expirePending(ctx, p)
		defer close(p.done)
		defer p.patience.Stop()
		defer x.c.setPending(p, false)
		r, err := sess.Call(life, p.method, params, session.CallOptions{Timeout: maxCall, MaxTimeout: maxCall, Relay: session.RelayOptions{Header: carried, Tag: p, OnOwn: func(frame []byte) bool {
			p.patience.Again()
			p.mu.Lock()
			x := p.x
			p.mu.Unlock()
			return x != nil && x.handleOwnMessage(agent, frame, token)
		}}})
		switch {
		case err == nil:
			p.result = toModern(p.method, r.Result)
		case errors.Is(context.Cause(life), errIdle):
			p.err = timedOut(agent, err)
		default:
			p.err = agentError(agent, p.c.s.soleError(err))
		}
	}) {
		p.patience.Stop()
		x.c.setPending(p, false)
		cancel(nil)
		return nil, errStopping
	}
	return p.wait(ctx, x)
}

// target is the name or URI that a request is about, as it was sent.
func (x *exchange) target() string { return string(x.params.Name) + string(x.params.URI) }

// wait waits for the answer, or for something to ask the caller for: then the result is input_required, and the call is kept until the caller comes
// back. x must be of the call's principal.
func (p *pendingCall) wait(ctx context.Context, x *exchange) ([]byte, error) {
	p.mu.Lock()
	busy := p.x != nil
	if !busy {
		p.x = x
	}
	p.mu.Unlock()
	if busy {
		return nil, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: requestState was used by another request already").With("field", "requestState")
	}
	defer func() {
		p.mu.Lock()
		p.x = nil
		p.mu.Unlock()
	}()
	x.c.mu.Lock()
	x.agent = p.agent
	x.c.mu.Unlock()
	for {
		select {
		case <-p.done:
			x.s.removePending(p)
			select {
			case p.taken <- struct{}{}:
			default:
			}
			return p.result, x.translateError(p.err)
		case <-ctx.Done(): // the caller cancelled it
			p.cancel(context.Cause(ctx))
			x.s.removePending(p)
			return nil, context.Cause(ctx)
		case <-p.asked:
		}
		requests := p.requests()
		if requests == nil {
			continue
		}
		switch err := x.s.addPending(p); {
		case errors.Is(err, errOver):
			continue
		case err != nil:
			p.cancel(err)
			return nil, err
		}
		return append(append(append(append([]byte(`{"resultType":"input_required","inputRequests":`), requests...), `,"requestState":`...), jsonrpc.Quote(p.state)...), '}'), nil
	}
}

// requests is what is asked for and not answered yet, nil if there is nothing.
func (p *pendingCall) requests() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []byte
	for key, q := range p.asks {
		out = append(append(append(append(out, ','), jsonrpc.Quote(key)...), ':'), q.text...)
	}
	if out == nil {
		return nil
	}
	out[0] = '{'
	return append(out, '}')
}

// ask has the caller asked, and waits for the answer. ok is false where the caller did not say that it can be asked that. Time that the caller
// takes does not count as the agent's silence.
func (p *pendingCall) ask(ctx context.Context, method string, params []byte) (json.RawMessage, *session.Fault, bool) {
	capability := ingress.CapabilityFor(method)
	if capability == "" || jsonrpc.Get([]byte(p.caps), capability) == nil {
		return nil, nil, false
	}
	text := append([]byte(`{"method":`), jsonrpc.Quote(method)...)
	if params != nil {
		text = append(append(text, `,"params":`...), params...)
	}
	q := question{append(text, '}'), make(chan json.RawMessage, 1)}
	p.mu.Lock()
	p.last++
	key := strconv.Itoa(p.last)
	p.asks[key] = q
	p.mu.Unlock()
	defer p.patience.Asking()()
	p.signal()
	select {
	case answer := <-q.answer:
		return answer, nil, true
	case <-ctx.Done():
		p.mu.Lock()
		delete(p.asks, key)
		p.mu.Unlock()
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the request was cancelled"}, true
	}
}

// signal wakes wait, if anybody waits; else the next one does not wait.
func (p *pendingCall) signal() {
	select {
	case p.asked <- struct{}{}:
	default:
	}
}

// resume continues a call that a request comes back to; handled is false for any other request. The state is a secret of whoever got it, and good for one
// principal, method and target alone: all that is wrong has one answer, which tells nobody that there is such a call.
func (x *exchange) resume(ctx context.Context) (result []byte, handled bool, err error) {
	state := jsonrpc.GetString(x.env.Params, "requestState")
	if !x.modern || !strings.HasPrefix(state, statePrefix) {
		return nil, false, nil
	}
	x.s.mu.Lock()
	p := x.s.pending[state]
	x.s.mu.Unlock()
	if p == nil || p.c.principal != x.c.principal || p.method != x.env.Method || p.name != x.target() {
		return nil, true, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Invalid params: requestState is unknown, expired, or of another request; call again without it").With("field", "requestState")
	}
	answers := jsonrpc.Get(x.env.Params, "inputResponses")
	p.mu.Lock()
	for key, q := range p.asks {
		if answer := jsonrpc.Get(answers, key); answer != nil {
			q.answer <- json.RawMessage(answer)
			delete(p.asks, key)
		}
	}
	p.mu.Unlock()
	p.signal() // what is left is asked for again
	result, err = p.wait(ctx, x)
	return result, true, err
}

// errOver is what addPending returns for a call that has its answer.
var errOver = errors.New("the call is over")

// addPending keeps a call for its caller to come back to. One that has ended is not kept: expirePending, which would take it out again, may have
// looked already. Whoever waits for it has the answer.
func (s *Server) addPending(p *pendingCall) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-p.done:
		return errOver
	default:
	}
	mine := 0
	for _, o := range s.pending {
		if o.c.principal == p.c.principal {
			mine++
		}
	}
	if s.pending[p.state] == nil && (len(s.pending) >= maxPending || mine >= maxPendingBy) {
		return jsonrpc.Errorf(jsonrpc.KindQueueFull, "too many calls wait for input; answer or cancel some")
	}
	s.pending[p.state] = p
	return nil
}

// expirePending keeps the answer to a call for a while if nobody waited for it: its caller may be about to come back. It is called once, after done
// is closed.
func (s *Server) expirePending(ctx context.Context, p *pendingCall) {
	p.cancel(nil)
	s.mu.Lock()
	_, waiting := s.pending[p.state]
	s.mu.Unlock()
	if !waiting {
		return
	}
	t := time.NewTimer(time.Minute)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.taken:
	case <-ctx.Done():
	}
	s.removePending(p)
}

// removePending has no further request come back to a call.
func (s *Server) removePending(p *pendingCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, p.state)
}

// setPending counts the calls that can be asked about.
func (c *client) setPending(p *pendingCall, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if is {
		c.open[p] = struct{}{}
		return
	}
	delete(c.open, p)
}

// onlyPending is the one call at an agent that may ask its caller, nil where there are several, or none: a question of one caller's call must not go to
// another. Calls whose questions wait for answers, which may take long, are thought to ask nothing more meanwhile, unless there are no others.
func (c *client) onlyPending(agent string) *pendingCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	var asking, others []*pendingCall
	for p := range c.open {
		switch {
		case p.agent != agent:
		case p.waits():
			asking = append(asking, p)
		default:
			others = append(others, p)
		}
	}
	switch {
	case len(others) == 1:
		return others[0]
	case len(others) == 0 && len(asking) == 1:
		return asking[0]
	}
	return nil
}

// waits reports whether the call waits for its caller.
func (p *pendingCall) waits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asks) > 0
}

// errAbandoned ends a call that nobody comes back to.
var errAbandoned = jsonrpc.Errorf(jsonrpc.KindCancelled, "nobody answers what the call asked")

// Abandon ends the call that waits for an answer under a requestState, if there is one. Whoever has the state may do that.
func (s *Server) Abandon(state string) {
	s.mu.Lock()
	p := s.pending[state]
	delete(s.pending, state)
	s.mu.Unlock()
	if p != nil {
		p.cancel(errAbandoned)
	}
}
