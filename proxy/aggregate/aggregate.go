// Package aggregate makes one MCP server of all agents of a router, in both eras. Tools and prompts are called
// mcp__AGENT__NAME there; resources keep their URIs. What agents define and answer passes as the bytes that they sent, but
// for those names.
//
// Each client has sessions of its own with the agents, opened when they are needed, over the router itself: whatever the
// router checks, limits and records for requests to an agent it does for these. Callers without a session share those of
// their principal.
package aggregate

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/ingress"
	"github.com/mcphud/mcphud/session/jsonrpc"
)

// Options says what is merged. Router, Agents and Identify are needed.
type Options struct {
	Name, Version string // of the server that clients see; default mcphud-router, 1.0.0

	// Router serves the requests to agents at /mcps/NAME/mcp. The context of a request is what Inside made of its own.
	Router http.Handler
	Inside func(ctx context.Context, principal string) context.Context
	// Agents are the names of the agents that there are now, sorted.
	Agents func() []string
	// Identify says who calls, or answers the request itself and returns false.
	Identify func(http.ResponseWriter, *http.Request) (Caller, bool)

	Page       int           // items on a page of a list, default 250
	Patience   time.Duration // how long a list waits for an agent, default 5 s
	Timeout    time.Duration // of a call without progress, default 30 s
	MaxRequest int64         // bytes of a body, default 10 MiB
	Max        int           // sessions at once, default 1000
	TTL        time.Duration // life of a session that nobody uses, default 30 min

	BodyTimeout  time.Duration // for the body of a request to arrive, default 30 s
	WriteTimeout time.Duration // for a client to read what is written to it, default 30 s
	// Drain is done when event streams that have no end shall end; nil for when the server is closed.
	Drain  context.Context
	Logger *slog.Logger
}

// Caller is who calls, and which agents that one may call.
type Caller struct {
	Principal string
	May       func(agent string) bool
}

// Server is the merged server, an http.Handler. It must be closed.
type Server struct {
	o     Options
	log   *slog.Logger
	life  context.Context
	end   context.CancelFunc
	calls sync.WaitGroup

	mu      sync.Mutex
	clients map[string]*client // by session id
	commons map[string]*client // without sessions, by principal
	sweep   *time.Timer
	closed  bool
	closing sync.WaitGroup
}

