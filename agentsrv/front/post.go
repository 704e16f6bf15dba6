package front

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

func (s *Server) post(w http.ResponseWriter, r *http.Request, caller kit.Identity) {
	x := &Exchange{Header: r.Header, Caller: caller, Version: defaultVersion}
	if !s.start() {
		w.Header().Set("Connection", "close")
		s.refuse(w, x, &jsonrpc.Failure{Kind: jsonrpc.FailInterrupted, Message: errClosing.Error(), Status: http.StatusServiceUnavailable, RetryAfter: time.Second})
		return
	}
	defer s.work.Done()
	body, err := s.body(w, r)
	if err != nil {
		w.Header().Set("Connection", "close")
		s.refuse(w, x, err)
		return
	}
	env, err := scan(body)
	x.Frame, x.ID, x.Method, x.Params = body, env.ID, env.Method, env.Params
	if err != nil {
		if env.Kind == jsonrpc.Invalid && (env.ID == nil || !validID(env.ID)) {
			x.ID = nil
		}
		x.Modern = isModern(r)
		s.refuse(w, x, err)
		return
	}
	switch env.Kind {
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		s.postAnswer(w, r, x, env)
	default:
		m, err := inspect(x.Method, x.Params)
		if e := s.era(x, m); err == nil {
			err = e
		}
		if err != nil {
			s.refuse(w, x, err)
			return
		}
		x.Token = m.token
		s.postRequest(w, r, x)
	}
}

// postAnswer takes the client's answer to a question of the server.
func (s *Server) postAnswer(w http.ResponseWriter, r *http.Request, x *Exchange, env jsonrpc.Envelope) {
	x.ID = nil
	if isModern(r) {
		x.Modern = true
		s.refuse(w, x, jsonrpc.Fail(jsonrpc.FailInvalid, "protocol version %s has no requests to the client that this could answer; input is sent with inputResponses", mcp.ProtocolVersion20260728))
		return
	}
	c := s.session(w, r, x.Caller)
	if c == nil {
		return
	}
	defer s.sessions.release(c)
	c.answered(env)
	w.WriteHeader(http.StatusAccepted)
}

// postRequest serves a request or a notification whose envelope is in order.
func (s *Server) postRequest(w http.ResponseWriter, r *http.Request, x *Exchange) {
	sse, json := accepts(r)
	if !sse && !json || !sse && x.Method == string(mcp.MethodSubscriptionsListen) {
		s.refuse(w, x, errNotAcceptable)
		return
	}
	initialize := x.Method == string(mcp.MethodInitialize) && x.ID != nil
	switch {
	case x.Modern: // has no sessions; the header is ignored
	case initialize:
		x.Session = newSession(s, x.Caller.Principal) // whatever id the client sent: an id is never adopted
	case len(r.Header.Values(headerSession)) > 0:
		if x.Session = s.named(r, x.Caller); x.Session == nil {
			s.refuse(w, x, jsonrpc.Fail(jsonrpc.FailSession, "Missing or invalid MCP session"))
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
		s.notified(ctx, x)
		if x.Session != nil {
			s.sessions.release(x.Session)
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
			a = s.opened(x, a)
		}
		st.finish(a)
		if x.Session != nil && !initialize {
			x.Session.done(x)
			x.Session.forget()
			s.sessions.release(x.Session)
		}
	})
	if s.serve(w, r, st, 1, nil, false) && x.Modern {
		cancel(errClientGone)
	}
}

// opened registers the session of an initialize that went well.
func (s *Server) opened(x *Exchange, a *answer) *answer {
	if err := s.sessions.add(x.Session); err != nil {
		return s.refusal(x, err)
	}
	a.session = x.Session.id
	s.sessions.release(x.Session)
	return a
}

func (s *Server) named(r *http.Request, caller kit.Identity) *Session {
	ids := r.Header.Values(headerSession)
	if len(ids) != 1 {
		return nil
	}
	return s.sessions.use(ids[0], caller.Principal)
}

