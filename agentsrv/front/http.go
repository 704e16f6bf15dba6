package front

import (
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// serveMCP answers requests to the endpoint: a message by POST, a stream of a session by GET, the end of a session by DELETE.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	caller, ok := s.authenticate(w, r)
	if !ok {
		return
	}
	if r.Method == http.MethodPost {
		s.post(w, r, caller)
		return
	}
	switch {
	case (r.Method == http.MethodGet || r.Method == http.MethodDelete) && ingress.Modern(r):
		w.Header().Set("Allow", http.MethodPost)
		ingress.WriteJSON(w, http.StatusMethodNotAllowed, []byte(`{"error":"method_not_allowed","detail":"protocol version 2026-07-28 has no sessions; subscriptions/listen opens a stream"}`))
	case r.Method == http.MethodGet:
		s.get(w, r, caller)
	case r.Method == http.MethodDelete:
		if c := s.session(w, r, caller); c != nil {
			c.remove()
			c.release()
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		ingress.MethodNotAllowed(w, "POST, GET, DELETE")
	}
}

// requireAuth serves h to callers that Authenticate accepts.
func (s *Server) requireAuth(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if caller, ok := s.authenticate(w, r); ok {
			h.ServeHTTP(w, r.WithContext(kit.WithCaller(r.Context(), caller)))
		}
	})
}

// authenticate finds out who asks, or answers the request: with a 401 or 403 that says how to get a token (RFC 9728, section 5.1).
func (s *Server) authenticate(w http.ResponseWriter, r *http.Request) (kit.Identity, bool) {
	if s.o.Authenticate == nil {
		return kit.Identity{}, true
	}
	caller, err := s.o.Authenticate(r)
	if err == nil {
		return caller, true
	}
	f, ok := jsonrpc.AsRequestError(err)
	if !ok {
		f = &jsonrpc.RequestError{Kind: jsonrpc.KindUnauthorized, Message: "a valid bearer token is required: send Authorization: Bearer TOKEN", Err: err}
	}
	if status := f.HTTPStatus(false); status == http.StatusUnauthorized || status == http.StatusForbidden {
		var resource ingress.Resource
		if s.o.Resource != nil {
			resource = s.o.Resource(r)
		}
		w.Header().Set("WWW-Authenticate", resource.Challenge(f))
	}
	s.refuse(w, &Exchange{Modern: ingress.Modern(r)}, f)
	return caller, false
}

// session finds the session that a request names, in use until released, or answers the request.
func (s *Server) session(w http.ResponseWriter, r *http.Request, caller kit.Identity) *Session {
	c := s.sessionOf(r, caller)
	if c == nil {
		s.refuse(w, &Exchange{}, ingress.NoSession(sessionID(r) != ""))
	}
	return c
}

// sessionID is the id that a request names, "" if it names none or several.
func sessionID(r *http.Request) string {
	if ids := r.Header.Values(ingress.HeaderSession); len(ids) == 1 {
		return ids[0]
	}
	return ""
}

// get opens a stream of a session: the general one, or with Last-Event-ID the one that was interrupted.
func (s *Server) get(w http.ResponseWriter, r *http.Request, caller kit.Identity) {
	if sse, _ := ingress.Accepts(r.Header); !sse {
		s.refuse(w, &Exchange{}, ingress.NotAcceptable(ingress.TypeSSE))
		return
	}
	if v := r.Header.Get(mcp.HeaderProtocolVersion); v != "" && !mcp.IsValidProtocolVersion(v) {
		f := jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "Unsupported protocol version: %.40s", v)
		s.refuse(w, &Exchange{}, f.With("supported", mcp.ValidProtocolVersions))
		return
	}
	c := s.session(w, r, caller)
	if c == nil {
		return
	}
	defer c.release()
	st, seq, ok := c.generalStream(), int64(-1), true
	if last := r.Header.Get(mcp.HeaderLastEventID); last != "" {
		st, seq, ok = c.resume(last)
	}
	conn, lost := 0, (<-chan struct{})(nil)
	if ok {
		conn, lost, ok = st.attach(seq)
	}
	if !ok {
		s.refuse(w, &Exchange{}, jsonrpc.Errorf(jsonrpc.KindInvalidRequest, "cannot resume after this Last-Event-ID: the events that followed are no longer kept").
			With("reason", "unknown event id"))
		return
	}
	s.serve(w, r, st, conn, lost, true)
}

// serve writes what comes on st to one connection, until the stream or the connection ends or another connection takes
// over. It reports whether the client left.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, st *stream, conn int, lost <-chan struct{}, begun bool) (left bool) {
	out := writer{sse.NewWriter(w, r, s.o.Timeouts.Write), w}
	if begun {
		if out.Begin(); out.Flush() != nil {
			st.leave(conn)
			return true
		}
	}
	var beat <-chan time.Time
	var timer *time.Timer
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	for {
		if out.Begun() && beat == nil {
			if timer == nil {
				timer = time.NewTimer(s.o.Timeouts.Heartbeat)
			} else {
				timer.Reset(s.o.Timeouts.Heartbeat)
			}
			beat = timer.C
		}
		var err error
		select {
		case <-st.wake:
			b, mine := st.take(conn)
			if !mine {
				st.signal() // it was meant for the connection that took over
				return false
			}
			if b.whole != nil {
				out.writeAnswer(b.whole, st.sse)
				return false
			}
			if err = out.writeEvents(st, b); err == nil && b.end {
				return false
			}
		case <-beat:
			beat = nil
			err = out.Comment()
		case <-lost:
			return false
		case <-r.Context().Done():
			err = r.Context().Err()
		}
		if err != nil {
			st.leave(conn)
			return true
		}
	}
}

// refuse answers a request over HTTP that never became work.
func (s *Server) refuse(w http.ResponseWriter, x *Exchange, err error) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.Timeouts.Write)) // not every writer has deadlines
	s.refusal(x, err).Write(w)
}
