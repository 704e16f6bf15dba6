// Third part of an exchange, for callers who opened no session: those of one principal share one that the router opens.

package forward

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// sharedSession is the session with the agent that all sessionless callers of one principal share. Principals have one each: what an agent keeps in a
// session must not get from one to another.
type sharedSession struct {
	mu      sync.Mutex       // guards both below
	opening *opening         // nil when nobody opens
	open    *upstreamSession // nil before, and once it was forgotten; replaced, never changed in place
}

// upstreamSession is an open session with the agent. Its id is "" if the agent gave none; callers are then served
// without.
type upstreamSession struct {
	id, version string
	until       time.Time // when it is worth asking the agent again; zero for never

	proved atomic.Bool // the agent has answered in it

	mu   sync.Mutex          // guards busy
	busy map[string]struct{} // ids of requests that are unanswered
}

// opening is an attempt to open a session that several wait for.
type opening struct {
	done chan struct{} // closed when it is over
	s    *upstreamSession
	err  error // why there is none; both are valid once done is closed
}

var errForgotten = errors.New("it forgot the session that it opened for sessionless requests; send the request again")

// refusedFor is how long an agent that opens no session is served without one before it is asked again.
const refusedFor = 30 * time.Second

// sessionless serves a caller who opened no session.
func (t *Target) sessionless(x *exchange) {
	c := x.c
	if c.Env.Method == string(mcp.MethodNotificationCancelled) && c.Env.Kind == jsonrpc.Notification {
		// Callers who share a session cannot cancel for each other: the id may be that of another one's request. To
		// cancel, they disconnect.
		c.Empty(http.StatusAccepted)
		return
	}
	l := t.sharedBy(c.Principal)
	for again := false; ; again = true {
		s, err := t.join(c.R.Context(), l)
		if err != nil {
			if c.R.Context().Err() != nil {
				x.recordGone()
				return
			}
			if !x.tryElsewhere(err) {
				c.Refuse(unreachable(err))
			}
			return
		}
		x.out.session, x.out.version, x.version = s.id, s.version, s.version
		x.out.body, x.id = c.Body, c.Env.ID
		if s.id != "" && c.Env.Kind == jsonrpc.Request {
			over := func() {}
			if key := string(c.Env.ID); s.claim(key) {
				over = func() { s.releaseID(key) }
			} else {
				x.alias()
			}
			defer x.cancelLeft(s, x.id, over)
		}
		res, err := x.begin()
		if err == nil && s.id != "" && sessionLost(res, x.id) {
			l.forget(s)
			// An agent that never answered in a session may mean something else, and must not do twice what it did.
			if !again && s.proved.Load() {
				_ = res.Body.Close()
				x.over()
				continue
			}
			// The caller has no session of its own that could be reported as gone.
			if strings.HasPrefix(res.Header.Get("Content-Type"), ingress.TypeJSON) {
				_ = res.Body.Close()
				err = errForgotten
			}
		} else if err == nil {
			s.proved.Store(true)
		}
		x.finish(res, err)
		return
	}
}

// sharedBy is the session of a principal, which may not be open yet.
func (t *Target) sharedBy(principal string) *sharedSession {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := t.shared[principal]
	if l == nil {
		l = &sharedSession{}
		t.shared[principal] = l
	}
	return l
}

