package front

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/serve/duplex"
	"github.com/mcphud/mcphud/session/serve/idle"
	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/wire/sse"
)

// Path is where the MCP endpoint is; the others are those of HTTP+SSE, where it is served.
const (
	Path         = "/mcp"
	SSEPath      = "/sse"
	MessagesPath = "/messages"
)

// Options configures a Server. Only Engine is required.
type Options struct {
	// Engine knows the tools, resources and prompts. It should be made with EngineOptions.
	Engine *server.MCPServer
	// Direct lets plain tool calls of the legacy era go straight to the tool's handler. The engine must be made with
	// EngineOptions then, and have nothing else that minds tool calls: no hooks, middlewares, filters, validation, tracing
	// or log, and no tasks.
	Direct bool
	// Use are the middlewares, outermost first.
	Use []Middleware
	// Routes are further paths behind the same guard and the same authentication, by pattern of http.ServeMux.
	Routes map[string]http.Handler
	// Public are further paths that need no authentication.
	Public map[string]http.Handler
	// Wrap puts something in front of the MCP endpoint, behind guard and authentication.
	Wrap func(http.Handler) http.Handler
	// WebSocket serves clients over WebSockets at Path, too; SSE those of HTTP+SSE (2024-11-05) at SSEPath, which post to MessagesPath.
	WebSocket, SSE bool
	// Hosts are names, beside those of the loopback interface, by which clients may address the server.
	Hosts []string
	// Logger gets errors; nil discards them.
	Logger *slog.Logger
	// MaxBody is the largest body of a POST, default 10 MiB; MaxLine the largest line over stdio, default 1 MiB.
	MaxBody, MaxLine int64
	Timeouts         Timeouts
	Sessions         Sessions
	// Authenticate identifies the sender of an HTTP request; an error refuses it. nil accepts everybody.
	Authenticate func(*http.Request) (kit.Identity, error)
	// Resource is what callers that Authenticate refuses are told about getting a token; nil for nothing.
	Resource func(*http.Request) ingress.Resource
}

// Timeouts bound how long a client may keep the server waiting. Zero values mean the defaults.
type Timeouts struct {
	Body      time.Duration // for the whole body of a request; default 30 s
	Write     time.Duration // for the client to take what is written; default 30 s
	Heartbeat time.Duration // between comments on a silent event stream; default 15 s
	Drain     time.Duration // for running requests of ServeStdio when its context is done; default 10 s
}

// Sessions bounds the sessions of the legacy era. Zero values mean the defaults. At Max a new one takes the place of the one that is idle for longest;
// where all are in use it is refused with 503.
type Sessions struct {
	TTL time.Duration // without requests and streams; default 30 min
	Max int           // default 10,000
}

// Server serves MCP. It can be mounted on any number of listeners and serve stdio at the same time. Safe for concurrent use.
type Server struct {
	o        Options               // completed
	next     Next                  // the outermost middleware
	sessions *idle.Table[*Session] // of the legacy era, by their ids; that of a stdio client as well
	hub      hub
	kept     atomic.Int64    // bytes that all streams keep for clients that come back
	requests atomic.Int64    // of callers without a session
	workers  *kit.Workers    // goroutines that work on requests over HTTP
	links    *duplex.Server  // clients with a connection of their own: WebSockets, HTTP+SSE
	handlers context.Context // what handlers that direct calls find in theirs; nil if it calls none

	// Work ends with life, not with the connection that asked for it: a client of the legacy era may come back for its answer.
	life    context.Context
	endLife context.CancelCauseFunc // with errClosing
	mu      sync.Mutex              // guards closing
	closing bool                    // no work may begin
	work    sync.WaitGroup          // counted by start, or by what is counted itself
}

// New makes a server. It starts nothing; Close ends what serving started. It registers a session of its own at the engine, which Close takes away.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.MaxBody = cmp.Or(max(o.MaxBody, 0), 10<<20)
	o.MaxLine = cmp.Or(max(o.MaxLine, 0), 1<<20)
	o.Timeouts.Body = cmp.Or(max(o.Timeouts.Body, 0), 30*time.Second)
	o.Timeouts.Write = cmp.Or(max(o.Timeouts.Write, 0), 30*time.Second)
	o.Timeouts.Heartbeat = cmp.Or(max(o.Timeouts.Heartbeat, 0), sse.Heartbeat)
	o.Timeouts.Drain = cmp.Or(max(o.Timeouts.Drain, 0), 10*time.Second)
	o.Sessions.TTL = cmp.Or(max(o.Sessions.TTL, 0), 30*time.Minute)
	o.Sessions.Max = cmp.Or(max(o.Sessions.Max, 0), 10_000)
	s := &Server{o: o, workers: kit.NewWorkers()}
	s.life, s.endLife = context.WithCancelCause(context.Background())
	s.sessions = newSessions(o.Sessions)
	s.hub.init(s)
	if o.Direct {
		s.handlers = engineContext(o.Engine)
	}
	s.links = duplex.New(duplex.Options{
		Handler: s.endpoint(), Limit: o.MaxBody, Body: o.Timeouts.Body, Write: o.Timeouts.Write, Heartbeat: o.Timeouts.Heartbeat,
		Admit: func(w http.ResponseWriter, r *http.Request) (string, bool) {
			caller, ok := s.authenticate(w, r)
			return caller.Principal, ok
		},
		Panicked: func(v any) {
			o.Logger.Error("request handler panicked", "panic", mask.Log(fmt.Sprint(v)), "stack", string(debug.Stack()))
		},
	})
	s.next = s.engine
	for i := len(o.Use) - 1; i >= 0; i-- {
		s.next = o.Use[i](s.next)
	}
	return s
}

