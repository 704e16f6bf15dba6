// Package proxy is the router: one loopback address in front of every agent. It wires what its folders hold: routes says
// which agents there are, forward sends requests to them and answers back, sessions ties session ids to callers, flow is one request on its way. policy says
// whether it may go on, and counts it; aggregate makes one server of all agents, bridge an agent of a command. manage takes servers in
// while the router runs, cluster is shared by several routers, browser is for web pages, tap lets others watch, stack runs it all.
//
// A request to an agent passes, in this order: the guard against other origins; the outer middlewares, which see every
// request to an agent before its body is read; the ingress, which refuses what is not a JSON-RPC message and finds the route;
// the inner middlewares, which see the envelope; and the route's target.
//
// A request to /mcp, the endpoint of all agents, is answered by package aggregate, which asks the agents through the same chain,
// so that policies hold there too.
//
//	r, err := proxy.New(proxy.Options{Routes: "routes.json"})
//	…
//	err = r.Start(ctx) // it answers at r.URL() from now on
//	…
//	r.Drain(ctx)       // tells balancers
//	err = r.Close(ctx) // lets running calls finish
//
// Where is what: router.go is the life of a router, handler.go finds what a path is for, targets.go puts a new table of routes into
// force, remote.go and parts.go make the way to an agent at a URL and to one that is a process, login.go adds credentials, policy.go
// is what surrounds each call, managed.go takes servers in, links.go serves WebSockets and HTTP+SSE, status.go has the pages.
package proxy

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/forward"
	"github.com/mcphud/mcphud/proxy/manage"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/serve/duplex"
)

// Router forwards. It is made by New, served by Start or Handler, and must be closed. Its methods may be called from any goroutine.
//
// Calls read the table, the targets and the sealer from atomic pointers, without a lock. Changes replace these as a whole, one change
// at a time under apply; a target that is replaced goes on until its calls have finished (retire).
type Router struct {
	// Set by New.
	o       Options
	log     *slog.Logger
	watch   *routes.Watcher
	shared  forward.Shared
	targets atomic.Pointer[map[string]*forward.Group] // by name; replaced by install
	table   atomic.Pointer[routes.Table]              // in force: the file's routes, and those that were registered
	enabled atomic.Pointer[[]string]                  // names of its agents that are not disabled, sorted
	chain   flow.Handler                              // the outermost middleware of a call to an agent
	policy  policy
	own     map[string]http.Handler // pages of the router's own
	started time.Time

	leaving atomic.Bool     // Drain or Close began
	drain   context.Context // done when Close begins
	drained context.CancelFunc
	life    context.Context // of requests; done when the time to drain is over
	end     context.CancelFunc

	stale   atomic.Pointer[error] // *stale is why the file as it is now is not in force as a whole; nil before it changed
	merged  *aggregate.Server     // all agents as one; nil where an option has something else in its place
	logins  sync.Map              // *auth.Authorizer of agents that have one, by name
	bridges bridges
	links   *duplex.Server // clients with a connection of their own
	port    atomic.Int32   // that it listens on, 0 before Start

	apply   sync.Mutex               // one change of the table at a time
	file    *routes.Table            // the part of the table that is the file's; under apply
	extra   map[string]*routes.Route // routes that were registered and connected; under apply
	retired sync.WaitGroup           // targets that are being retired; Close waits for them

	mu sync.Mutex
	// Guarded by mu, but for serves.
	manager *manage.Server // nil where nobody can register anything
	manages net.Addr       // where the manager serves other machines; nil for nowhere
	url     string         // "" before Start
	web     *http.Server   // nil before Start
	closed  bool           // Close began
	done    chan struct{}  // closed when a listener fails or Close is over
	failed  error          // why a listener failed; written before done is closed
	serves  sync.WaitGroup // one a listener
}