// join is the open session, opened by the first who asks; the others wait.
func (t *Target) join(ctx context.Context, l *sharedSession) (*upstreamSession, error) {
	l.mu.Lock()
	if s := l.open; s != nil && (s.until.IsZero() || time.Now().Before(s.until)) {
		l.mu.Unlock()
		return s, nil
	}
	o := l.opening
	if o == nil {
		o = &opening{done: make(chan struct{})}
		// Not in the name of the caller, who may leave while others wait.
		begun := t.goTracked(func() {
			o.s, o.err = t.openSession(t.life)
			l.mu.Lock()
			l.opening, l.open = nil, o.s
			l.mu.Unlock()
			close(o.done)
		})
		if !begun {
			l.mu.Unlock()
			return nil, errDraining
		}
		l.opening = o
	}
	l.mu.Unlock()
	select {
	case <-o.done:
		return o.s, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

var (
	ownID   = []byte(`"mcphud-initialize"`)
	ownInit = `{"protocolVersion":"` + mcp.ProtocolVersion20250618 + `","capabilities":{},"clientInfo":{"name":%s,"version":%s}}`
)

// openSession opens a session with the agent on the router's own account. An agent that does not want one is served without. It advertises no
// capabilities: there is no caller who could answer what the agent asks.
func (t *Target) openSession(ctx context.Context) (s *upstreamSession, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := silence{time.AfterFunc(t.Route.Timeout, func() { cancel(errSilent) }), t.Route.Timeout}
	defer limit.Stop()
	params := fmt.Appendf(nil, ownInit, jsonrpc.Quote(t.s.Name), jsonrpc.Quote(t.s.Version))
	res, err := t.roundTrip(ctx, nil, outgoing{method: http.MethodPost, accept: acceptBoth, body: jsonrpc.NewRequest(ownID, string(mcp.MethodInitialize), params)}, limit)
	var answer []byte
	if err == nil {
		defer func() { _ = res.Body.Close() }()
		if id := res.Header.Get(ingress.HeaderSession); id != "" {
			defer func() {
				if err != nil || s.id == "" {
					t.Abandon(sessions.Binding{Agent: t.Route.Name, Endpoint: t.where, Upstream: id})
				}
			}()
		}
		answer, err = ownAnswer(res)
	}
	if err != nil {
		if errors.Is(context.Cause(ctx), errSilent) {
			err = &jsonrpc.RequestError{
				Kind: jsonrpc.KindTimeout, Status: http.StatusGatewayTimeout, Err: err,
				Message: "Agent '" + t.Route.Name + "' did not answer within " + text.Duration(t.Route.Timeout),
			}
		}
		return nil, err
	}
	if answer == nil {
		return &upstreamSession{until: time.Now().Add(refusedFor)}, nil
	}
	s = &upstreamSession{id: res.Header.Get(ingress.HeaderSession), version: versionIn(answer), busy: map[string]struct{}{}}
	if err := sessions.Check(s.id); err != nil {
		return nil, err
	}
	note := jsonrpc.NewNotification(string(mcp.MethodNotificationInitialized), nil)
	noted, err := t.roundTrip(ctx, nil, outgoing{method: http.MethodPost, accept: acceptBoth, body: note, session: s.id, version: s.version}, limit)
	if err != nil {
		return nil, err
	}
	_ = noted.Body.Close() // it has nothing in it
	return s, nil
}

// ownAnswer is the result of the router's own initialize, nil if the agent refused it.
func ownAnswer(res *http.Response) ([]byte, error) {
	next := func() ([]byte, error) { return io.ReadAll(io.LimitReader(res.Body, maxAnswer+1)) }
	if ingress.IsEvents(res.Header) {
		events := sse.NewReader(res.Body, maxAnswer, 0)
		next = func() ([]byte, error) {
			e, err := events.Next()
			return e.Data, err
		}
	}
	if _, busy := refusals[res.StatusCode]; busy || res.StatusCode >= 500 {
		body, _ := next() // also without it there is no session
		return nil, refusedBy(res, body)
	}
	for {
		frame, err := next()
		if err != nil {
			return nil, fmt.Errorf("answer to initialize ended early: %w", err)
		}
		env, err := jsonrpc.Scan(bytes.TrimSpace(frame))
		switch {
		case env.Kind == jsonrpc.Response && err == nil && bytes.Equal(env.ID, ownID):
			return env.Result, nil
		case env.Kind == jsonrpc.ErrorResponse && err == nil, res.StatusCode >= 300:
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("invalid answer to initialize: %w", err)
		case len(frame) > 0 && env.Kind == jsonrpc.Response:
			return nil, errors.New("answer to initialize has the wrong id")
		}
	}
}

// refusals are the statuses of initialize after which another attempt, or one without a session, is of no use.
var refusals = map[int]jsonrpc.ErrorKind{
	http.StatusTooManyRequests: jsonrpc.KindRateLimited, http.StatusServiceUnavailable: jsonrpc.KindQueueFull,
	http.StatusGatewayTimeout: jsonrpc.KindTimeout, http.StatusLoopDetected: jsonrpc.KindUpstream,
}

// maxRetryAfter is the longest pause in seconds that an agent is believed to need.
const maxRetryAfter = 24 * 60 * 60

// refusedBy is the error for callers whose agent opens no session now, in its own words where these are a JSON-RPC error.
func refusedBy(res *http.Response, body []byte) error {
	status := fmt.Errorf("initialize failed with HTTP status %d", res.StatusCode)
	kind, known := refusals[res.StatusCode]
	if !known {
		return status
	}
	f := &jsonrpc.RequestError{Kind: kind, Message: "Failed to reach agent: " + status.Error(), Status: res.StatusCode, Err: status}
	if env, err := jsonrpc.Scan(bytes.TrimSpace(body)); err == nil && env.Kind == jsonrpc.ErrorResponse {
		if e, err := jsonrpc.ParseError(env.Error); err == nil {
			f.Message = e.Message
		}
	}
	if n, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && n > 0 && n <= maxRetryAfter {
		f.RetryAfter = time.Duration(n) * time.Second
	}
	return f
}

// silence is the clock of what the router asks on its own account.
type silence struct {
	*time.Timer
	after time.Duration
}

func (s silence) alive() { s.Reset(s.after) }

// claim marks an id as that of an unanswered request; false if there is one already.
func (s *upstreamSession) claim(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, busy := s.busy[id]; busy {
		return false
	}
	s.busy[id] = struct{}{}
	return true
}

// alias gives the request an id of its own: two requests with one id in one session have been known to get each other's
// answers. The alias is a text that occurs nowhere else, so that it can be found in the answer without parsing it.
func (x *exchange) alias() {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	alias := []byte(`"mcphud-` + hex.EncodeToString(b[:]) + `"`)
	body := x.c.Body
	_ = jsonrpc.Spans(body, func(s jsonrpc.Span) bool { // was scanned before
		if s.Key != "id" {
			return true
		}
		x.out.body = append(append(append(make([]byte, 0, len(body)+len(alias)), body[:s.Start]...), alias...), body[s.End:]...)
		return false
	})
	x.id = alias
}

// releaseID ends what claim began.
func (s *upstreamSession) releaseID(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, id)
}

// forget has the next caller open another session, unless one has done so already.
func (l *sharedSession) forget(s *upstreamSession) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == s {
		l.open = nil
	}
}

