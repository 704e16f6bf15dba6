package proxy

import (
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/mcphud/mcphud/proxy/forward"
	"github.com/mcphud/mcphud/proxy/manage"
	"github.com/mcphud/mcphud/proxy/policy/breaker"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
)

// managed is the router as its managers see it.
type managed struct{ *Router }

// manage opens the socket on which processes of this user register servers, and serves whoever has a certificate at remote, if
// it is not nil. A router without the socket serves all the same.
func (r *Router) manage(port int, remote net.Listener) {
	m, err := manage.Open(manage.Options{
		Remote: remote,
		Router: managed{r}, Port: port, Name: r.o.Name, Version: r.o.Version, ToolNames: r.toolNames, Logger: r.log,
	})
	if err != nil {
		r.log.Warn("management socket not available", "error", err.Error())
		return
	}
	r.manager = m
	if m.Path() != "" {
		r.log.Info("servers can be registered", "socket", m.Path())
	}
	if remote != nil {
		r.manages = remote.Addr()
		r.log.Info("servers can be registered from other machines", "address", r.manages.String())
	}
}

// ManageAddr is where servers can be registered from other machines; nil if they cannot.
func (r *Router) ManageAddr() net.Addr {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.manages
}

// ManageSocket is where servers can be registered while the router runs, "" if they cannot.
func (r *Router) ManageSocket() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.manager.Path()
}

// errStopping refuses changes once Close began.
var errStopping = &failure.Error{Kind: failure.Interrupted, Message: "the router is stopping"}

// Propose makes the way to the agent of a route that is not in force. Nothing is started or connected before it is used; what is made ends with Commit or
// Discard, one of which must be called.
func (m managed) Propose(route *routes.Route) (manage.Candidate, error) {
	m.apply.Lock()
	defer m.apply.Unlock()
	if m.drain.Err() != nil {
		return nil, errStopping
	}
	return candidate{m.Router, forward.New(route, m.upstream(route), &m.shared)}, nil
}

// candidate is a target that is not in force: its agent is tried out before clients get to it. It ends by Commit or Discard.
type candidate struct {
	r *Router
	t *forward.Target
}

// Transport is the way to the agent.
func (c candidate) Transport() http.RoundTripper { return c.t.Own() }

// Commit serves the route from now on, beside those of the file. The file may have got a server of that name meanwhile: that one wins, and the error says so.
func (c candidate) Commit() error {
	r, route := c.r, c.t.Route
	r.apply.Lock()
	defer r.apply.Unlock()
	switch {
	case r.drain.Err() != nil:
		r.retire(c.t)
		return errStopping
	case r.file.Routes[route.Name] != nil:
		r.retire(c.t)
		return &failure.Error{Kind: failure.ServerNotConnected, Message: r.o.Routes + " now has a server of this name, which is served instead"}
	}
	r.extra[route.Name] = route
	r.install(r.file, c.t)
	r.notifyChange()
	return nil
}

// Discard ends what was begun for the route.
func (c candidate) Discard() { c.r.retire(c.t) }

// Remove ends a route that was kept, unless another one of its name has taken its place. Calls that run may end by themselves.
func (m managed) Remove(route *routes.Route) {
	m.apply.Lock()
	defer m.apply.Unlock()
	if m.extra[route.Name] != route || m.drain.Err() != nil { // a router that stops lets go of all
		return
	}
	delete(m.extra, route.Name)
	m.install(m.file, nil)
	m.notifyChange()
}

// notifyChange notifies clients of /mcp that the agents changed.
func (r *Router) notifyChange() {
	if r.merged != nil {
		r.merged.RoutesChanged()
	}
}

// Acquire is the way to an agent in force, until leave is called; false if there is no such agent.
func (m managed) Acquire(agent string) (route *routes.Route, way http.RoundTripper, leave func(), ok bool) {
	t := m.target(agent, nil)
	if t == nil {
		return nil, nil, nil, false
	}
	return t.Route, t.Own(), t.Release, true
}

// Authorizer has the credentials for the server of a route: those that are in use, if it is in force.
func (m managed) Authorizer(route *routes.Route) *auth.Authorizer {
	if m.routeOf(route.Name) == route {
		return m.authorizer(route.Name)
	}
	return auth.New(route.Server(), m.o.Login)
}

// NeedsLogin reports whether an agent refuses requests until somebody logs in.
func (m managed) NeedsLogin(agent string) bool {
	a := m.authorizer(agent)
	if a == nil {
		return false
	}
	_ = a.Status() // reads the store
	return a.Wanted()
}

// Unhealthy is why the circuit breaker of an agent is open, "" if it is not.
func (m managed) Unhealthy(agent string) string {
	if s := m.policy.breakers.Status(agent); s.State != breaker.Closed {
		return fmt.Sprintf("%d failures in a row, the latest: %s", s.Failures, s.Error)
	}
	return ""
}

// Answered reports whether a request to an agent in force succeeded.
func (m managed) Answered(agent string) bool { return m.policy.breakers.Status(agent).Answered }

// lastLines is how many of them say why a process ended.
const lastLines = 10

// Stderr is what the processes of an agent wrote there last; "" for one that is not a command.
func (m managed) Stderr(agent string) string {
	s := m.bridges.status(agent)
	if s == nil {
		return ""
	}
	return strings.Join(s.Stderr[max(0, len(s.Stderr)-lastLines):], "\n")
}

// shadows warns of servers that were registered and are not served any more, since the file has one of their name. r.apply is
// held.
func (r *Router) shadows(now *routes.Table) {
	before := r.table.Load()
	for name, route := range r.extra {
		if now.Routes[name] != route && before.Routes[name] == route {
			r.log.Warn("registered server hidden: the routes file has a server of the same name", "file", r.o.Routes, "agent", name)
		}
	}
}
