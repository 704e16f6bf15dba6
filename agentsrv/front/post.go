package front

import (
	"context"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/duplex"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// post takes one message. It returns when the response is written or the client is gone; in the legacy era the work on a request goes on after
// that, since the client may come back for the answer.
func (s *Server) post(w http.ResponseWriter, r *http.Request, caller kit.Identity) {
	x := &Exchange{Header: r.Header, Caller: caller, Version: defaultVersion, carried: duplex.Carried(r.Context())}
	if !s.start() {
		w.Header().Set("Connection", "close")
		s.refuse(w, x, &jsonrpc.RequestError{Kind: jsonrpc.KindInterrupted, Message: errClosing.Error(), Status: http.StatusServiceUnavailable, RetryAfter: time.Second})
		return
	}
	defer s.work.Done()
	body, err := ingress.Limits{Body: s.o.MaxBody, Time: s.o.Timeouts.Body}.Read(w, r)
	if err != nil {
		w.Header().Set("Connection", "close")
		s.refuse(w, x, err)
		return
	}
	env, err := ingress.Scan(body)
	x.Frame, x.ID, x.Method, x.Params = body, env.ID, env.Method, env.Params
	if err != nil {
		x.Modern = ingress.Modern(r)
		s.refuse(w, x, err)
		return
	}
	switch env.Kind {
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		s.postAnswer(w, r, x, env)
	default:
		if err := s.inspect(x); err != nil {
			s.refuse(w, x, err)
			return
		}
		s.postRequest(w, r, x)
	}
}

// postAnswer takes the client's answer to a question of the server.
func (s *Server) postAnswer(w http.ResponseWriter, r *http.Request, x *Exchange, env jsonrpc.Envelope) {
	x.ID = nil
	if ingress.Modern(r) {
		x.Modern = true
		s.refuse(w, x, jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "protocol version %s has no requests to the client; send input with inputResponses", mcp.ProtocolVersion20260728))
		return
	}
	c := s.session(w, r, x.Caller)
	if c == nil {
		return
	}
	defer c.release()
	c.deliverAnswer(env)
	w.WriteHeader(http.StatusAccepted)
}

// postRequest serves a request or a notification whose envelope is in order.
func (s *Server) postRequest(w http.ResponseWriter, r *http.Request, x *Exchange) {
	sse, json := ingress.Accepts(r.Header)
	if !sse && !json || !sse && x.Method == string(mcp.MethodSubscriptionsListen) {
		s.refuse(w, x, ingress.NotAcceptable(ingress.TypeJSON, ingress.TypeSSE))
		return
	}
	initialize := x.Method == string(mcp.MethodInitialize) && x.ID != nil
	switch {
	case x.Modern: // has no sessions; the header is ignored
	case initialize:
		x.Session = newSession(s, x.Caller) // whatever id the client sent: an id is never adopted
	case len(r.Header.Values(ingress.HeaderSession)) > 0:
		if x.Session = s.sessionOf(r, x.Caller); x.Session == nil {
			s.refuse(w, x, ingress.NoSession(true))
			return
		}
		if x.Header.Get(mcp.HeaderProtocolVersion) == "" {
			x.Version = x.Session.ProtocolVersion()
		}
	}
	if x.Session != nil {
		x.Caller.Session = x.Session.short
	}
	ctx, cancel := context.WithCancelCause(s.life)
	x.cancel = cancel
	if x.ID == nil {
		defer cancel(nil)
		s.handleNotification(ctx, x)
		if x.Session != nil {
			x.Session.release()
		}
		w.WriteHeader(http.StatusAccepted)
		return
	}
	st := newStream(sse, json)
	if x.Session != nil && !initialize {
		st.session, st.total, st.prime = x.Session, &s.kept, primes(x.Version)
	}
	x.out, x.abandon = st, func() { st.finish(&answer{}) }
	s.work.Add(1) // the caller of this function holds one
	if x.Session != nil && !initialize {
		x.Session.begin(x)
	}
	s.workers.Run(func() {
		defer s.work.Done()
		defer cancel(nil)
		a := s.run(ctx, x)
		if initialize && a.status == http.StatusOK && a.session == "" {
			a = s.openSession(x, a)
		}
		st.finish(a)
		x.markAnswered()
		if x.Session != nil && !initialize {
			x.Session.endCall(x)
			x.Session.forget()
			x.Session.release()
		}
	})
	if s.serve(w, r, st, 1, nil, false) && x.Modern {
		cancel(errClientGone)
	}
}

// openSession registers the session of an initialize that went well.
func (s *Server) openSession(x *Exchange, a *answer) *answer {
	if err := s.add(x.Session); err != nil {
		return s.errorAnswer(x, err)
	}
	a.session = x.Session.id
	x.Session.release()
	return a
}

// sessionOf is the session that a request names, in use until released; nil where there is none, or it is another principal's.
func (s *Server) sessionOf(r *http.Request, caller kit.Identity) *Session {
	return s.use(sessionID(r), caller.Principal)
}

// handleNotification takes a notification. Nobody waits for what comes of it.
func (s *Server) handleNotification(ctx context.Context, x *Exchange) {
	if x.Method == string(mcp.MethodNotificationCancelled) && x.Session != nil {
		x.Session.cancelRequest(x.Params)
	}
	s.run(ctx, x)
	x.markAnswered()
}