// Handler is the whole HTTP surface: the MCP endpoint at Path, the routes, and 404 elsewhere, all behind listen.Guard.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	endpoint := s.endpoint()
	mux.HandleFunc(Path, func(w http.ResponseWriter, r *http.Request) {
		if s.o.WebSocket && duplex.IsWebSocket(r) {
			s.links.WebSocket(w, r, Path)
			return
		}
		endpoint.ServeHTTP(w, r)
	})
	if s.o.SSE {
		mux.HandleFunc(SSEPath, func(w http.ResponseWriter, r *http.Request) { s.links.Events(w, r, Path, MessagesPath) })
		mux.HandleFunc(MessagesPath, s.links.Message)
	}
	for pattern, h := range s.o.Public {
		mux.Handle(pattern, h)
	}
	for pattern, h := range s.o.Routes {
		mux.Handle(pattern, s.requireAuth(h))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		kit.WritePage(w, http.StatusNotFound, map[string]string{"error": "not_found", "detail": "there is nothing here; MCP is served at " + Path})
	})
	return listen.Guard(mux, s.o.Hosts...)
}

// endpoint serves Streamable HTTP.
func (s *Server) endpoint() http.Handler {
	endpoint := http.Handler(http.HandlerFunc(s.serveMCP))
	if s.o.Wrap != nil {
		endpoint = s.requireAuth(s.o.Wrap(endpoint))
	}
	return endpoint
}

// ActiveSessions is how many sessions of the legacy era exist.
func (s *Server) ActiveSessions() int { return s.sessions.Len() }

// ResourceUpdated notifies the subscribers of uri that it changed, in both eras.
func (s *Server) ResourceUpdated(uri string) { s.ResourceUpdatedOf("", uri) }

// ResourceUpdatedOf is ResourceUpdated for a resource that each tenant has its own of: clients whose token is for another
// tenant do not get it. "" is everybody.
func (s *Server) ResourceUpdatedOf(tenant, uri string) {
	method := string(mcp.MethodNotificationResourceUpdated)
	frame := jsonrpc.NewNotification(method, append(append([]byte(`{"uri":`), jsonrpc.Quote(uri)...), '}'))
	for _, c := range s.sessions.All() {
		if concerns(tenant, c.tenant) && c.IsSubscribedToResource(uri) {
			_ = c.push(frame) // an ended session gets nothing
		}
	}
	s.hub.toListeners(func(p *peer) bool { return concerns(tenant, p.x.Caller.Tenant) && p.IsSubscribedToResource(uri) },
		mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
			Method: method, Params: mcp.NotificationParams{AdditionalFields: map[string]any{"uri": uri}},
		}})
}

// Broadcast sends a notification to every initialized session of the legacy era, and in the modern era to every listener
// that asked for this kind of notification.
func (s *Server) Broadcast(method string, params map[string]any) { s.BroadcastOf("", method, params) }

// BroadcastOf is Broadcast about what concerns one tenant: clients whose token is for another do not get it. "" is everybody.
func (s *Server) BroadcastOf(tenant, method string, params map[string]any) {
	s.hub.send(tenant, mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: method, Params: mcp.NotificationParams{AdditionalFields: params},
	}})
}

// concerns reports whether a client gets a tenant's notifications. A client whose token names no tenant gets all.
func concerns(tenant, client string) bool { return tenant == "" || client == "" || tenant == client }

// start counts work; it is false once the server closes.
func (s *Server) start() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.work.Add(1)
	return true
}

// Close stops serving: new requests are refused with 503, streams end, running requests may finish until ctx is done and
// are cancelled then. It returns when nothing of the server runs any more, or with ctx's error when a handler does not
// heed its cancellation for a further second.
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.hub.close()
	done := make(chan struct{})
	go func() { s.work.Wait(); close(done) }()
	defer s.workers.Close()
	defer s.closeSessions()
	defer s.links.Close(ctx) // once what they wait for is there
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	s.endLife(errClosing)
	grace := time.NewTimer(time.Second)
	defer grace.Stop()
	select {
	case <-done:
		return nil
	case <-grace.C:
		return context.Cause(ctx)
	}
}
