// Package manage lets processes of the router's own user register servers while it runs, and whoever has a certificate for it:
// seven operations over HTTP on a private Unix socket, and over TLS, each a POST of a JSON object to its own path, which returns a
// JSON object, and the same as methods of the gRPC service in proto/mcp.proto.
//
// RegisterMcpServer adds a server, ConnectMcpServer opens a session with it and serves it like a route of the file,
// DisconnectMcpServer ends that, ListMcpServers lists all servers and GetMcpTools their tools. StartMcpOAuth begins a login at a
// server, and CompleteMcpOAuth ends it. Registrations end with the router. The routes file takes precedence over them, now and when it changes.
package manage

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/client/toolset"
	"github.com/mcphud/mcphud/session/wire/unixsocket"
)

// Router is the managed router. Its methods must be safe for concurrent use.
type Router interface {
	// Routes is the table in force: the routes of the file and those that were committed.
	Routes() *routes.Table
	// Propose makes a target for a route that is not in force.
	Propose(*routes.Route) (Candidate, error)
	// Remove removes a committed route, if it is there. Running calls may finish.
	Remove(*routes.Route)
	// Acquire returns a route in force and a transport to its agent, valid until release is called; false without such a route.
	Acquire(agent string) (route *routes.Route, transport http.RoundTripper, release func(), ok bool)
	// Unhealthy is why an agent in force gets no requests, "" if it does.
	Unhealthy(agent string) string
	// Answered reports whether a request to an agent in force succeeded.
	Answered(agent string) bool
	// Authorizer has the credentials for the server of a route with oauth, which may be in force or not.
	Authorizer(*routes.Route) *auth.Authorizer
	// NeedsLogin reports whether an agent in force refuses requests until somebody logs in.
	NeedsLogin(agent string) bool
	// Stderr is the end of the stderr of an agent's processes, also of a candidate's.
	Stderr(agent string) string
}

// Candidate is a proposed route. It must be committed or discarded.
type Candidate interface {
	Transport() http.RoundTripper
	Commit() error // puts it into force; an error if the file has the name by now, or the router is stopping
	Discard()
}

// Options configures a [Server]. Router and ToolNames are required.
type Options struct {
	Router Router
	Port   int // of the router; part of the socket's name
	// Remote is where managers with a certificate connect, see Listen; nil for nowhere. Without it the socket must be there. The
	// Server closes it.
	Remote net.Listener
	// Name and Version are the router's clientInfo.
	Name, Version string
	// ToolNames are the names of tools in the aggregate of all agents, "" for those that it does not have.
	ToolNames func([]toolset.ToolRef) []string
	Logger    *slog.Logger // nil discards
}

// Server serves the operations. It must be closed. A nil Server is a router that cannot be managed.
type Server struct {
	o    Options
	path string // of the socket, "" for none
	web  *http.Server
	life context.Context // of operations
	end  context.CancelFunc
	done sync.WaitGroup
	grpc func() (*grpc.Server, error) // made when it is asked for
	busy atomic.Int64                 // requests that are not answered

	mu     sync.Mutex
	known  map[string]*server
	logins map[string]*login // by server
}

// Open creates the socket and serves it.
func Open(o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, known: map[string]*server{}, logins: map[string]*login{}}
	ln, path, err := unixsocket.Listen(unixsocket.Dirs(), fmt.Sprintf("manage-%d.sock", o.Port))
	var all []net.Listener
	switch {
	case err == nil:
		all, s.path = append(all, unixsocket.Own{UnixListener: ln}), path
	case o.Remote == nil:
		return nil, fmt.Errorf("cannot open the management socket: %w", err)
	default:
		o.Logger.Warn("management socket not available", "error", err.Error())
	}
	if o.Remote != nil {
		all = append(all, o.Remote)
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.web = &http.Server{
		Handler: s.handler(), ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return s.life },
	}
	s.web.Protocols = new(http.Protocols)
	s.web.Protocols.SetHTTP1(true)
	s.web.Protocols.SetHTTP2(true) // of gRPC
	s.web.Protocols.SetUnencryptedHTTP2(true)
	s.grpc = sync.OnceValues(s.newGRPC)
	listen.Harden(s.web, bodies.Time)
	for _, ln := range all {
		s.done.Go(func() {
			if err := s.web.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
				o.Logger.Warn("management address failed", "address", ln.Addr().String(), "error", err.Error())
			}
		})
	}
	return s, nil
}

// Path is the path of the socket, "" for a nil Server.
func (s *Server) Path() string {
	if s == nil {
		return ""
	}
	return s.path
}

const (
	closeTimeout = 2 * time.Second        // for cancelled operations
	sendTimeout  = 100 * time.Millisecond // for their answers; connections without requests would be waited for longer
)

// Close cancels running operations and removes the socket. Connected servers stay in force.
func (s *Server) Close() {
	if s == nil {
		return
	}
	_ = os.Remove(s.path) // "" for none; before it is closed, so that nobody finds a dead socket
	s.end()
	for end := time.Now().Add(closeTimeout); s.busy.Load() > 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), sendTimeout)
	defer cancel()
	if s.web.Shutdown(ctx) != nil {
		_ = s.web.Close()
	}
	s.done.Wait()
}

// server is a registered server.
type server struct {
	route *routes.Route
	mutex chan struct{} // capacity 1: held while connecting or disconnecting

	// Under the Server's mutex.

	state session.State
	err   *failure.Error // of state Failed or NeedsLogin
	tools int            // at the time of ConnectMcpServer
	stop  context.CancelFunc
}
