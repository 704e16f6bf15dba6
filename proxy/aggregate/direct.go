package aggregate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/session/wire/sse"
	"github.com/mcphud/mcphud/session/wire/transport"
)

const (
	drainTime   = time.Second      // for the end of a stream that has brought its answer
	resumeTries = 5                // of a stream that ended before its answer, in a row
	maxMessage  = 64 << 20         // of an event
	resumeAfter = time.Second      // unless the agent says when
	resumeMost  = 30 * time.Second // whatever it says
)

// errAnswered is what a call returns whose answer the client has already.
var errAnswered = errors.New("answered")

// passes reports whether a call needs no translation: caller and agent are of one era, and nothing of the result is the
// router's business but the id of the request.
func (x *exchange) passes(era session.Era) bool {
	if x.s.o.Direct == nil || x.modern != (era == session.Modern) {
		return false
	}
	switch mcp.MCPMethod(x.env.Method) {
	case mcp.MethodPromptsGet, mcp.MethodResourcesRead, mcp.MethodCompletionComplete:
		return true
	case mcp.MethodToolsCall:
		return !x.makesTask()
	}
	return false
}

// direct makes a call in the client's session with the agent, past that session's own queue of requests: the request goes
// through what the router does with each, and the bytes of the answer go to the client. again reports that the agent did not
// know the session, so that nothing was done.
func (x *exchange) direct(ctx context.Context, sess *session.Session, st session.Status, agent, own string, params, token []byte) (again bool, err error) {
	// The session with the agent numbers its own requests; others of the client's may have the same id.
	id := append(strconv.AppendInt([]byte(`"d-`), x.c.nextID(), 10), '"')
	a := &answer{x: x, sess: sess, agent: agent, id: id, token: token}
	if token != nil {
		defer x.c.expectProgress(token, x)()
	}
	of := x.params
	switch {
	case of.Name != nil:
		of.Name = jsonrpc.Quote(own)
	case of.URI != nil:
		of.URI = jsonrpc.Quote(own)
	}
	relay := x.modern && x.env.Method == string(mcp.MethodToolsCall)
	h := x.forwardedHeaders(relay)
	h["Accept"] = []string{ingress.TypeJSON + ", " + ingress.TypeSSE}
	call := &flow.Call{Message: flow.Message{
		Env:    jsonrpc.Envelope{Kind: jsonrpc.Request, ID: id, Method: x.env.Method, Params: params},
		Params: of, Modern: x.modern, Body: jsonrpc.NewRequest(id, x.env.Method, params),
	}}
	if x.modern {
		call.Version = x.version
		h.Set("Mcp-Protocol-Version", x.version)
		for name, v := range mcp.StandardHeaders(x.version, mcp.MCPMethod(x.env.Method), params) {
			h.Set(name, v)
		}
	} else if st.SessionID != "" {
		h[ingress.HeaderSession] = []string{st.SessionID}
	}
	r := (&http.Request{Method: http.MethodPost, Header: h, ProtoMajor: 1, ProtoMinor: 1}).WithContext(x.s.o.InternalCaller(ctx, x.c.principal))
	for try := 1; ; try++ {
		call.Request = flow.Request{W: a, R: r, Began: time.Now(), Agent: agent}
		a.serve(call)
		switch {
		case a.done:
			return false, errAnswered
		case ctx.Err() != nil:
			return false, a.interruptCause(ctx)
		case a.err != nil:
			return false, a.err
		case a.events == nil:
			return a.status == http.StatusNotFound && !x.modern && try == 1, a.errorOf()
		case a.lastID == "" || x.modern || try > resumeTries:
			return false, a.cut()
		}
		select {
		case <-time.After(a.retry):
		case <-ctx.Done():
			return false, a.interruptCause(ctx)
		}
		// The stream goes on as the answer to another request.
		h["Last-Event-Id"], h["Accept"] = []string{a.lastID}, []string{ingress.TypeSSE}
		r = r.WithContext(r.Context())
		r.Method = http.MethodGet
		a.header, a.status, a.held, a.looked, a.events = nil, 0, nil, false, nil
		call = &flow.Call{}
	}
}

// interruptCause is why a call ended whose context did. The agent is told; of the modern era it learns by the end of the connection.
func (a *answer) interruptCause(ctx context.Context) error {
	why := context.Cause(ctx)
	if !a.x.modern {
		a.x.c.background(func(ctx context.Context) {
			params := append(append([]byte(`{"requestId":`), a.id...), '}')
			if err := a.sess.Notify(ctx, string(mcp.MethodNotificationCancelled), params); err != nil {
				a.x.s.log.Debug("cannot cancel a request at the agent", "agent", a.agent, "err", err)
			}
		})
	}
	if errors.Is(why, errIdle) {
		return timedOut(a.agent, why)
	}
	return &jsonrpc.RequestError{Kind: jsonrpc.KindInterrupted, Message: why.Error(), Status: http.StatusServiceUnavailable, Err: why}
}

