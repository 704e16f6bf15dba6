// Package manage lets processes of the router's own user register servers with it while it runs: five verbs over HTTP on a
// private Unix socket, each a POST of a JSON object to its own path, answered with a JSON object.
//
// RegisterMcpServer makes a server known, ConnectMcpServer introduces the router to it and serves it like a route of the file,
// DisconnectMcpServer ends that, ListMcpServers tells of all servers and GetMcpTools of their tools. What is registered is gone
// when the router ends. The file of routes wins over it, now and later.
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
	"time"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/socket"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/failure"
	"github.com/mcphud/mcphud/session/listen"
)

// Router is what is managed. Its methods are safe for concurrent use.
type Router interface {
	// Routes is the table in force: the file's, and those that were kept.
	Routes() *routes.Table
	// Try makes the way to the agent of a route that is not in force.
	Try(*routes.Route) (Candidate, error)
	// Take ends a route that was kept; calls that run may end by themselves. It does nothing where there is none.
	Take(*routes.Route)
	// Enter is a route in force and the way to its agent, until leave is called; false if there is no such agent.
	Enter(agent string) (route *routes.Route, way http.RoundTripper, leave func(), ok bool)
	// Trouble is why an agent in force is left alone, "" if it is not.
	Trouble(agent string) string
	// Stderr is what the processes of an agent, also of a candidate, wrote there last; "" for none.
	Stderr(agent string) string
}

// Candidate is a route on its way into force. Keep or Drop ends it.
type Candidate interface {
	Way() http.RoundTripper
	Keep() error // serves it, unless the file has the name since or the router stops
	Drop()
}

// Options says what is managed. Router and Wire are needed.
type Options struct {
	Router Router
	Port   int // of the router, which its socket is named after
	// Name and Version are how the router introduces itself.
	Name, Version string
	// Wire is the name of an agent's tool where all agents are one server.
	Wire   func(agent, tool string) string
	Logger *slog.Logger // nil discards
}

// Server answers managers. It must be closed. A nil one is a router that cannot be managed.
type Server struct {
	o    Options
	ln   *net.UnixListener
	path string
	web  *http.Server
	life context.Context // of verbs
	end  context.CancelFunc
	done sync.WaitGroup

	mu    sync.Mutex
	known map[string]*server
}

// Open makes the socket and answers on it.
func Open(o Options) (*Server, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, known: map[string]*server{}}
	var err error
	if s.ln, s.path, err = socket.Listen(socket.Dirs(), fmt.Sprintf("manage-%d.sock", o.Port)); err != nil {
		return nil, fmt.Errorf("cannot open the socket for managers: %w", err)
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.web = &http.Server{
		Handler: http.HandlerFunc(s.serve), ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return s.life },
	}
	listen.Harden(s.web, bodies.Time)
	s.done.Go(func() {
		if err := s.web.Serve(private{s.ln}); !errors.Is(err, http.ErrServerClosed) {
			o.Logger.Warn("the router cannot be managed any more", "error", err.Error())
		}
	})
	return s, nil
}

// private lets in nobody but this user.
type private struct{ *net.UnixListener }

// Accept waits for the next connection of this user's.
func (p private) Accept() (net.Conn, error) {
	for {
		c, err := p.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if socket.CheckPeer(c) == nil {
			return c, nil
		}
		_ = c.Close() // a stranger is told nothing
	}
}

// Path is the socket's, "" for a nil Server.
func (s *Server) Path() string {
	if s == nil {
		return ""
	}
	return s.path
}

// lastWords is how long verbs that were given up may take to say so.
const lastWords = 2 * time.Second

// Close gives up verbs that run and removes the socket. What is served stays served.
func (s *Server) Close() {
	if s == nil {
		return
	}
	_ = os.Remove(s.path) // before it is closed, or it would be found and not answer
	s.end()
	ctx, cancel := context.WithTimeout(context.Background(), lastWords)
	defer cancel()
	if s.web.Shutdown(ctx) != nil {
		_ = s.web.Close() // whoever is still there does not listen
	}
	s.done.Wait()
}

// server is one that was registered.
type server struct {
	route *routes.Route
	turn  chan struct{} // has room for one: who connects or disconnects

	// Under the Server's mutex.

	state session.State
	err   *failure.Error // why state is Error
	tools int            // when it was connected
	stop  context.CancelFunc
}
