// Package aggregate makes one MCP server of all agents of a router, in both eras. Tools and prompts are called
// mcp__AGENT__NAME there, or as routing.json says; resources keep their URIs. What agents define and answer passes as the bytes that they sent, but
// for those names.
//
// Each client has sessions of its own with the agents, opened when they are needed, over the router itself: whatever the
// router checks, limits and records for requests to an agent it does for these. Callers without a session share those of
// their principal.
package aggregate

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/serve/idle"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// Server is the merged server, an http.Handler. It must be closed.
type Server struct {
	o      Options
	log    *slog.Logger
	life   context.Context
	end    context.CancelFunc
	calls  sync.WaitGroup
	mac    [32]byte // key of the ids of tasks
	health health
	pages  offer.Pages
	names  names
	left   omissions

	clients *idle.Table[*client] // by session id
	shared  *idle.Table[*client] // of callers without a session, by principal and capabilities

	mu      sync.Mutex
	pending map[string]*pendingCall // by state
	closed  bool
	closing sync.WaitGroup
}

// New makes a server. It starts nothing before the first request.
func New(o Options) *Server {
	o.complete()
	s := &Server{o: o, log: o.Logger, pending: map[string]*pendingCall{}}
	s.newTables()
	s.health.s = s
	_, _ = rand.Read(s.mac[:]) // never fails
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// ServeHTTP is the endpoint.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{s: s, w: w, r: r, began: time.Now(), out: sse.NewWriter(w, r, s.o.WriteTimeout)}
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
		x.refuse(&jsonrpc.RequestError{Kind: jsonrpc.KindInterrupted, Message: "the router is stopping", Status: http.StatusServiceUnavailable, RetryAfter: time.Second})
	case ingress.Hops(r.Header) >= ingress.MaxHops:
		x.refuse(&jsonrpc.RequestError{Kind: jsonrpc.KindUpstream, Message: "too many proxy hops: routing loop", Status: http.StatusLoopDetected})
	case r.Method == http.MethodPost:
		x.post(caller)
	case ingress.Modern(r) || r.Method != http.MethodGet && r.Method != http.MethodDelete:
		allow := "GET, POST, DELETE"
		if ingress.Modern(r) {
			allow = "POST"
		}
		ingress.MethodNotAllowed(w, allow)
	case r.Method == http.MethodGet:
		if c := x.session(caller); c != nil {
			x.listen(c)
			c.release()
		}
	default:
		x.end(caller)
	}
}

func (s *Server) allClients() []*client { return append(s.clients.All(), s.shared.All()...) }
