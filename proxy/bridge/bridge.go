// Package bridge makes an HTTP endpoint of a server that speaks over its standard input and output: a [Bridge] takes the
// requests that Streamable HTTP has, POST, GET and DELETE, and answers them from processes that it starts, watches and ends.
// With Options.Dial the other end is a connection of another kind, such as one of HTTP+SSE, where this says process.
//
// A route's session mode says how many processes there are. Per session, each session of the legacy era has a process of its
// own, from initialize to DELETE, and callers of the modern era, which has no sessions, have one for each principal. Shared,
// one process for each era serves everybody. In both modes requests get ids and progress tokens of the bridge's own on their
// way to a process, and on the way back the caller's own bytes: two callers with one id never get each other's answer.
package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/confine"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// Options is what to run, and how. Only Name, and Command or Dial, are required.
type Options struct {
	Name    string // of the agent, for messages
	Command string // started without a shell
	Args    []string
	Env     map[string]string // beside the few harmless variables that are inherited
	Cwd     string            // "" for ours
	Sandbox *confine.Rules    // what it may do; nil for all that we may
	Shared  bool              // one process for all instead of one for each session
	// Dial makes a connection to a server of the legacy era, in place of starting Command.
	Dial func() (transport.Transport, error)

	// Given completes what is started by what changes from start to start: the token of a login in Env. nil for nothing.
	Given func(ctx context.Context, as config.Server) (config.Server, error)
	// Judge hears how a process came up, nil or why it ended, and says what that means for the login that its token is of; nil for nothing.
	Judge func(ended error) (means error, refused bool)

	MaxFrame int64                 // bytes of one message, default 64 MiB
	Max      int                   // processes at once, default 64
	Idle     time.Duration         // after which a process that no session has is ended; default 10 min
	Spare    time.Duration         // after which one that has a session gives way to another where there are Max; default 30 s
	Settled  time.Duration         // a process that lived this long may be started again at once; default 10 s
	Leave    transport.GracePeriod // how long processes get to leave
	Logger   *slog.Logger
	// SideChannel gets what clients do not see of a process: its start and end, what it writes to stderr, what is not a message,
	// and requests of its own that are refused, with the refusal. Secrets in what is not a message are masked. The body is not to
	// be kept. nil for nobody.
	SideChannel func(e journal.Entry, body []byte)

	// Caller is the caller of the request that a context belongs to; nil for none in particular.
	Caller func(context.Context) Caller
	// Client is how the bridge introduces itself to a process that several callers share; default mcphud.
	Client session.Implementation
}

// Caller is who makes a request.
type Caller struct {
	Principal string // "" for anybody
	Left      bool   // gave up waiting; false where the wait was ended for them
	JSON      bool   // takes no event stream, whatever the request's own Accept says
}

// Bridge is the way to the processes of one route. It starts none before the first request.
type Bridge struct {
	o      Options
	log    *slog.Logger
	stderr *ring
	given  atomic.Pointer[config.Server] // what was started last by Options.Given
	life   context.Context               // of what is not done for one request
	end    context.CancelFunc
	wg     sync.WaitGroup // processes being ended

	mu          sync.Mutex
	sessions    map[string]*clientSession
	common      map[string]*start // processes that belong to no session, by era and principal
	children    map[*child]struct{}
	closed      bool
	sweep       *time.Timer // nil while no process needs it
	spawning    int         // processes being started
	starts      int         // processes started
	failures    int         // early deaths in a row
	retryAt     time.Time   // no process is started before
	legacyUntil time.Time   // the server was found to know nothing of the modern era
	how         error       // of the last death, without what was on stderr
	last        error       // of the last death
}

