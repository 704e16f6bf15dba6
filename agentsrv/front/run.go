package front

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// run takes one exchange through the middlewares and the engine, and makes the answer of what comes out.
func (s *Server) run(ctx context.Context, x *Exchange) *answer {
	x.peer = s.newPeer(x, nil)
	result, err := s.pass(WithExchange(ctx, x), x)
	x.peer.flush()
	x.finish()
	cause := context.Cause(ctx)
	switch {
	case x.ID == nil:
		if err != nil {
			s.o.Logger.Debug("notification not handled", "method", x.Method, "err", err)
		}
		return &answer{}
	case errors.Is(cause, errCancelled), errors.Is(cause, errClientGone), errors.Is(cause, errSessionEnded):
		return &answer{}
	case err != nil && errors.Is(cause, errClosing):
		if _, ok := wireError(err); !ok {
			err = jsonrpc.Errorf(jsonrpc.KindInterrupted, "the server is stopping; the request was interrupted")
		}
	}
	if err != nil {
		return s.errorAnswer(x, err)
	}
	if bytes.ContainsAny(result, "\r\n") { // a frame is one line over stdio, and one field of an event
		var b bytes.Buffer
		if err := json.Compact(&b, result); err == nil {
			result = b.Bytes()
		}
	}
	return &answer{frame: jsonrpc.NewResult(x.ID, result), status: 200}
}

// pass takes an exchange through the middlewares. A panic in one of them is an error of this request alone.
func (s *Server) pass(ctx context.Context, x *Exchange) (result json.RawMessage, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	if x.Method == string(mcp.MethodInitialize) && !x.Modern {
		x.offerVersion()
	}
	return s.next(ctx, x)
}

// refusal is the response to a request that has no result.
func (s *Server) refusal(x *Exchange, err error) ingress.Refusal {
	if t, ok := wireError(err); ok {
		err = t
	}
	r := ingress.Refuse(x.ID, x.Modern, err)
	if r.Failure.Kind == jsonrpc.KindInternal {
		s.o.Logger.Error("request failed", "method", x.Method, "session", x.sessionName(), "err", err, "cause", r.Failure.Err)
	}
	return r
}

// errorAnswer is the same as an answer.
func (s *Server) errorAnswer(x *Exchange, err error) *answer {
	r := s.refusal(x, err)
	return &answer{frame: r.Frame, status: r.Status, retry: r.RetryAfter}
}

// sessionName is the short name of the session for logs, "" without one.
func (x *Exchange) sessionName() string {
	if x.Session == nil {
		return ""
	}
	return x.Session.short
}

// offerVersion gives an initialize that asks for no version the one that most clients know.
func (x *Exchange) offerVersion() {
	if jsonrpc.Get(x.Params, "protocolVersion") != nil {
		return
	}
	if params, err := jsonrpc.Update(x.Params, jsonrpc.Set(jsonrpc.Quote(defaultVersion), "protocolVersion")); err == nil {
		x.Params, x.Frame = params, nil
	}
}