// New reads the routes and follows them. It listens to nothing yet. A routes file that is wrong is an error here; later the routes that were good stay in
// force, and RoutesErr says what is wrong. The router must be closed also where it was never started.
func New(o Options) (*Router, error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("router: %w", err)
	}
	r := &Router{o: o, log: o.Logger, done: make(chan struct{}), started: time.Now()}
	r.drain, r.drained = context.WithCancel(context.Background())
	r.life, r.end = context.WithCancel(context.Background())
	limits := o.Sessions
	limits.Ended = r.sessionEnded
	r.links = r.newLinks()
	r.shared.Name, r.shared.Version, r.shared.Logger, r.shared.Drain = o.Name, o.Version, o.Logger, r.drain
	r.shared.WriteTimeout = o.WriteTimeout
	r.shared.Sessions = sessions.NewTable(limits)
	r.targets.Store(&map[string]*forward.Group{})
	r.table.Store(&routes.Table{})
	r.enabled.Store(new([]string))
	r.extra = map[string]*routes.Route{}
	if err := r.newPolicy(); err != nil {
		return nil, errors.Join(fmt.Errorf("router: %w", err), r.Close(context.Background()))
	}
	r.own = r.pages()
	r.merge()
	inner := flow.Chain(func(c *flow.Call) {
		c.Routed = time.Since(c.Began)
		c.Target(c)
	}, append(r.policy.inner(), o.Inner...)...)
	r.chain = flow.Chain(r.ingress(inner), append(r.policy.outer(), o.Outer...)...)
	// Changes wait until the first table is in force.
	r.apply.Lock()
	watch, err := routes.Watch(routes.Options{
		Path: o.Routes, Must: o.RoutesMust, Keys: o.Keys, Poll: o.Poll, Logger: o.Logger,
		Changed: func(t *routes.Table, err error) {
			r.apply.Lock()
			defer r.apply.Unlock()
			if t != r.file {
				err = cmp.Or(err, r.put(t)) // of two reasons the file's own
				r.notifyChange()
			}
			r.stale.Store(&err)
		},
	})
	if err != nil {
		r.apply.Unlock()
		return nil, errors.Join(fmt.Errorf("router: %w", err), r.Close(context.Background()))
	}
	r.watch = watch
	if err = o.Check(watch.Current()); err == nil {
		err = r.put(watch.Current())
	}
	if wrong := watch.Err(); wrong != nil { // in a folder, whose others are served
		r.stale.Store(&wrong)
	}
	r.apply.Unlock()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("router: %w", err), r.Close(context.Background()))
	}
	return r, nil
}

// Routes is the table in force: what the file has, and what was registered and connected since.
func (r *Router) Routes() *routes.Table { return r.table.Load() }

// RoutesErr is why the file of routes as it stands now is not in force, nil if it is.
func (r *Router) RoutesErr() error { return r.watch.Err() }

// Reload reads the files of routes and tokens now.
func (r *Router) Reload() error { return errors.Join(r.watch.Reload(), r.policy.guard.Reload()) }

// Sessions is how many sessions the router keeps; sealed ones are not kept.
func (r *Router) Sessions() int { return r.shared.Sessions.Len() }

// Calls is how many calls to an agent are being served, 0 if there is no such agent.
func (r *Router) Calls(agent string) int {
	if t := (*r.targets.Load())[agent]; t != nil {
		return t.Calls()
	}
	return 0
}

// URL is the router's base, such as http://127.0.0.1:8088, "" before Start.
func (r *Router) URL() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.url
}