// cancelLeft ends what a caller without a session asked for. One that left, or got a timeout, has no way to cancel
// it, so that the router does. The id is not used again before the agent knows; then over is called.
func (x *exchange) cancelLeft(s *upstreamSession, id []byte, over func()) {
	if f := x.c.Failure; f == nil || f.Kind != jsonrpc.KindCancelled && f.Kind != jsonrpc.KindTimeout {
		over()
		return
	}
	t := x.Target
	params := append(append([]byte(`{"requestId":`), id...), '}')
	note := jsonrpc.NewNotification(string(mcp.MethodNotificationCancelled), params)
	t.background(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, endTimeout)
		defer cancel()
		res, err := t.roundTrip(ctx, nil, outgoing{method: http.MethodPost, accept: acceptBoth, body: note, session: s.id, version: s.version}, nil)
		if err == nil {
			err = res.Body.Close()
		}
		if err != nil {
			t.s.Logger.Debug("cannot cancel a request at the agent", "agent", t.Route.Name, "error", hide(err))
		}
		over()
	})
}

// closeShared ends the sessions that the router opened.
func (t *Target) closeShared(ctx context.Context) {
	t.mu.Lock()
	all := t.shared
	t.shared = map[string]*sharedSession{}
	t.mu.Unlock()
	for _, l := range all {
		l.mu.Lock()
		s := l.open
		l.mu.Unlock()
		if s == nil || s.id == "" || ctx.Err() != nil {
			continue
		}
		res, err := t.up.RoundTrip(t.request(ctx, nil, outgoing{method: http.MethodDelete, session: s.id, version: s.version}))
		if err != nil {
			continue // it will find out by itself
		}
		_ = res.Body.Close()
	}
}