// notified takes a notification. Nobody waits for what comes of it.
func (s *Server) notified(ctx context.Context, x *Exchange) {
	if x.Method == string(mcp.MethodNotificationCancelled) && x.Session != nil {
		x.Session.cancelRequest(x.Params)
	}
	s.run(ctx, x)
}

// scan is jsonrpc.Scan with the errors of this server.
func scan(frame []byte) (jsonrpc.Envelope, error) {
	for _, c := range frame {
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			continue
		}
		if c == '[' && jsonrpc.Valid(frame) == nil {
			return jsonrpc.Envelope{}, jsonrpc.Fail(jsonrpc.FailBatch, "Batch requests are not supported")
		}
		break
	}
	env, err := jsonrpc.Scan(frame)
	var syntax *jsonrpc.SyntaxError
	switch {
	case err == nil:
		return env, nil
	case errors.As(err, &syntax) && jsonrpc.Valid(frame) == nil:
		return env, jsonrpc.Fail(jsonrpc.FailInvalid, "Invalid request: a message is a JSON object")
	case errors.As(err, &syntax), !utf8.Valid(frame):
		return jsonrpc.Envelope{}, jsonrpc.Fail(jsonrpc.FailParse, "Parse error: %s", err)
	}
	return env, jsonrpc.Fail(jsonrpc.FailInvalid, "Invalid request: %s", err)
}

// validID reports whether an id may be sent back: a string or a number.
func validID(id []byte) bool { return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9' }

// body reads the body of a POST under its limits.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if t := r.Header.Values("Content-Type"); len(t) != 1 || t[0] != typeJSON {
		kind := ""
		if len(t) == 1 {
			kind, _, _ = mime.ParseMediaType(t[0])
		}
		if kind != typeJSON {
			return nil, &jsonrpc.Failure{Kind: jsonrpc.FailInvalid, Message: "the body must be JSON: send Content-Type: " + typeJSON, Status: http.StatusUnsupportedMediaType}
		}
	}
	if enc := r.Header.Values("Content-Encoding"); len(enc) > 1 || len(enc) == 1 && enc[0] != "" && enc[0] != "identity" {
		return nil, &jsonrpc.Failure{Kind: jsonrpc.FailInvalid, Message: "no Content-Encoding is accepted; send the body as it is", Status: http.StatusUnsupportedMediaType}
	}
	large := &jsonrpc.Failure{
		Kind: jsonrpc.FailTooLarge, Data: map[string]any{"limit": s.o.MaxBody},
		Message: "Request too large: the limit is " + size(s.o.MaxBody),
	}
	if r.ContentLength > s.o.MaxBody {
		return nil, large
	}
	if len(r.TransferEncoding) > 0 { // RFC 9112 section 6.1: with a Content-Length too, what follows may be a smuggled request
		w.Header().Set("Connection", "close")
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Now().Add(s.o.Timeouts.Body)) // not every ResponseWriter has deadlines; a test's has none
	body, err := read(r.Body, s.o.MaxBody, r.ContentLength)
	_ = rc.SetReadDeadline(time.Time{})
	switch {
	case err == nil && int64(len(body)) > s.o.MaxBody:
		return nil, large
	case err == nil:
		return body, nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &jsonrpc.Failure{Kind: jsonrpc.FailTimeout, Message: "the body did not arrive within " + s.o.Timeouts.Body.String(), Status: http.StatusRequestTimeout}
	}
	return nil, &jsonrpc.Failure{Kind: jsonrpc.FailParse, Message: "the body broke off or is not framed as its headers say", Status: http.StatusBadRequest, Err: err}
}

// read reads at most limit+1 bytes. A client that only announces many bytes makes it reserve few.
func read(r io.Reader, limit, announced int64) ([]byte, error) {
	r = io.LimitReader(r, limit+1)
	buf := make([]byte, 0, min(max(announced+1, 512), 64<<10))
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return buf, err
		}
	}
}