// Start listens. When it returns without an error the router answers at URL, until Close. ctx bounds the starting only. A
// router starts once, and not after Close.
func (r *Router) Start(ctx context.Context) error {
	r.mu.Lock()
	err := r.idle()
	r.mu.Unlock()
	if err != nil {
		return err
	}
	var cert tls.Certificate
	if r.o.TLSCert != "" {
		if cert, err = tls.LoadX509KeyPair(r.o.TLSCert, r.o.TLSKey); err != nil {
			return fmt.Errorf("router: cannot load the TLS certificate %s and key %s: %w", r.o.TLSCert, r.o.TLSKey, err)
		}
	}
	port := r.o.Port
	if p := r.Routes().Port; p != 0 && r.o.RoutesPort {
		port = p
	}
	lns, err := listen.Listen(ctx, r.o.Host, port)
	if err != nil {
		return fmt.Errorf("router: %w", err)
	}
	var remote net.Listener
	all := lns
	if r.o.Remote.Addr != "" {
		if remote, err = manage.Listen(ctx, r.o.Remote); err == nil {
			all = append(all[:len(all):len(all)], remote)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		err = r.idle() // meanwhile
	}
	if err != nil {
		for _, ln := range all {
			err = errors.Join(err, ln.Close())
		}
		return err
	}
	if tcp, ok := lns[0].Addr().(*net.TCPAddr); ok {
		r.port.Store(int32(tcp.Port))
	}
	scheme := "http"
	r.web = &http.Server{
		Handler: r.Handler(), ErrorLog: slog.NewLogLogger(r.log.Handler(), slog.LevelDebug),
		BaseContext: func(net.Listener) context.Context { return r.life },
		// Each write has a deadline of its own; this one takes the last deadline off a connection that is used again.
		WriteTimeout: maxCall,
	}
	listen.Harden(r.web, r.o.BodyTimeout)
	if r.o.TLSCert != "" {
		scheme = "https"
		r.web.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	}
	r.url = scheme + "://" + lns[0].Addr().String()
	for _, ln := range lns {
		r.serves.Go(func() { r.serve(ln, scheme == "https") })
	}
	if r.o.Manage {
		r.manage(lns[0].Addr().(*net.TCPAddr).Port, remote)
	}
	return nil
}

// idle is an error unless the router may start; r.mu is held.
func (r *Router) idle() error {
	switch {
	case r.closed:
		return fmt.Errorf("router: start: %w", http.ErrServerClosed)
	case r.web != nil:
		return errors.New("router: start: already started")
	}
	return nil
}

// maxCall is longer than any call that is answered in one piece may take.
const maxCall = 25 * time.Hour

// serve serves one listener until Close, or until it fails: then the router is over, so that whoever runs it can start another.
func (r *Router) serve(ln net.Listener, secure bool) {
	var err error
	if secure {
		err = r.web.ServeTLS(ln, "", "")
	} else {
		err = r.web.Serve(ln)
	}
	if !errors.Is(err, http.ErrServerClosed) {
		r.over(fmt.Errorf("router: serve on %s: %w", ln.Addr(), err))
	}
}

// over records that the router no longer serves, and why.
func (r *Router) over(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.done:
	default:
		r.failed = err
		close(r.done)
	}
}

// Done is closed when the router no longer serves: after Close, or when a listener failed, see Err.
func (r *Router) Done() <-chan struct{} { return r.done }

// Err is why a listener failed, nil if none did.
func (r *Router) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// Drain tells balancers that the router will stop, by /ready and by ending each connection after its answer, and serves everything as
// before until Options.DrainDelay has passed or ctx is done. Close follows.
func (r *Router) Drain(ctx context.Context) {
	r.leaving.Store(true)
	if r.o.DrainDelay == 0 {
		return
	}
	t := time.NewTimer(r.o.DrainDelay)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	case <-r.done: // a listener failed
	}
}

// Close stops the router: it accepts nothing new, ends event streams, lets running calls finish until ctx is done or
// Options.DrainTimeout has passed, and cancels the rest. When it returns no goroutine, process or connection of the
// router is left.
func (r *Router) Close(ctx context.Context) error {
	r.mu.Lock()
	web, manager, again := r.web, r.manager, r.closed
	r.closed = true
	r.mu.Unlock()
	r.leaving.Store(true)
	if again {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.o.DrainTimeout)
	defer cancel()
	r.drained()
	manager.Close()
	linked := make(chan struct{})
	go func() {
		r.links.Close(ctx)
		close(linked)
	}()
	defer func() { <-linked }()
	if web != nil {
		if err := web.Shutdown(ctx); err != nil {
			r.end() // whoever is still served has had the time that ctx gave
			_ = web.Close()
		}
		r.serves.Wait()
	}
	if r.merged != nil {
		_ = r.merged.Close() // never fails
	}
	if r.watch != nil {
		r.watch.Close()
	}
	for _, p := range r.shared.Sessions.Close() {
		r.sessionEnded(p)
	}
	r.apply.Lock()
	var all []*forward.Target
	for _, g := range *r.targets.Swap(&map[string]*forward.Group{}) {
		all = append(all, g.Targets...)
	}
	r.apply.Unlock()
	errs := make(chan error, len(all))
	for _, t := range all {
		go func() { errs <- t.Retire(ctx) }()
	}
	var err error
	for range all {
		err = errors.Join(err, <-errs)
	}
	r.end()
	r.retired.Wait()
	err = errors.Join(err, r.policy.close(ctx))
	r.over(nil)
	if err != nil {
		return fmt.Errorf("router: stop: %w", err)
	}
	return nil
}