// expectProgress has progress with a token go to an exchange, whatever stream of the agent's it comes on, until over is called.
func (c *client) expectProgress(token []byte, x *exchange) (over func()) {
	key := string(token)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expected[key] = x
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.expected, key)
	}
}

// answer takes what the router answers to a direct call, as an http.ResponseWriter: a result goes on to the client, messages
// of an event stream to whom they are for, and errors are kept.
type answer struct {
	x     *exchange
	sess  *session.Session
	agent string
	id    []byte // of the request, as the agent knows it
	token []byte

	header http.Header
	status int
	whole  int    // bytes of the body, -1 where it is not said
	held   []byte // of a body that is not passed on yet
	looked bool   // at the beginning of a long one
	passes bool   // each piece goes to the client as it comes

	events   *io.PipeWriter // an event stream; nil for another answer
	followed chan struct{}  // closed when all of it was read
	lastID   string
	retry    time.Duration

	done bool  // the client has the answer
	err  error // instead of the answer
}

// maxHeld is how much of a body is kept until it is known what it is.
const maxHeld = 64 << 10

// serve has the router serve a call, and waits for all of the answer. An answer that ended early after parts of it were passed
// on ends the client's connection, too.
func (a *answer) serve(c *flow.Call) {
	end := io.EOF
	defer func() {
		v := recover()
		if v != nil {
			end, a.status = io.ErrUnexpectedEOF, 0
		}
		if a.events != nil {
			_ = a.events.CloseWithError(end) // never fails
			<-a.followed
		}
		if v != nil && (a.passes || v != http.ErrAbortHandler) {
			panic(v)
		}
		if v == nil && a.events == nil && !a.done {
			a.settle(a.held)
		}
	}()
	a.x.s.o.Direct(c)
	if c.Failure != nil {
		end = io.ErrUnexpectedEOF
	}
}

// Header is the header of the answer.
func (a *answer) Header() http.Header {
	if a.header == nil {
		a.header = make(http.Header, 8)
	}
	return a.header
}

// WriteHeader finds out what comes.
func (a *answer) WriteHeader(status int) {
	if a.status != 0 || status < 200 {
		return
	}
	a.status, a.whole = status, -1
	if n, err := strconv.Atoi(a.Header().Get("Content-Length")); err == nil {
		a.whole = n
	}
	a.x.s.health.noteStatus(a.agent, status)
	if status != http.StatusOK || !ingress.IsEvents(a.header) {
		return
	}
	from, to := io.Pipe()
	a.events, a.followed = to, make(chan struct{})
	go func() {
		defer close(a.followed)
		_ = from.CloseWithError(a.follow(from)) // never fails
	}()
}

// Write takes a piece of the body.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	switch {
	case a.events != nil:
		return a.events.Write(p)
	case a.passes:
		return a.x.w.Write(p)
	case a.held == nil && a.whole == len(p):
		a.settle(p)
		if !a.done {
			a.held = append(a.held, p...)
		}
		return len(p), nil
	}
	a.held = append(a.held, p...)
	if len(a.held) < maxHeld || a.status != http.StatusOK || a.looked {
		return len(p), a.checkBound()
	}
	a.looked = true
	if before, ok := a.resultBegins(); ok && a.begin() {
		_, err := a.x.w.Write(slices.Concat(a.held[:before.Start], a.x.env.ID, a.held[before.End:]))
		a.held = nil
		return len(p), err
	}
	return len(p), nil
}

// checkBound is an error once too much is held.
func (a *answer) checkBound() error {
	if len(a.held) > maxMessage {
		return errors.New("the answer is too large")
	}
	return nil
}

// Flush does nothing: what was written is with the client, or must not be yet.
func (a *answer) Flush() {}

// SetWriteDeadline bounds how long the client may take to read what is passed on.
func (a *answer) SetWriteDeadline(t time.Time) error {
	if !a.passes {
		return nil
	}
	return http.NewResponseController(a.x.w).SetWriteDeadline(t)
}