// New makes a bridge.
func New(o Options) *Bridge {
	if o.Max <= 0 {
		o.Max = 64
	}
	if o.Idle <= 0 {
		o.Idle = 10 * time.Minute
	}
	if o.Spare <= 0 {
		o.Spare = 30 * time.Second
	}
	if o.Settled <= 0 {
		o.Settled = 10 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Caller == nil {
		o.Caller = func(context.Context) Caller { return Caller{} }
	}
	if o.Client.Name == "" {
		o.Client = session.Implementation{Name: "mcphud", Version: "1.0.0"}
	}
	b := &Bridge{
		o: o, log: o.Logger.With("agent", o.Name),
		sessions: map[string]*clientSession{}, common: map[string]*start{}, children: map[*child]struct{}{},
	}
	b.stderr = &ring{onLine: func(line []byte) {
		b.record(journal.Entry{Dir: journal.In, Kind: journal.Stderr}, []byte(b.hide(string(line))))
	}}
	b.life, b.end = context.WithCancel(context.Background())
	return b
}

// record sends an entry about the agent's processes to Options.SideChannel.
func (b *Bridge) record(e journal.Entry, body []byte) {
	if b.o.SideChannel != nil {
		e.Server = b.o.Name
		b.o.SideChannel(e, body)
	}
}

var errClosed = errors.New("upstream closed")

// RoundTrip answers a request as an MCP server over Streamable HTTP would. An error means that no process could answer; the
// request may have reached one.
func (b *Bridge) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := drain(r)
	if err != nil {
		return nil, err
	}
	ids := r.Header[ingress.HeaderSession]
	id := ""
	if len(ids) > 0 {
		id = ids[0]
	}
	switch r.Method {
	case http.MethodPost:
		return b.post(r, id, body)
	case http.MethodGet:
		s := b.session(id)
		if s == nil {
			return refuse(r, nil, false, ingress.NoSession(id != "")), nil
		}
		return s.listen(r), nil
	case http.MethodDelete:
		if s := b.session(id); s != nil {
			b.endSession(s)
			return respond(r, http.StatusNoContent, "", nil), nil
		}
		return refuse(r, nil, false, ingress.NoSession(id != "")), nil
	}
	res := respond(r, http.StatusMethodNotAllowed, "", nil)
	res.Header.Set("Allow", "POST, GET, DELETE")
	return res, nil
}

