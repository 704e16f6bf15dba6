package front

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// maxAsks bounds the questions to one client that wait for an answer.
const maxAsks = 256

// capability is what a client must have declared before it may get a request of this method.
func capability(method string) string { return cmp.Or(ingress.CapabilityFor(method), method) }

// can reports whether the client declared the capability that method needs.
func can(caps mcp.ClientCapabilities, method string) bool {
	switch capability(method) {
	case "sampling":
		return caps.Sampling != nil
	case "elicitation":
		return caps.Elicitation != nil
	case "roots":
		return caps.Roots != nil
	}
	return false
}

// ask is Ask for what mcp-go encodes and decodes.
func (p *peer) ask(ctx context.Context, method string, params, result any) error {
	var raw []byte
	if params != nil {
		var err error
		if raw, err = json.Marshal(params); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	answer, err := p.x.Ask(ctx, method, raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, result); err != nil {
		return fmt.Errorf("%s: the client's answer: %w", method, err)
	}
	if m, ok := result.(*mcp.CreateMessageResult); ok {
		content, err := mcp.ParseSamplingContent(m.Content)
		if err != nil {
			return fmt.Errorf("%s: the client's answer: %w", method, err)
		}
		m.Content = content
	}
	return nil
}

// Can reports whether the client declared that it answers requests of this method. A client of the modern era declares it
// with each request.
func (x *Exchange) Can(method string) bool {
	if x.Modern {
		caps := jsonrpc.Get(x.Params, "_meta", mcp.MetaKeyClientCapabilities, capability(method))
		return len(caps) > 0 && caps[0] == '{'
	}
	c := x.clientInfo()
	return c != nil && can(c.GetClientCapabilities(), method)
}

// Ask sends a request to the client of a session and returns the result. It is sent on the stream of the request that the
// question is about, or on the session's own where that cannot carry it, and waits until the client answers, ctx or the
// session ends. A client that answers with an error is a *jsonrpc.Error.
func (x *Exchange) Ask(ctx context.Context, method string, params []byte) (result json.RawMessage, err error) {
	if x.clientInfo() == nil || !x.Can(method) {
		err := error(jsonrpc.Errorf(jsonrpc.KindToolExecution, "the client did not declare the capability %q, which this needs", capability(method)).
			With("reason", "missing client capability"))
		x.failure.Store(&err)
		return nil, err
	}
	if x.line != nil {
		x.Waiting(func() { result, err = x.line.Ask(ctx, method, params) })
		return result, err
	}
	var answer reply
	x.Waiting(func() { answer, err = x.Session.ask(ctx, x, method, params) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	if answer.err != nil {
		return nil, fmt.Errorf("%s: the client answered: %w", method, answer.err)
	}
	return answer.result, nil
}

// reply is the client's answer to a question.
type reply struct {
	result []byte
	err    *jsonrpc.Error
}

// errSessionEnded is what ends with the session: questions, running requests and messages to its client.
var errSessionEnded = errors.New("the session ended")

// ask sends a question on the stream of x, or else on the session's own, and waits for the answer. When ctx ends first the client is told that nobody
// waits for it any more; an answer that comes all the same is dropped.
func (s *Session) ask(ctx context.Context, x *Exchange, method string, params []byte) (reply, error) {
	answer := make(chan reply, 1)
	s.mux.Lock()
	if len(s.asks) >= maxAsks {
		s.mux.Unlock()
		return reply{}, fmt.Errorf("too many unanswered requests to the client: %d", maxAsks)
	}
	s.lastAsk++
	id := strconv.FormatInt(s.lastAsk, 10)
	if s.asks == nil {
		s.asks = map[string]chan reply{}
	}
	s.asks[id] = answer
	s.mux.Unlock()
	defer func() {
		s.mux.Lock()
		delete(s.asks, id)
		s.mux.Unlock()
	}()
	send := func(frame []byte) error {
		if err := x.send(frame); !errors.Is(err, ErrOver) && !errors.Is(err, errNoStream) {
			return err
		}
		return s.push(frame)
	}
	if err := send(jsonrpc.NewRequest([]byte(id), method, params)); err != nil {
		return reply{}, err
	}
	select {
	case r := <-answer:
		return r, nil
	case <-s.ended:
		return reply{}, errSessionEnded
	case <-ctx.Done():
		_ = send(jsonrpc.NewNotification(string(mcp.MethodNotificationCancelled), fmt.Appendf(nil, `{"requestId":%s}`, id)))
		return reply{}, context.Cause(ctx)
	}
}

// deliverAnswer delivers the client's response to the waiting request. A response to nothing is dropped.
func (s *Session) deliverAnswer(e jsonrpc.Envelope) {
	s.mux.Lock()
	answer := s.asks[string(e.ID)]
	delete(s.asks, string(e.ID))
	s.mux.Unlock()
	if answer == nil {
		return
	}
	r := reply{result: e.Result}
	if e.Kind == jsonrpc.ErrorResponse {
		err, bad := jsonrpc.ParseError(e.Error)
		if bad != nil {
			err.Message = strings.TrimSpace(err.Message + " (" + bad.Error() + ")")
		}
		r.err = err
	}
	answer <- r
}
