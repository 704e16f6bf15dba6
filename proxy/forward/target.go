// Second part of an exchange: a target takes a call, finds the session that it names, and has its request sent. A call's time in a
// target lies between Acquire and Release; Retire ends the target.

package forward

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Shared is what all targets of a router have in common. Only Sealer changes once it is in use: keys are read again while the router runs.
type Shared struct {
	Name     string // of the router; agents are introduced as NAME-proxy:AGENT
	Version  string // of the router, for agents that it introduces itself to
	Sessions *sessions.Table
	Sealer   atomic.Pointer[sessions.Sealer] // nil for ids that are kept
	Drain    context.Context                 // done when event streams that have no end shall end
	Logger   *slog.Logger

	WriteTimeout time.Duration // for a client to read what is written to it
}

// Target is a route in force and the way to its agent. A route that changes gets another Target, and the old one is retired: calls end where they
// began. Safe for concurrent use.
type Target struct {
	// Set by New.
	Route *routes.Route
	s     *Shared
	up    flow.Upstream
	url   *url.URL // that requests are made to; local for an agent that is a process
	where string   // the endpoint, without secrets
	name  string   // by which the agent is introduced
	basic []string // Authorization of the URL's user, nil if it has none

	stays context.Context // of event streams that have no end
	leave context.CancelFunc
	life  context.Context // of what the router does on its own account
	end   context.CancelFunc
	tasks sync.WaitGroup
	slots chan struct{} // of tasks that run at the same time
	avoid atomic.Int64  // until when other upstreams of the agent are better, in Unix nanoseconds

	mu      sync.Mutex                // guards what follows
	shared  map[string]*sharedSession // by principal; they stay until the target is retired
	calls   int                       // from Acquire to Release
	retired bool                      // no call may begin
	ended   bool                      // no task may start; after retired
	idle    chan struct{}             // closed when retired and no call is left
}

// local is the endpoint of an agent that is a process, which its upstream ignores.
var local = &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/mcp"}

// New makes a target. Retire ends it, and closes up.
func New(r *routes.Route, up flow.Upstream, s *Shared) *Target {
	t := &Target{
		Route: r, s: s, up: up, url: r.Endpoint(), name: s.Name + "-proxy:" + r.Name,
		shared: map[string]*sharedSession{}, idle: make(chan struct{}), slots: make(chan struct{}, maxTasks),
	}
	switch t.where = origin(t.url); {
	case t.url == nil:
		t.url, t.where = local, "command"
	case r.Socket != "":
		t.where = "unix://" + r.Socket + ":" + t.url.EscapedPath()
	}
	if u := t.url.User; u != nil {
		password, _ := u.Password()
		t.basic = []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password))}
	}
	t.life, t.end = context.WithCancel(context.Background())
	t.stays, t.leave = context.WithCancel(s.Drain)
	return t
}

// origin is a URL as it may be shown and compared: without user, password, query and fragment.
func origin(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}

// Acquire counts a call; it is false once the target is retired.
func (t *Target) Acquire() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.retired {
		t.calls++
	}
	return !t.retired
}

// Release ends what Acquire began.
func (t *Target) Release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls--
	if t.retired && t.calls == 0 {
		close(t.idle)
	}
}

// Calls is how many calls are being served.
func (t *Target) Calls() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls
}

// Serve answers a call whose envelope is in order. It returns once the answer is written, or the caller is gone; c then has status, bytes and what went
// wrong. An answer that breaks off once it has begun ends with the panic http.ErrAbortHandler, so that the client sees it cut.
func (t *Target) Serve(c *flow.Call) {
	switch c.R.Method {
	case http.MethodGet:
		if c.Task {
			t.taskPage(c)
			return
		}
		t.get(c)
	case http.MethodDelete:
		t.delete(c)
	default:
		t.post(c)
	}
}