// begin passes the body on from now on; false where the client reads an event stream already.
func (a *answer) begin() bool {
	x := a.x
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.over || x.out.Begun() {
		return false
	}
	x.over, a.passes, a.done = true, true, true
	h := x.w.Header()
	h["Content-Type"] = a.header["Content-Type"]
	h["X-Content-Type-Options"] = []string{"nosniff"}
	if a.whole >= 0 {
		a.whole += len(x.env.ID) - len(a.id)
		h["Content-Length"] = []string{strconv.Itoa(a.whole)}
	}
	x.out.SetDeadline()
	x.w.WriteHeader(http.StatusOK)
	return true
}

// resultBegins reports whether what is held of a body is the beginning of a result of which the id is there already: a member
// that does not end there tells. id is where the id stands.
func (a *answer) resultBegins() (id jsonrpc.Span, is bool) {
	rest := 0
	_ = jsonrpc.Spans(a.held, func(s jsonrpc.Span) bool { // ends with an error, as it is cut off
		rest = s.End
		if s.Key == "id" && jsonrpc.SameID(a.held[s.Start:s.End], a.id) {
			id = s
		}
		return true
	})
	return id, id.End > 0 && bytes.HasPrefix(bytes.TrimLeft(a.held[rest:], "{, \t\r\n"), []byte(`"result"`))
}

// reply answers the client by a result of the agent's, under the client's own id.
func (a *answer) reply(frame []byte) {
	if start, end, ok := jsonrpc.Find(frame, "id"); ok { // was found to be there
		frame = slices.Concat(frame[:start], a.x.env.ID, frame[end:])
	}
	a.x.reply(http.StatusOK, jsonrpc.OneLine(frame))
	a.done = true
}

// settle answers the client by a whole body that is the agent's result.
func (a *answer) settle(body []byte) {
	if a.status != http.StatusOK {
		return
	}
	if env, err := jsonrpc.Scan(body); err == nil && env.Kind == jsonrpc.Response && jsonrpc.SameID(env.ID, a.id) {
		a.reply(body)
	}
}

// follow reads an event stream to its end. Messages about the call go to the client, others to the session with the agent, as if
// they had come there.
func (a *answer) follow(from io.Reader) error {
	x := a.x
	defer x.patience.Stop()
	limit := x.s.o.Limit(a.agent)
	if a.token == nil {
		limit = max(limit, maxSilence)
	}
	x.patience.Start(limit, 0, func(bool) { x.cancel(errIdle) })
	events := sse.NewReader(from, maxMessage, 0)
	for {
		e, err := events.Next()
		if id := events.LastID(); id != "" {
			a.lastID = id
		}
		if a.retry = resumeAfter; err != nil {
			if d, ok := events.Retry(); ok {
				a.retry = min(d, resumeMost)
			}
			return err
		}
		if e.Name == "message" {
			a.message(e.Data)
		}
	}
}

// message takes a message of the stream.
func (a *answer) message(frame []byte) {
	x := a.x
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		x.s.log.Debug("agent sent an event that is not JSON-RPC", "agent", a.agent, "err", err)
		return
	}
	switch env.Kind {
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		if a.done || a.err != nil || !jsonrpc.SameID(env.ID, a.id) {
			return
		}
		if env.Kind == jsonrpc.Response {
			a.reply(frame)
			_ = http.NewResponseController(x.w).Flush() // what is left of the stream must not keep the client waiting
		} else {
			a.held, a.err = frame, a.refusal(frame)
		}
		x.patience.Stop()
		time.AfterFunc(drainTime, func() { x.cancel(nil) })
	case jsonrpc.Notification:
		if !x.handleOwnMessage(a.agent, frame, a.token) {
			a.sess.Received(frame, x)
		}
	default:
		a.sess.Received(frame, x)
	}
}

// errorOf is the error that an answer of one piece is, or says.
func (a *answer) errorOf() error {
	if a.status == 0 {
		return agentError(a.agent, &failure.Error{Kind: failure.ChannelClosed, Message: "answer ended early"})
	}
	return a.refusal(a.held)
}

func (a *answer) refusal(body []byte) error {
	e := (&transport.HTTPError{Status: a.status, Method: http.MethodPost, URL: agentURL(a.agent), Header: a.header, Body: body}).Explain()
	if env, err := jsonrpc.Scan(body); err == nil && env.Kind == jsonrpc.ErrorResponse && e.Kind != failure.OAuth {
		e = rpc.ErrorOf(env.Error)
		e.Status = a.status
	} else if a.status < 300 {
		e = &failure.Error{Kind: failure.Protocol, Message: "its answer is not a JSON-RPC response to the request"}
	}
	return a.x.translateError(agentError(a.agent, e))
}

// cut is the error for an event stream that ended before the answer.
func (a *answer) cut() error {
	return agentError(a.agent, &failure.Error{Kind: failure.ChannelClosed, Message: "the server closed the response stream without answering"})
}
