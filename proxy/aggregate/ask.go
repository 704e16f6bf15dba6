package aggregate

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

// ask passes an agent's request on to the client, over the stream of the call that caused it if that is known and has one.
// Callers without a session are asked by the answer to their call, in the modern era; the others cannot be asked, which the
// agent learns at once (ok is false). While the client has the question, the agent's calls are not taken for stuck.
func (c *client) ask(ctx context.Context, sess *session.Session, method string, params json.RawMessage) (json.RawMessage, *session.Fault, bool) {
	if c.s.o.Sole != nil && method == string(mcp.MethodListRoots) { // those that it was opened with, whoever calls
		if len(sess.Roots()) > 0 {
			return nil, nil, false
		}
		return json.RawMessage(`{"roots":[]}`), nil, true
	}
	ctx, cancel := context.WithTimeout(ctx, c.s.o.AskTime)
	defer cancel()
	if c.id == "" {
		p, _ := rpc.CausedBy(ctx).(*pendingCall)
		if p == nil {
			p = c.onlyPending(sess.Name())
		}
		if p == nil {
			return nil, nil, false
		}
		return p.ask(ctx, method, params)
	}
	cause, _ := rpc.CausedBy(ctx).(*exchange)
	if cause != nil {
		defer context.AfterFunc(cause.life, cancel)() // nobody waits for the answer then
	}
	for _, x := range c.requestsFor(sess.Name(), cause) {
		defer x.patience.Asking()() // until the answer is there, which the end of the loop is not
	}
	id := append(strconv.AppendInt([]byte(`"ask-`), c.nextID(), 10), '"')
	answer := make(chan jsonrpc.Envelope, 1)
	c.mu.Lock()
	c.asks[string(id)] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.asks, string(id))
		c.mu.Unlock()
	}()
	send := func(frame []byte) { // where the client reads: the call's own stream, that of another call at the agent, or the session's
		if cause != nil && cause.send(frame) {
			return
		}
		if x := c.exchangeWith(sess.Name(), true); x != nil && x.send(frame) {
			return
		}
		c.mu.Lock()
		c.general.put(frame)
		c.mu.Unlock()
	}
	send(jsonrpc.NewRequest(id, method, c.taskIn(sess.Name(), params, "_meta", metaRelated, "taskId")))
	select {
	case env := <-answer:
		if env.Kind == jsonrpc.Response {
			return json.RawMessage(env.Result), nil, true
		}
		fault, err := jsonrpc.ParseError(env.Error)
		if err != nil {
			fault = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the client's answer is a malformed error"}
		}
		return nil, fault, true
	case <-ctx.Done():
		send(jsonrpc.NewNotification(string(mcp.MethodNotificationCancelled), append(append([]byte(`{"requestId":`), id...), '}')))
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the request was cancelled"}, true
	}
}

// requestsFor are the requests under way that can be why an agent asks: the one that is known, or all at that agent.
func (c *client) requestsFor(agent string, cause *exchange) (all []*exchange) {
	if cause != nil {
		return []*exchange{cause}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for x := range c.running {
		if x.agent == agent {
			all = append(all, x)
		}
	}
	return all
}

// handleAnswer takes the client's answer. One that nobody waits for is dropped: the question may have been withdrawn while it was on its way.
func (c *client) handleAnswer(env jsonrpc.Envelope) {
	c.mu.Lock()
	answer := c.asks[string(env.ID)]
	delete(c.asks, string(env.ID))
	c.mu.Unlock()
	if answer != nil {
		answer <- env
	}
}
