package rpc

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Why what a server asked needs no answer from a person any more; causes of the context of OnServe.
var (
	ErrWithdrawn = errors.New("the server withdrew it")
	ErrCallEnded = errors.New("the call that caused it is over")
)

// maxPadding is how much of a message may be something else than params, more than as much again, before these are copied.
const maxPadding = 64 << 10

// serving is a request of the server that is being answered.
type serving struct {
	stop   context.CancelCauseFunc // of the context that OnServe has
	causes map[uint64]*pending     // the calls that can have caused it
}

// mayAsk are the requests because of which servers ask (2025-11-25, client features: nested inside of other requests).
func mayAsk(method string) bool {
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodResourcesRead, mcp.MethodTasksResult:
		return true
	}
	return false
}

// causes are the calls that can have made the server ask: that on whose stream the question came, if it is not over, or all that
// may ask, of which a task's question leaves those that are not about tasks. m.mu is held.
func (m *Mux) causes(of uint64, ofTask bool) map[uint64]*pending {
	all := map[uint64]*pending{}
	if of != 0 {
		if p := m.pending[of]; p != nil {
			all[of] = p
		}
		return all
	}
	for id, p := range m.pending {
		if mayAsk(p.spec.Method) && (!ofTask || p.spec.Method == string(mcp.MethodTasksResult)) {
			all[id] = p
		}
	}
	return all
}

// release ends the questions that only the call with this id can have caused; m.mu is held.
func (m *Mux) release(id uint64) {
	for _, s := range m.serving {
		if _, is := s.causes[id]; !is {
			continue
		}
		if delete(s.causes, id); len(s.causes) == 0 {
			s.stop(ErrCallEnded)
		}
	}
}

// request answers a request of the server, on a goroutine of its own: writing on the reader's could block both sides.
func (m *Mux) request(env jsonrpc.Envelope, frame []byte, of uint64, tag any) {
	m.tap.Append(journal.Entry{Dir: journal.In, Kind: journal.Request, Method: env.Method, ID: string(env.ID)}, frame)
	if fault := requestError(env, nil); fault != nil {
		m.decline(env.ID, fault)
		return
	}
	id := string(env.ID)
	if len(frame) > maxPadding+2*len(env.Params) { // while it waits it holds what was asked, and not what a server sent along
		env.ID, env.Params = []byte(id), bytes.Clone(env.Params)
	}
	ofTask := jsonrpc.Get(env.Params, "_meta", mcp.RelatedTaskMetaKey) != nil
	ctx, stop := context.WithCancelCause(m.ctx)
	m.mu.Lock()
	limit := maxServing
	if env.Method == string(mcp.MethodPing) { // nobody is asked, and a server that gets no answer gives the connection up
		limit *= 2
	}
	if _, twice := m.serving[id]; twice || len(m.serving) >= limit || m.closed != nil {
		m.mu.Unlock()
		stop(nil)
		m.refuse(env, twice)
		return
	}
	// On the stream of a call, that call is the cause. A tag without a call is of a request that was made past the mux: nothing here can
	// have caused the question.
	one := &serving{stop: stop}
	if p := m.pending[of]; p != nil {
		tag = p.spec.Tag
		one.causes = m.causes(of, ofTask)
	} else if tag == nil {
		one.causes = m.causes(of, ofTask)
	}
	m.serving[id] = one
	ctx = context.WithValue(ctx, causesKey{}, origin{m, one})
	if tag != nil {
		ctx = WithTag(ctx, tag)
	}
	m.wg.Add(1)
	m.mu.Unlock()
	go func() {
		defer m.wg.Done()
		defer stop(nil)
		result, fault := m.OnServe(ctx, env)
		m.mu.Lock()
		delete(m.serving, id)
		m.mu.Unlock()
		if ctx.Err() != nil && context.Cause(ctx) != ErrCallEnded {
			// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/cancellation#behavior-requirements
			return // cancelled requests get no answer
		}
		m.serve(m.ctx, env.ID, result, fault)
	}()
}

// serve sends the answer to a request of the server: fault, or else result.
func (m *Mux) serve(ctx context.Context, id, result []byte, fault *jsonrpc.Error) {
	env := jsonrpc.Envelope{Kind: jsonrpc.Response, ID: id, Result: result}
	kind := journal.Response
	frame := jsonrpc.NewResult(id, result)
	if fault != nil {
		env, kind = jsonrpc.Envelope{Kind: jsonrpc.ErrorResponse, ID: id}, journal.ErrorResponse
		frame = jsonrpc.NewError(id, fault.Code, fault.Message, fault.Data)
	}
	m.tap.Append(journal.Entry{Dir: journal.Out, Kind: kind, ID: string(id)}, frame)
	if err := m.t.Send(ctx, transport.Message{Frame: frame, Env: env}); err != nil && ctx.Err() == nil {
		m.tap.Append(journal.Entry{Dir: journal.Out, Kind: journal.State, Note: "the answer could not be sent: " + err.Error()}, nil)
	}
}

// stopServing handles notifications/cancelled of the server: it ends the context of OnServe with ErrWithdrawn.
func (m *Mux) stopServing(params []byte) {
	id := jsonrpc.Get(params, "requestId")
	m.mu.Lock()
	s := m.serving[string(id)]
	m.mu.Unlock()
	if s != nil {
		s.stop(ErrWithdrawn)
	}
}

// refuse says why a request of the server is not answered: to the server too, unless it has another with this id, or does not read.
func (m *Mux) refuse(env jsonrpc.Envelope, twice bool) {
	note := "not answered: too many requests of the server at once"
	if twice {
		note = "not answered: the server's request with this id is still being answered"
	}
	m.tap.Append(journal.Entry{Dir: journal.In, Kind: journal.State, Method: env.Method, Note: note}, nil)
	if !twice {
		m.decline(env.ID, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: fmt.Sprintf("more than %d requests at once", maxServing)})
	}
}

// decline answers a request of the server with an error, unless it does not read so many that went before. A server that asks and never reads could
// otherwise make goroutines without end.
func (m *Mux) decline(id []byte, fault *jsonrpc.Error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed != nil || m.refusing == maxServing {
		return
	}
	m.refusing++
	id = bytes.Clone(id)
	m.wg.Go(func() {
		m.serve(m.ctx, id, nil, fault)
		m.mu.Lock()
		m.refusing--
		m.mu.Unlock()
	})
}

// requestError is the error that a request of the server gets which is wrong in itself, nil where it is not.
func requestError(env jsonrpc.Envelope, err error) *jsonrpc.Error {
	switch {
	case env.Params != nil && env.Params[0] != '{': // of MCP, unlike those of JSON-RPC
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "params must be an object"}
	case err != nil:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	return nil
}
