// Package agentsrv is the agent that mcphud brings along: an MCP server that is useful by itself, and has something to
// show for each thing that a client or a router must be able to carry. It serves both protocol eras (2024-11-05 to
// 2025-11-25 with initialize and sessions, 2026-07-28 without) on one Streamable HTTP endpoint, or over stdio.
//
//	a, err := agentsrv.New(agentsrv.Options{Profile: agentsrv.Demo})
//	…
//	err = a.Start(ctx) // it answers at a.URL() from now on
//	…
//	err = a.Close(ctx)
//
// The package wires what its folders hold: front is the transport, queue and task decide when a call runs, tenant and
// check whether it may, telemetry what is known about it afterwards, kit is what all handlers need; tools has the tools, resources and
// prompts of the demo, profiles what the agent is instead.
//
// A request passes front and then the middlewares in the order of the list in pages.go: telemetry, the tenant, the check of arguments
// by the tool's schema, tasks, the tenant's slots, the queue, and at last the engine of mcp-go with the handlers. In this order a call
// that is refused for its arguments takes no slot, and a call that becomes a task gives its answer before it waits for one.
package agentsrv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/profiles/hostile"
	"github.com/mcphud/mcphud/agentsrv/tools/agentlet"

	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/task"
	"github.com/mcphud/mcphud/agentsrv/telemetry"
	"github.com/mcphud/mcphud/agentsrv/tenant"
	"github.com/mcphud/mcphud/agentsrv/tools/kb"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// Agent is one MCP server. It is made by New, served by Start, Handler or ServeStdio, and must be closed. Its methods may be called from
// any goroutine.
type Agent struct {
	// Set by New, and not changed afterwards. What has to be closed is in closes, too.
	o         Options
	log       *slog.Logger
	db        *store.DB
	engine    *server.MCPServer
	front     *front.Server
	queue     queue.Engine
	conn      *natsconn.Conn // to what agents share; nil without Options.Queue
	tasks     *task.Service
	auth      *tenant.Authenticator
	tenants   *tenant.Tenants
	telemetry *telemetry.Telemetry
	kb        *kb.Library        // nil but in the demo profile
	agents    *agentlet.Registry // nil but in the demo profile
	faults    *hostile.Faults    // nil but in the fault profile
	hostile   *hostile.Server    // nil but in the hostile profile
	skills    front.Middleware   // nil but in the everything profile
	closes    []func() error     // of what New made, closed in reverse order

	closing atomic.Bool // Close began

	mu sync.Mutex
	// Guarded by mu, but for serves.
	url    string
	web    *http.Server
	done   chan struct{}  // closed when a listener fails or Close is over
	failed error          // why a listener failed; written before done is closed
	serves sync.WaitGroup // of the goroutines that serve listeners
}

// New builds an agent and opens its database. It listens to nothing and starts nothing yet.
func New(o Options) (*Agent, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	a := &Agent{o: o, log: o.Logger, done: make(chan struct{})} // log becomes one that hides secrets in build
	if err := a.build(); err != nil {
		return nil, fmt.Errorf("agent: %w", errors.Join(store.Explained(o.Store, err), a.closeParts()))
	}
	return a, nil
}

// URL is the endpoint, "" before Start.
func (a *Agent) URL() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.url
}

// Handler is the agent's whole HTTP surface, for a server of the caller's.
func (a *Agent) Handler() http.Handler { return a.front.Handler() }

// Start listens. When it returns without an error the agent answers at URL, until Close. ctx bounds the starting only. An agent starts once, and not
// after Close; nothing here keeps a caller from it.
func (a *Agent) Start(ctx context.Context) error {
	lns, err := listen.Listen(ctx, a.o.Host, a.o.Port)
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	a.begin()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.url = "http://" + dialable(lns[0].Addr()) + front.Path
	a.web = &http.Server{Handler: a.Handler(), ErrorLog: slog.NewLogLogger(a.log.Handler(), slog.LevelDebug)}
	listen.Harden(a.web, bodyTime)
	for _, ln := range lns {
		a.serves.Go(func() { a.serve(a.web, ln) })
	}
	return nil
}

// bodyTime is how long the body of a request may take that nobody wants.
const bodyTime = 30 * time.Second

// dialable is the address by which programs on this machine reach a listener: one that listens on every address is at none.
func dialable(at net.Addr) string {
	if tcp, ok := at.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(tcp.Port))
	}
	return at.String()
}

// begin starts what works in the background while the agent serves.
func (a *Agent) begin() {
	if a.kb != nil {
		a.kb.Start()
	}
	if a.agents != nil {
		a.agents.Start()
	}
}

// serve serves one listener until Close, or until it fails: then the agent is over.
func (a *Agent) serve(web *http.Server, ln net.Listener) {
	if err := web.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		a.end(fmt.Errorf("agent: serve on %s: %w", ln.Addr(), err))
	}
}

// end says that the agent serves no more.
func (a *Agent) end(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case <-a.done:
	default:
		a.failed = err
		close(a.done)
	}
}

// Done is closed when the agent serves no more: after Close, or when a listener failed, which Err tells.
func (a *Agent) Done() <-chan struct{} { return a.done }

// Err is why a listener failed, nil if none did.
func (a *Agent) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed
}

// Close stops the agent: it takes nothing new, lets running calls finish until ctx is done or Options.DrainTimeout is
// over, and then cancels what is left. No goroutine, process, connection or file of the agent is left when it returns.
func (a *Agent) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, a.o.DrainTimeout)
	defer cancel()
	a.closing.Store(true)
	a.mu.Lock()
	web := a.web
	a.mu.Unlock()
	// First what takes calls, then what carries their answers, at last what both kept things in: whatever still runs finds the parts below it.
	drained := a.queue.Drain(ctx)
	closed := a.front.Close(ctx)
	if web != nil {
		if err := web.Shutdown(ctx); err != nil {
			_ = web.Close() // whoever is still connected has had the time that ctx gave
		}
		a.serves.Wait()
	}
	a.end(nil)
	if err := errors.Join(drained, closed, a.tasks.Close(ctx), a.telemetry.Close(ctx), a.closeParts()); err != nil {
		return fmt.Errorf("agent: stop: %w", err)
	}
	return nil
}

// closeParts closes what build made, the last first.
func (a *Agent) closeParts() error {
	var errs []error
	for i := len(a.closes) - 1; i >= 0; i-- {
		errs = append(errs, a.closes[i]())
	}
	a.closes = nil
	return errors.Join(errs...)
}

// ServeStdio answers newline-delimited frames from in on out until in ends or ctx is done; in must be readable without
// blocking for ever after that (a pipe whose other end closes). It needs no Start.
func (a *Agent) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	a.begin()
	if a.hostile != nil {
		in, out = a.hostile.Stdio(ctx, in, out)
	}
	if err := a.front.ServeStdio(ctx, in, out); err != nil {
		return fmt.Errorf("agent: stdio: %w", err)
	}
	return nil
}
