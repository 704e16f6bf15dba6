package aggregate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// client is a session of the legacy era, or all callers of one principal without one, with sessions of its own with agents.
type client struct {
	s         *Server
	id        string // "" for callers without a session
	key       string // in commons
	principal string
	hops      int
	version   string
	m         *session.Manager

	// Under the server's mutex.
	active  int
	used    time.Time
	dropped bool

	mu        sync.Mutex
	may       func(string) bool
	general   *mailbox // what belongs to no request
	running   map[*exchange]context.CancelCauseFunc
	asks      map[string]chan jsonrpc.Envelope
	last      int64
	level     string
	levelled  map[string]string  // what each agent was told
	watched   map[string]watched // by the URI that the client uses
	listeners map[*listener]struct{}
}

// watched is a resource that a client follows.
type watched struct {
	agent, uri string
	n          int // of subscriptions
}

// newClient makes a client; caps are what it can be asked for.
func (s *Server) newClient(caller Caller, hops int) *client {
	return s.clientWith(caller, hops, []byte("{}"))
}

func (s *Server) clientWith(caller Caller, hops int, caps []byte) *client {
	c := &client{
		s: s, principal: caller.Principal, may: caller.May, hops: hops, used: time.Now(), general: newMailbox(),
		running: map[*exchange]context.CancelCauseFunc{}, asks: map[string]chan jsonrpc.Envelope{}, levelled: map[string]string{},
		watched: map[string]watched{}, listeners: map[*listener]struct{}{},
	}
	c.m = session.NewManager(session.Options{
		Unrecorded: true, Dial: c.dial, Capabilities: json.RawMessage(caps), Serve: c.ask, HealthInterval: -1, Retry: session.Retry{Max: -1},
		ClientInfo: session.Implementation{Name: s.o.Name, Version: s.o.Version},
	})
	return c
}

func newID() string { return rand.Text() }

func (c *client) close() {
	c.mu.Lock()
	for _, cancel := range c.running {
		cancel(errCancelled)
	}
	for l := range c.listeners {
		l.mail.close()
	}
	c.general.close()
	c.mu.Unlock()
	if err := c.m.Close(); err != nil {
		c.s.log.Debug("sessions with agents ended", "err", err)
	}
}

// allow is which agents the caller may call as of now.
func (c *client) allow(caller Caller) {
	c.mu.Lock()
	c.may = caller.May
	c.mu.Unlock()
}

