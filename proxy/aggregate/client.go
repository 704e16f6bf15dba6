package aggregate

import (
	"context"
	"slices"
	"sync"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/serve/idle"
)

// client is a session of the legacy era, or all callers of one principal without one, with sessions of its own with agents.
type client struct {
	s         *Server
	id        string // "" for callers without a session
	name      string // that the client of a session gave itself
	principal string
	hops      int
	version   string
	m         *session.Manager
	life      context.Context // of what is not done for one request
	end       context.CancelFunc
	work      sync.WaitGroup

	entry *idle.Entry[*client]

	watching  sync.Mutex // one change of watched at a time
	switching sync.Mutex // one agent's era at a time

	mu        sync.Mutex
	closed    bool
	may       func(string) bool
	general   mailbox // what belongs to no request
	streams   int     // that it is read from
	running   map[*exchange]context.CancelCauseFunc
	asks      map[string]chan jsonrpc.Envelope
	last      int64
	level     string
	delivered map[string]delivered // to each agent's connection
	modern    map[string]bool      // agents that know nothing of the legacy era
	watched   map[string]watched   // by the URI that the client uses
	listeners map[*listener]struct{}
	fetches   map[fetchKey]*fetch
	tokens    tokens                  // of calls that became tasks
	given     map[offer.Kind][]*given // the latest first
	expected  map[string]*exchange    // direct calls by their progress tokens
	open      map[*pendingCall]struct{}
}

// newClient makes a client; caps are what it can be asked for, a JSON object.
func (s *Server) newClient(caller Caller, hops int, caps []byte) *client {
	c := &client{
		s: s, principal: caller.Principal, may: caller.May, hops: hops, general: newMailbox(),
		running: map[*exchange]context.CancelCauseFunc{}, asks: map[string]chan jsonrpc.Envelope{}, delivered: map[string]delivered{}, modern: map[string]bool{},
		watched: map[string]watched{}, listeners: map[*listener]struct{}{}, fetches: map[fetchKey]*fetch{}, open: map[*pendingCall]struct{}{}, given: map[offer.Kind][]*given{}, expected: map[string]*exchange{},
	}
	c.life, c.end = context.WithCancel(context.Background())
	c.m = session.NewManager(c.sessionOptions(caps))
	return c
}

func (c *client) close() {
	c.mu.Lock()
	c.closed = true
	for _, cancel := range c.running {
		cancel(errCancelled)
	}
	for l := range c.listeners {
		l.mail.close()
	}
	c.general.close()
	c.mu.Unlock()
	c.end()
	if err := c.m.Close(); err != nil {
		c.s.log.Debug("cannot end sessions with agents", "err", err)
	}
	c.work.Wait()
}

// background does something that no request waits for, unless the client is closed.
func (c *client) background(f func(context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.work.Go(func() { f(c.life) })
	return true
}

// allow is which agents the caller may call as of now.
func (c *client) allow(caller Caller) {
	c.mu.Lock()
	c.may = caller.May
	c.mu.Unlock()
}

// agents are the names of the agents that the caller may call, sorted; not to be modified.
func (c *client) agents() []string {
	c.mu.Lock()
	may := c.may
	c.mu.Unlock()
	all := c.s.o.Agents()
	if may == nil || !slices.ContainsFunc(all, func(n string) bool { return !may(n) }) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(n string) bool { return !may(n) })
}

// forgetGone closes connections with agents that are gone.
func (c *client) forgetGone() {
	all := c.s.o.Agents()
	for _, have := range c.m.Servers() {
		if _, there := slices.BinarySearch(all, have.Name()); !there {
			c.forget(have.Name())
		}
	}
}

// forget closes the connection with an agent that is gone, and its subscriptions.
func (c *client) forget(agent string) {
	_ = c.m.Unregister(agent) // what it says is of no interest any more
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.delivered, agent)
	delete(c.modern, agent)
	for uri, w := range c.watched {
		if w.agent == agent {
			delete(c.watched, uri)
		}
	}
}

// nextID is a new number for something of this client's.
func (c *client) nextID() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	return c.last
}

// listening reports whether the client reads a stream for messages that belong to no request.
func (c *client) listening() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.streams > 0 || len(c.listeners) > 0
}

// attach makes a stream the one for what belongs to no request.
func (c *client) attach() mailbox {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := newMailbox()
	c.general.MoveTo(m.Queue)
	c.general.close()
	c.general = m
	c.streams++
	return m
}

func (c *client) detach(m mailbox) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams--
	if c.general == m {
		c.general = newMailbox()
		m.MoveTo(c.general.Queue)
	}
}

func (c *client) begin(x *exchange, cancel context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[x] = cancel
}

func (c *client) endRequest(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.running, x)
}