// post serves a message, by what it is: one of the modern era has no session; initialize opens one; a session is that of the caller; without one the
// router has a session of its own for it. A response without a session is nobody's.
func (t *Target) post(c *flow.Call) {
	request := c.Env.Kind == jsonrpc.Request
	x := &exchange{Target: t, c: c, out: outgoing{method: http.MethodPost, body: c.Body, accept: c.R.Header["Accept"]}, id: c.Env.ID}
	x.unwrap = request && c.Env.Method != string(mcp.MethodSubscriptionsListen) && wantsJSON(c.R.Header)
	if x.unwrap || len(x.out.accept) == 0 {
		x.out.accept = acceptBoth
	}
	x.endless = c.Env.Method == string(mcp.MethodSubscriptionsListen)
	switch {
	case c.Modern:
		x.rewrite = request && c.Env.Method == string(mcp.MethodServerDiscover)
		x.version = c.Version
		x.run()
	case request && c.Env.Method == string(mcp.MethodInitialize):
		x.rewrite, x.opens = true, true
		x.run()
	case len(c.R.Header[ingress.HeaderSession]) > 0:
		s := t.findOrRefuse(c)
		if s == nil {
			return
		}
		defer s.Release()
		x.session, x.out.session, x.version = s, s.Upstream, s.Version
		if c.Version == "" {
			x.out.version = s.Version
		}
		x.run()
	case c.Env.Kind == jsonrpc.Response || c.Env.Kind == jsonrpc.ErrorResponse:
		c.Refuse(ingress.NoSession(false))
	default:
		t.sessionless(x)
	}
}

// wantsJSON reports that the caller did not announce that it reads event streams. `*/*` is the default of fetch and
// curl, with code behind them that parses one JSON text.
func wantsJSON(h http.Header) bool {
	v := h["Accept"]
	if len(v) == 0 || len(v) == 1 && (v[0] == "*/*" || v[0] == ingress.TypeJSON) {
		return true
	}
	var json, sse bool
	for _, line := range v {
		for part := range strings.SplitSeq(line, ",") {
			kind, _, _ := strings.Cut(part, ";")
			kind = strings.ToLower(strings.TrimSpace(kind))
			sse = sse || kind == ingress.TypeSSE || kind == "text/*"
			json = json || slices.Contains([]string{"*/*", "application/*", ingress.TypeJSON}, kind)
		}
	}
	return json && !sse
}

// get passes on the stream that the agent sends on its own account, in the caller's session.
func (t *Target) get(c *flow.Call) {
	s := t.findOrRefuse(c)
	if s == nil {
		return
	}
	defer s.Release()
	x := &exchange{Target: t, c: c, session: s, version: s.Version, endless: true}
	x.out = outgoing{method: http.MethodGet, session: s.Upstream, accept: c.R.Header["Accept"]}
	if c.Version == "" {
		x.out.version = s.Version
	}
	x.run()
}

// taskPage forwards the page of a background task: GET task?taskId=ID, beside the agent's endpoint. Agents that are
// processes have none.
func (t *Target) taskPage(c *flow.Call) {
	id := c.R.URL.Query().Get("taskId")
	switch {
	case id == "":
		c.JSON(http.StatusBadRequest, []byte(`{"error":"invalid_request","detail":"taskId is missing: ask for task?taskId=ID"}`))
		return
	case t.Route.Command != "":
		c.JSON(http.StatusNotFound, []byte(`{"error":"task_not_found","detail":"an agent that is a process has no task page; use tasks/get"}`))
		return
	}
	page := *t.url.ResolveReference(&url.URL{Path: "task"})
	query := t.url.Query()
	query.Set("taskId", id)
	page.RawQuery = query.Encode()
	x := &exchange{Target: t, c: c, out: outgoing{method: http.MethodGet, accept: jsonType, url: &page}}
	x.run()
}

// delete ends a session, here and at the agent. One that is not there has ended already.
func (t *Target) delete(c *flow.Call) {
	s, err := t.find(c)
	switch {
	case errors.Is(err, sessions.ErrForeign):
		c.Refuse(ingress.NoSession(true))
		return
	case err != nil:
		c.Empty(http.StatusNoContent)
		return
	}
	defer s.Release()
	s.Forget()
	ctx, cancel := context.WithTimeout(c.R.Context(), endTimeout)
	defer cancel()
	if err := t.endSession(ctx, s.Binding); err != nil {
		t.s.Logger.Debug("cannot end a session at the agent", "agent", c.Agent, "error", hide(err))
		if sessions.Sealed(s.ID) { // only the agent can end it
			c.Refuse(unreachable(err))
			return
		}
	}
	c.Empty(http.StatusNoContent)
}

// findOrRefuse is find, and refuses the call if there is none.
func (t *Target) findOrRefuse(c *flow.Call) *sessions.Session {
	s, err := t.find(c)
	if err == nil {
		return s
	}
	if _, ok := jsonrpc.AsRequestError(err); !ok {
		err = ingress.NoSession(true)
	}
	c.Refuse(err)
	return nil
}