func drain(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	defer func() { _ = r.Body.Close() }()
	if r.ContentLength <= 0 {
		return io.ReadAll(r.Body)
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

func (b *Bridge) session(id string) *clientSession {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[id]
}

func (b *Bridge) post(r *http.Request, id string, body []byte) (*http.Response, error) {
	env, err := ingress.Scan(body)
	modern := ingress.Modern(r)
	if err != nil {
		return refuse(r, env.ID, modern, err), nil
	}
	switch {
	case modern && env.Kind == jsonrpc.Request:
		return b.modern(r, env, body)
	case modern:
		return respond(r, http.StatusAccepted, "", nil), nil // there is nothing that a client could have to say unasked
	case env.Kind == jsonrpc.Request && env.Method == string(mcp.MethodInitialize):
		return b.initialize(r, env, body)
	}
	s := b.session(id)
	if s == nil {
		return refuse(r, env.ID, modern, ingress.NoSession(id != "")), nil
	}
	switch env.Kind {
	case jsonrpc.Request:
		return s.request(r, env, body)
	case jsonrpc.Notification:
		err = s.notify(r.Context(), env, body)
	default:
		err = s.answer(r.Context(), env, body)
	}
	if err != nil {
		return nil, err
	}
	return respond(r, http.StatusAccepted, "", nil), nil
}

// Close ends all processes and returns when nothing of them is left.
func (b *Bridge) Close() error {
	b.mu.Lock()
	b.closed = true
	if b.sweep != nil {
		b.sweep.Stop()
	}
	for c := range b.children {
		b.closeChild(c)
	}
	b.mu.Unlock()
	b.end()
	b.wg.Wait()
	return nil
}

// closeChild ends a process in the background; b.mu is held. A process is in children until it is ended, and ended once.
func (b *Bridge) closeChild(c *child) {
	delete(b.children, c)
	b.wg.Go(func() {
		c.die(errClosed)
		_ = c.t.Close() // says nothing that the process's end does not
	})
}

// discard ends a process that is no longer needed.
func (b *Bridge) discard(c *child) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.children[c]; ok {
		b.closeChild(c)
	}
}

// removeChild takes a process off that ended by itself.
func (b *Bridge) removeChild(c *child, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last, b.how = err, c.exitError()
	if early := !c.probing.Load() && time.Since(c.began) < b.o.Settled && (b.o.Shared || !c.introduced.Load()); early {
		b.failures++
		b.retryAt = time.Now().Add(failure.Backoff(b.failures, firstRetry, longestRetry))
	} else {
		b.failures = 0
	}
	b.detach(c)
	if _, ok := b.children[c]; ok {
		b.closeChild(c)
	}
	b.log.Warn(b.what()+" ended", "pid", c.pid(), "err", b.hide(err.Error()), "deaths in a row", b.failures)
	b.record(journal.Entry{Kind: journal.State, Note: fmt.Sprintf("%s %d ended: %s", b.what(), c.pid(), b.hide(b.how.Error()))}, nil)
}

const (
	firstRetry   = 250 * time.Millisecond
	longestRetry = 30 * time.Second

	patience = time.Second // how long a caller waits for a process to be due again
)

// evict ends the process that nobody used for longest, so that sessions which their clients forgot to end do not keep
// everybody else out until their time is over; b.mu is held. The client of its session will find that gone, and open another.
func (b *Bridge) evict() {
	var spare *child
	var since time.Time
	for c := range b.children {
		if at, idle := c.idleSince(); idle && (spare == nil || at.Before(since)) {
			spare, since = c, at
		}
	}
	if spare == nil || time.Since(since) < b.o.Spare {
		return
	}
	b.detach(spare)
	b.closeChild(spare)
	b.log.Info("longest idle "+b.what()+" ended to make room", "pid", spare.pid(), "idle", text.Duration(time.Since(since)))
}

// what is what leads to the agent, for messages.
func (b *Bridge) what() string {
	if b.o.Dial != nil {
		return "agent connection"
	}
	return "agent process"
}

// detach takes a process out of what leads to it; b.mu is held.
func (b *Bridge) detach(c *child) {
	for key, st := range b.common {
		if st.c == c {
			delete(b.common, key)
		}
	}
	for id, s := range b.sessions {
		if s.c == c {
			delete(b.sessions, id)
		}
	}
}

// spawn starts a process.
func (b *Bridge) spawn(ctx context.Context, modern bool) (*child, error) {
	b.mu.Lock()
	wait, last := time.Until(b.retryAt), b.how
	if len(b.children)+b.spawning >= b.o.Max {
		b.evict()
	}
	full, closed := len(b.children)+b.spawning >= b.o.Max, b.closed
	if !full && !closed {
		b.spawning++
		b.wg.Add(1)
		defer b.wg.Done()
		defer func() {
			b.mu.Lock()
			b.spawning--
			b.mu.Unlock()
		}()
	}
	b.mu.Unlock()
	switch {
	case closed:
		return nil, errClosed
	case full:
		return nil, &jsonrpc.RequestError{
			Kind: jsonrpc.KindQueueFull, Status: http.StatusServiceUnavailable, RetryAfter: time.Second,
			Message: fmt.Sprintf("agent '%s' runs %d processes already, the maximum; end sessions, or try again later", b.o.Name, b.o.Max),
		}
	case wait > patience:
		return nil, fmt.Errorf("its process keeps ending; next start in %s: %w", text.Duration(wait), last)
	case wait > 0:
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-b.life.Done():
			return nil, errClosed
		}
	}
	c, err := newChild(ctx, b, modern)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.starts++
	b.children[c] = struct{}{}
	err = c.exitError() // died before it was among the children, so that nobody else ends it
	if b.closed {
		err = errClosed
	}
	if err != nil {
		b.closeChild(c)
		return nil, err
	}
	b.log.Info(b.what()+" started", "pid", c.pid())
	b.record(journal.Entry{Kind: journal.State, Note: fmt.Sprintf("%s %d started", b.what(), c.pid())}, nil)
	return c, nil
}
