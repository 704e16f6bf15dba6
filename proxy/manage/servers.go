package manage

import (
	"context"
	"net/http"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
)

// maxServers limits registered servers.
const maxServers = 1000

// register implements RegisterMcpServer. It replaces a server of the same name that is not connected.
func (s *Server) register(_ context.Context, body []byte) ([]byte, error) {
	route, err := routes.ParseOne(body)
	if err != nil {
		return nil, usageError(http.StatusBadRequest, "%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.known[route.Name]
	served := s.o.Router.Routes().Routes[route.Name]
	switch {
	case served != nil && (old == nil || served != old.route):
		return nil, usageError(http.StatusConflict, "the routes file has a server named %s; choose another name", route.Name)
	case old != nil && (old.state == session.Connected || old.state == session.Connecting):
		return nil, usageError(http.StatusConflict, "a server named %s is registered and in use; disconnect it first, or choose another name", route.Name)
	case old == nil && len(s.known) >= maxServers:
		return nil, usageError(http.StatusConflict, "%d servers are registered, the maximum", maxServers)
	}
	s.known[route.Name] = &server{route: route, mutex: make(chan struct{}, 1), state: session.Disconnected}
	s.o.Logger.Info("server registered", "agent", route.Name, "upstream", route.Kind(), "replaced", old != nil)
	return encode(struct {
		Name     string        `json:"name"`
		Status   session.State `json:"status"`
		Replaced bool          `json:"replaced,omitempty"`
	}{route.Name, session.Disconnected, old != nil})
}

// lock returns a registered server, nil if there is none, once no other operation connects or disconnects it.
func (s *Server) lock(ctx context.Context, name string) (v *server, release func(), err error) {
	for {
		s.mu.Lock()
		v = s.known[name]
		s.mu.Unlock()
		if v == nil {
			return nil, func() {}, nil
		}
		select {
		case v.mutex <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		s.mu.Lock()
		same := s.known[name] == v
		s.mu.Unlock()
		if same {
			return v, func() { <-v.mutex }, nil
		}
		<-v.mutex // it was replaced
	}
}

// connect implements ConnectMcpServer.
func (s *Server) connect(ctx context.Context, body []byte) ([]byte, error) {
	name, err := requiredName(body)
	if err != nil {
		return nil, err
	}
	v, release, err := s.lock(ctx, name)
	if err != nil {
		return nil, err
	}
	defer release()
	served := s.o.Router.Routes().Routes[name]
	switch {
	case served == nil && v == nil:
		return nil, notFound(name)
	case served != nil && (v == nil || served != v.route):
		if served.Disabled {
			return nil, failureOf(failure.ServerDisabled, name, "disabled in the routes file; enable it there")
		}
		return s.connectServed(ctx, name)
	case served != nil:
		return s.connectServed(ctx, name)
	case v.route.Disabled:
		return nil, failureOf(failure.ServerDisabled, name, "registered as disabled; register it again, enabled")
	}
	return s.connectRegistered(ctx, v)
}

// connectServed opens a session with a server in force.
func (s *Server) connectServed(ctx context.Context, name string) ([]byte, error) {
	route, rt, release, ok := s.o.Router.Acquire(name)
	if !ok {
		return nil, notFound(name)
	}
	defer release()
	met, err := s.handshake(ctx, route, rt)
	if err != nil {
		return nil, explain(err, route, s.o.Router.Stderr(name))
	}
	return met.answer(route)
}

// connectRegistered opens a session with a registered server and puts it into force.
func (s *Server) connectRegistered(ctx context.Context, v *server) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.setState(v, session.Connecting, nil, cancel)
	met, e := s.propose(ctx, v.route)
	if e == nil {
		s.mu.Lock()
		v.tools = met.tools
		s.mu.Unlock()
		s.setState(v, session.Connected, nil, nil)
		s.o.Logger.Info("server connected", "agent", v.route.Name, "tools", met.tools)
		return met.answer(v.route)
	}
	if ctx.Err() != nil {
		s.setState(v, session.Disconnected, nil, nil)
		return nil, failureOf(failure.Interrupted, v.route.Name, "connecting was cancelled")
	}
	state := session.Failed
	if e.Remedy == failure.LogIn {
		state = session.NeedsLogin
	}
	s.setState(v, state, e, nil)
	s.o.Logger.Warn("server not connected", "agent", v.route.Name, "error", e.Error())
	return nil, e
}

// propose puts a route into force if its server completes a handshake.
func (s *Server) propose(ctx context.Context, route *routes.Route) (introduction, *failure.Error) {
	c, err := s.o.Router.Propose(route)
	if err != nil {
		return introduction{}, explain(err, route, "")
	}
	met, err := s.handshake(ctx, route, c.Transport())
	if err != nil {
		e := explain(err, route, s.o.Router.Stderr(route.Name)) // before it is discarded
		c.Discard()
		return met, e
	}
	if err := c.Commit(); err != nil {
		return met, explain(err, route, "")
	}
	return met, nil
}

func (s *Server) setState(v *server, state session.State, err *failure.Error, stop context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.state, v.err, v.stop = state, err, stop
}

// disconnect implements DisconnectMcpServer. It also cancels an attempt to connect.
func (s *Server) disconnect(ctx context.Context, body []byte) ([]byte, error) {
	name, err := requiredName(body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if v := s.known[name]; v != nil && v.stop != nil {
		v.stop()
	}
	s.mu.Unlock()
	s.endLogin(name)
	v, release, err := s.lock(ctx, name)
	if err != nil {
		return nil, err
	}
	defer release()
	if v == nil {
		if s.o.Router.Routes().Routes[name] != nil {
			return nil, usageError(http.StatusConflict, "%s is in the routes file; remove or disable it there", name)
		}
		return nil, notFound(name)
	}
	s.o.Router.Remove(v.route)
	s.setState(v, session.Disconnected, nil, nil)
	s.o.Logger.Info("server disconnected", "agent", name)
	return encode(struct {
		Name   string        `json:"name"`
		Status session.State `json:"status"`
	}{name, session.Disconnected})
}