// find returns the session that a call names.
func (t *Target) find(c *flow.Call) (*sessions.Session, error) {
	ids := c.R.Header[ingress.HeaderSession]
	if len(ids) != 1 || ids[0] == "" {
		return nil, ingress.NoSession(false)
	}
	s, err := t.lookup(ids[0], c)
	if err != nil {
		return nil, err
	}
	c.Session = s.Short
	if s.Endpoint != t.where { // the route leads elsewhere now
		s.Forget()
		s.Release()
		return nil, sessions.ErrUnknown
	}
	return s, nil
}

// lookup finds a session by its id.
func (t *Target) lookup(id string, c *flow.Call) (*sessions.Session, error) {
	if !sessions.Sealed(id) {
		return t.s.Sessions.Use(id, c.Agent, c.Principal)
	}
	sealer := t.s.Sealer.Load()
	if sealer == nil {
		return nil, sessions.ErrUnknown
	}
	return sealer.Use(id, c.Agent, c.Principal)
}

// mint makes an id for a session that the agent just opened: one that is sealed, and needs no memory here, or one of the table. Agents over HTTP+SSE and
// processes end with their connection, which a sealed id would outlive.
func (t *Target) mint(c *flow.Call, upstream, version string) (string, error) {
	p := sessions.Binding{Agent: c.Agent, Principal: c.Principal, Endpoint: t.where, Upstream: upstream, Version: version}
	if sealer := t.s.Sealer.Load(); sealer != nil && t.Route.Command == "" && t.Route.Transport != routes.SSE {
		return sealer.Mint(p)
	}
	id, err := t.s.Sessions.Mint(p)
	if errors.Is(err, sessions.ErrFull) {
		err = &jsonrpc.RequestError{Kind: jsonrpc.KindQueueFull, Message: err.Error() + "; try again later", Status: http.StatusServiceUnavailable, RetryAfter: time.Second}
	}
	return id, err
}

// endTimeout is how long an agent may take to end a session.
const endTimeout = 5 * time.Second

// endSession ends a session at the agent. An agent that does not know it, or does not support DELETE, is not an error.
func (t *Target) endSession(ctx context.Context, p sessions.Binding) error {
	if p.Upstream == "" {
		return nil
	}
	res, err := t.up.RoundTrip(t.request(ctx, nil, outgoing{method: http.MethodDelete, session: p.Upstream, version: p.Version}))
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// Abandon ends a session at the agent, in the background.
func (t *Target) Abandon(p sessions.Binding) {
	if p.Endpoint != t.where || !ingress.Visible(p.Upstream) { // what no header can carry cannot be ended either
		return
	}
	t.background(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, endTimeout)
		defer cancel()
		if err := t.endSession(ctx, p); err != nil {
			t.s.Logger.Debug("cannot end a session at the agent", "agent", p.Agent, "error", hide(err))
		}
	})
}

// maxTasks is how many requests a target makes at a time on its own account.
const maxTasks = 16

// background runs f as soon as there is a slot, or not at all if the target ends before.
func (t *Target) background(f func(context.Context)) {
	t.goTracked(func() {
		select {
		case t.slots <- struct{}{}:
			f(t.life)
			<-t.slots
		case <-t.life.Done():
		}
	})
}

// goTracked runs f on a goroutine that Retire waits for; false once it does.
func (t *Target) goTracked(f func()) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.tasks.Go(f)
	}
	return !t.ended
}

// goodbye is the time for an agent that is no longer served to end its sessions.
const goodbye = time.Second

// Retire takes no new calls, ends event streams that have no end, waits for calls that run until ctx is done, ends the router's own sessions with the agent and those
// that were abandoned, and closes the way to it.
func (t *Target) Retire(ctx context.Context) error {
	t.mu.Lock()
	first := !t.retired
	t.retired = true
	if first && t.calls == 0 {
		close(t.idle)
	}
	t.mu.Unlock()
	t.leave()
	select {
	case <-t.idle:
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	t.closeShared(ctx)
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	over := make(chan struct{})
	go func() {
		t.tasks.Wait()
		close(over)
	}()
	select {
	case <-over:
	case <-ctx.Done():
	}
	t.end()
	<-over
	return t.up.Close()
}
