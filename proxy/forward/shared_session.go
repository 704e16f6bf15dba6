package forward

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// sharedSession is the session with the agent that all sessionless callers of one principal share.
type sharedSession struct {
	mu      sync.Mutex
	opening *opening         // nil when nobody opens
	open    *upstreamSession // nil before
}

// upstreamSession is an open session with the agent. Its id is "" if the agent gave none; callers are then served
// without.
type upstreamSession struct {
	id, version string
	until       time.Time // when it is worth asking the agent again; zero for never

	proved atomic.Bool // the agent has answered in it

	mu   sync.Mutex
	busy map[string]struct{} // ids of requests that are unanswered
}

type opening struct {
	done chan struct{}
	s    *upstreamSession
	err  error
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
				x.gone()
				return
			}
			if !x.elsewhere(err) {
				c.Refuse(unreachable(err))
			}
			return
		}
		x.out.session, x.out.version, x.version = s.id, s.version, s.version
		x.out.body, x.id = c.Body, c.Env.ID
		if s.id != "" && c.Env.Kind == jsonrpc.Request {
			over := func() {}
			if key := string(c.Env.ID); s.take(key) {
				over = func() { s.give(key) }
			} else {
				x.alias()
			}
			defer x.release(s, x.id, over)
		}
		res, err := x.send()
		if err == nil && s.id != "" && lost(res, x.id) {
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
		defer x.over()
		if err != nil {
			x.failed(err)
			return
		}
		x.answer(res)
		return
	}
}

// release ends what a caller without a session asked for. One that left, or got a timeout, has no way to cancel
// it, so that the router does. The id is not used again before the agent knows; then over is called.
func (x *exchange) release(s *upstreamSession, id []byte, over func()) {
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
		res, err := t.ask(ctx, nil, outgoing{method: http.MethodPost, accept: acceptBoth, body: note, session: s.id, version: s.version}, nil)
		if err == nil {
			err = res.Body.Close()
		}
		if err != nil {
			t.s.Logger.Debug("cannot cancel a request at the agent", "agent", t.Route.Name, "error", hide(err))
		}
		over()
	})
}

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
		begun := t.start(func() {
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

func (l *sharedSession) forget(s *upstreamSession) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == s {
		l.open = nil
	}
}

// take marks an id as that of an unanswered request; false if there is one already.
func (s *upstreamSession) take(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, busy := s.busy[id]; busy {
		return false
	}
	s.busy[id] = struct{}{}
	return true
}

func (s *upstreamSession) give(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, id)
}

var (
	ownID   = []byte(`"mcphud-initialize"`)
	ownInit = `{"protocolVersion":"` + mcp.ProtocolVersion20250618 + `","capabilities":{},"clientInfo":{"name":%s,"version":%s}}`
)

// openSession opens a session with the agent on the router's own account. An agent that does not want one is served without.
func (t *Target) openSession(ctx context.Context) (s *upstreamSession, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := silence{time.AfterFunc(t.Route.Timeout, func() { cancel(errSilent) }), t.Route.Timeout}
	defer limit.Stop()
	params := fmt.Appendf(nil, ownInit, jsonrpc.Quote(t.s.Name), jsonrpc.Quote(t.s.Version))
	res, err := t.ask(ctx, nil, outgoing{method: http.MethodPost, accept: acceptBoth, body: jsonrpc.NewRequest(ownID, string(mcp.MethodInitialize), params)}, limit)
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
	noted, err := t.ask(ctx, nil, outgoing{method: http.MethodPost, accept: acceptBoth, body: note, session: s.id, version: s.version}, limit)
	if err != nil {
		return nil, err
	}
	_ = noted.Body.Close() // it has nothing in it
	return s, nil
}

// clock is the time that an agent has to answer.
type clock interface{ alive() }

// silence is the clock of what the router asks on its own account.
type silence struct {
	*time.Timer
	after time.Duration
}

func (s silence) alive() { s.Reset(s.after) }

// ask sends a request, and waits for an agent that starts: its time to answer, where that is measured, begins when it listens.
// c is as for request.
func (t *Target) ask(ctx context.Context, c *flow.Call, o outgoing, measured clock) (*http.Response, error) {
	began := time.Now()
	for {
		res, err := t.up.RoundTrip(t.request(ctx, c, o))
		if err == nil || t.Route.WaitReady == 0 || !refused(err) || c != nil && c.Elsewhere != nil {
			return res, err
		}
		if time.Since(began)+probe > t.Route.WaitReady {
			return nil, starting(t.Route.Name, err)
		}
		pause := time.NewTimer(probe)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return nil, err
		}
		if measured != nil {
			measured.alive()
		}
	}
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