// agents are the names of those that there are and that the caller may call. Those that are no more are let go.
func (c *client) agents() []string {
	c.mu.Lock()
	may := c.may
	c.mu.Unlock()
	all := c.s.o.Agents()
	for _, have := range c.m.Servers() {
		if !slices.Contains(all, have.Name()) {
			_ = c.m.Unregister(have.Name()) // what it says is of no interest any more
		}
	}
	var names []string
	for _, n := range all {
		if may == nil || may(n) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names
}

// connect is the session with an agent, connected.
func (c *client) connect(ctx context.Context, agent string) (*session.Session, error) {
	sess, err := c.sessionWith(agent, c.id != "")
	if err != nil {
		return nil, err
	}
	if err = sess.Connect(ctx); err != nil && ctx.Err() == nil && sess.Config().Protocol != "" {
		// It may know the modern era only, whose questions are asked and answered in other ways.
		if e := new(session.Error); errors.As(err, &e) && (e.Kind == session.RpcError || e.Kind == session.Protocol || e.Status >= 400 && e.Status < 500) {
			_ = c.m.Unregister(agent) // what it says is of no interest any more
			if sess, err = c.sessionWith(agent, false); err == nil {
				err = sess.Connect(ctx)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	level := c.level
	tell := level != "" && c.levelled[agent] != level
	if tell {
		c.levelled[agent] = level
	}
	c.mu.Unlock()
	if tell && sess.Supports(string(mcp.MethodSetLogLevel)) {
		if err := sess.SetLevel(ctx, level); err != nil {
			c.s.log.Debug("log level not set", "agent", agent, "err", err)
		}
	}
	return sess, nil
}

// sessionWith is the session with an agent, not connected yet. That of a client of the legacy era is of that era too: agents
// ask such a client by requests, and send it what they log.
func (c *client) sessionWith(agent string, legacy bool) (*session.Session, error) {
	if sess, ok := c.m.Server(agent); ok {
		return sess, nil
	}
	cfg := config.Server{
		Name: agent, Transport: config.HTTP, URL: "http://127.0.0.1/mcps/" + agent + "/mcp", NoReconnect: true,
		ConnectTimeout: c.s.o.Timeout, Timeout: c.s.o.Timeout,
	}
	if legacy {
		cfg.Protocol = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	}
	sess, err := c.m.Register(cfg)
	if err != nil {
		if sess, ok := c.m.Server(agent); ok { // somebody else was first
			return sess, nil
		}
		return nil, err
	}
	sess.OnNotification(func(frame []byte) { c.heard(sess, frame) })
	return sess, nil
}

// attach makes a stream the one for what belongs to no request.
func (c *client) attach() *mailbox {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := newMailbox()
	m.put(c.general.take()...)
	c.general.close()
	c.general = m
	return m
}

func (c *client) detach(m *mailbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.general == m {
		c.general = newMailbox()
		c.general.put(m.take()...)
	}
}

func (c *client) begin(x *exchange, cancel context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[x] = cancel
}

func (c *client) done(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, x)
}

// notified takes a notification of the client.
func (c *client) notified(env jsonrpc.Envelope) {
	if env.Method != string(mcp.MethodNotificationCancelled) || c.id == "" {
		return // callers who share a session cannot cancel each other's requests
	}
	id := string(jsonrpc.Member(env.Params, "requestId"))
	c.mu.Lock()
	defer c.mu.Unlock()
	for x, cancel := range c.running {
		if string(x.env.ID) == id {
			cancel(errCancelled)
		}
	}
}

// at finds the request under way at an agent whose stream can carry a message: the only one, or with any set some.
func (c *client) at(agent string, any bool) (to *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for x := range c.running {
		if x.agent == agent && x.events {
			to = x
			n++
		}
	}
	if n > 1 && !any {
		return nil
	}
	return to
}

// heard takes a notification of an agent; sess is nil for one of the router's own.
func (c *client) heard(sess *session.Session, frame []byte) {
	env, err := jsonrpc.Scan(frame)
	if err != nil {
		return
	}
	switch mcp.MCPMethod(env.Method) {
	case mcp.MethodNotificationProgress, mcp.MethodNotificationCancelled, mcp.MethodNotificationSubscriptionsAcknowledged:
		return // belongs to a request, which hears it itself
	case mcp.MethodNotificationMessage:
		if x := c.at(sess.Name(), false); x != nil && x.say(frame) {
			return
		}
	case mcp.MethodNotificationResourceUpdated:
		c.updated(sess.Name(), env, frame)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.listeners {
		if l.wants(env.Method) {
			l.put(frame)
		}
	}
	if c.id != "" {
		c.general.put(frame)
	}
}

// updated passes on that a resource changed, under the URI by which the client follows it.
func (c *client) updated(agent string, env jsonrpc.Envelope, frame []byte) {
	uri, _ := jsonrpc.String(jsonrpc.Member(env.Params, "uri"))
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, w := range c.watched {
		if w.agent != agent || w.uri != uri {
			continue
		}
		out := frame
		if start, end, ok := jsonrpc.Find(frame, "params", "uri"); ok && name != uri {
			out = jsonrpc.Splice(frame, jsonrpc.Edit{Start: start, End: end, With: jsonrpc.Quote(name)})
		}
		for l := range c.listeners {
			if slices.Contains(l.uris, name) {
				l.put(out)
			}
		}
		if c.id != "" {
			c.general.put(out)
		}
	}
}

// ask passes an agent's request on to the client. Callers without a session cannot be asked.
func (c *client) ask(ctx context.Context, sess *session.Session, method string, params json.RawMessage) (json.RawMessage, *session.Fault, bool) {
	if c.id == "" {
		return nil, nil, false
	}
	c.mu.Lock()
	c.last++
	id := []byte(`"ask-` + strconv.FormatInt(c.last, 10) + `"`)
	answer := make(chan jsonrpc.Envelope, 1)
	c.asks[string(id)] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.asks, string(id))
		c.mu.Unlock()
	}()
	frame := jsonrpc.NewRequest(id, method, params)
	tell := func(frame []byte) {
		if x := c.at(sess.Name(), true); x != nil && x.say(frame) {
			return
		}
		c.mu.Lock()
		c.general.put(frame)
		c.mu.Unlock()
	}
	tell(frame)
	select {
	case env := <-answer:
		if env.Kind == jsonrpc.Response {
			return json.RawMessage(env.Result), nil, true
		}
		fault, err := jsonrpc.ParseError(env.Error)
		if err != nil {
			fault = &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the client's answer is an error that is not understood"}
		}
		return nil, fault, true
	case <-ctx.Done():
		tell(jsonrpc.NewNotification(string(mcp.MethodNotificationCancelled), append(append([]byte(`{"requestId":`), id...), '}')))
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "the request was cancelled"}, true
	}
}

// answered takes the client's answer.
func (c *client) answered(env jsonrpc.Envelope) {
	c.mu.Lock()
	answer := c.asks[string(env.ID)]
	delete(c.asks, string(env.ID))
	c.mu.Unlock()
	if answer != nil {
		answer <- env
	}
}

// failure is the answer to a request that an agent did not answer with a result.
func failure(agent string, err error) error {
	var e *session.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Kind == session.RpcError && e.Code != nil, e.Kind == session.NotFound && e.Code != nil:
		return &jsonrpc.Error{Code: *e.Code, Message: e.Message, Data: e.Data}
	case e.Kind == session.Timeout:
		return &jsonrpc.Failure{Kind: jsonrpc.FailTimeout, Message: "Agent '" + agent + "' did not answer in time", Status: 504, Err: err}
	case e.Kind == session.NeedsInput:
		return jsonrpc.Fail(jsonrpc.FailExecution, "agent '%s' asks for input that this client cannot be asked for; call it in a session, or at its own address", agent)
	}
	return &jsonrpc.Failure{Kind: jsonrpc.FailUnreachable, Message: "Failed to reach agent: '" + agent + "': " + e.Message, Status: 502, Err: err}
}