// New makes a server. It starts nothing before the first request.
func New(o Options) *Server {
	def(&o.Name, "mcphud-router")
	def(&o.Version, "1.0.0")
	def(&o.Page, 250)
	def(&o.Patience, 5*time.Second)
	def(&o.Timeout, 30*time.Second)
	def(&o.MaxRequest, 10<<20)
	def(&o.Max, 1000)
	def(&o.TTL, 30*time.Minute)
	def(&o.BodyTimeout, 30*time.Second)
	def(&o.WriteTimeout, 30*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Drain == nil {
		o.Drain = context.Background()
	}
	if o.Inside == nil {
		o.Inside = func(ctx context.Context, _ string) context.Context { return ctx }
	}
	s := &Server{o: o, log: o.Logger, clients: map[string]*client{}, commons: map[string]*client{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

func def[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// ServeHTTP is the endpoint.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{s: s, w: w, r: r}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.calls.Add(1)
		defer s.calls.Done()
	}
	s.mu.Unlock()
	caller, ok := s.o.Identify(w, r)
	switch {
	case !ok:
	case closed:
		x.refuse(&jsonrpc.Failure{Kind: jsonrpc.FailInterrupted, Message: "the router is stopping", Status: http.StatusServiceUnavailable, RetryAfter: time.Second})
	case ingress.Hops(r.Header) >= ingress.MaxHops:
		x.refuse(&jsonrpc.Failure{Kind: jsonrpc.FailUpstream, Message: "the request went through too many routers", Status: http.StatusLoopDetected})
	case r.Method == http.MethodPost:
		x.post(caller)
	case ingress.Modern(r) || r.Method != http.MethodGet && r.Method != http.MethodDelete:
		allow := "GET, POST, DELETE"
		if ingress.Modern(r) {
			allow = "POST"
		}
		w.Header().Set("Allow", allow)
		flow.JSON(w, http.StatusMethodNotAllowed, []byte(`{"error":"method_not_allowed"}`))
	case r.Method == http.MethodGet:
		if c := x.session(caller); c != nil {
			x.listen(c)
			s.release(c)
		}
	default:
		if c := x.session(caller); c != nil {
			s.release(c)
			s.remove(c)
			w.WriteHeader(http.StatusNoContent)
		}
	}
}

// RoutesChanged says that Agents returns something else now: clients are told to look again.
func (s *Server) RoutesChanged() {
	for _, c := range s.everybody() {
		for _, what := range []mcp.MCPMethod{mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationPromptsListChanged, mcp.MethodNotificationResourcesListChanged} {
			c.heard(nil, jsonrpc.NewNotification(string(what), nil))
		}
	}
}

func (s *Server) everybody() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*client, 0, len(s.clients)+len(s.commons))
	for _, c := range s.clients {
		all = append(all, c)
	}
	for _, c := range s.commons {
		all = append(all, c)
	}
	return all
}

// use finds a session, or with an empty id what callers of a principal without one share, and keeps it until release.
func (s *Server) use(id string, caller Caller, hops int) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	var c *client
	if id != "" {
		if c = s.clients[id]; c == nil || c.principal != caller.Principal {
			return nil
		}
	} else {
		key := caller.Principal + "\x00" + string(rune('0'+hops))
		if c = s.commons[key]; c == nil {
			c = s.newClient(caller, hops)
			c.key = key
			s.commons[key] = c
			s.sweepLater()
		}
	}
	c.active++
	c.used = time.Now()
	return c
}

func (s *Server) release(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.active--
	c.used = time.Now()
}

// add takes a new session, in use by its maker.
func (s *Server) add(c *client) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) >= s.o.Max {
		var oldest *client
		for _, o := range s.clients {
			if o.active == 0 && (oldest == nil || o.used.Before(oldest.used)) {
				oldest = o
			}
		}
		if oldest == nil {
			return &jsonrpc.Failure{
				Kind: jsonrpc.FailQueueFull, Status: http.StatusServiceUnavailable, RetryAfter: time.Second,
				Message: "there are as many sessions as this router serves at once, and all are in use; try again later",
			}
		}
		s.drop(oldest)
	}
	c.active, c.used = 1, time.Now()
	s.clients[c.id] = c
	s.sweepLater()
	return nil
}

// drop ends a client in the background; s.mu is held.
func (s *Server) drop(c *client) {
	if s.clients[c.id] == c {
		delete(s.clients, c.id)
	}
	if s.commons[c.key] == c {
		delete(s.commons, c.key)
	}
	if !c.dropped {
		c.dropped = true
		s.closing.Go(c.close)
	}
}

func (s *Server) remove(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(c)
}

// sweepLater looks for clients that nobody uses; s.mu is held.
func (s *Server) sweepLater() {
	if s.sweep == nil && !s.closed {
		s.sweep = time.AfterFunc(max(s.o.TTL/4, time.Millisecond), s.tidy)
	}
}

func (s *Server) tidy() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep = nil
	for _, all := range []map[string]*client{s.clients, s.commons} {
		for _, c := range all {
			if c.active == 0 && time.Since(c.used) > s.o.TTL {
				s.drop(c)
			}
		}
	}
	if len(s.clients)+len(s.commons) > 0 {
		s.sweepLater()
	}
}

// Close ends all sessions. It does not wait for calls: they fail.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	if s.sweep != nil {
		s.sweep.Stop()
	}
	for _, all := range []map[string]*client{s.clients, s.commons} {
		for _, c := range all {
			s.drop(c)
		}
	}
	s.mu.Unlock()
	s.end()
	s.closing.Wait()
	s.calls.Wait()
	return nil
}
