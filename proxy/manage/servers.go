package manage

import (
	"context"
	"net/http"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/failure"
)

// maxServers is how many may be registered.
const maxServers = 1000

// register makes a server known. One that is known and not connected is replaced: there is no other way to correct it.
func (s *Server) register(_ context.Context, body []byte) ([]byte, error) {
	route, err := routes.ParseOne(body)
	if err != nil {
		return nil, usage(http.StatusBadRequest, "%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.known[route.Name]
	served := s.o.Router.Routes().Routes[route.Name]
	switch {
	case served != nil && (old == nil || served != old.route):
		return nil, usage(http.StatusConflict, "the file of routes has a server named %s; choose another name", route.Name)
	case old != nil && (old.state == session.Connected || old.state == session.Connecting):
		return nil, usage(http.StatusConflict, "a server named %s is registered and in use; disconnect it first, or choose another name", route.Name)
	case old == nil && len(s.known) >= maxServers:
		return nil, usage(http.StatusConflict, "%d servers are registered, which is as many as there may be", maxServers)
	}
	s.known[route.Name] = &server{route: route, turn: make(chan struct{}, 1), state: session.Disconnected}
	s.o.Logger.Info("server registered", "agent", route.Name, "upstream", route.Kind(), "replaced", old != nil)
	return encode(struct {
		Name     string        `json:"name"`
		Status   session.State `json:"status"`
		Replaced bool          `json:"replaced,omitempty"`
	}{route.Name, session.Disconnected, old != nil})
}

// enter waits until nobody else connects or disconnects a server, and is what is known of it then; nil for one that is not
// registered.
func (s *Server) enter(ctx context.Context, name string) (v *server, leave func(), err error) {
	for {
		s.mu.Lock()
		v = s.known[name]
		s.mu.Unlock()
		if v == nil {
			return nil, func() {}, nil
		}
		select {
		case v.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		s.mu.Lock()
		same := s.known[name] == v
		s.mu.Unlock()
		if same {
			return v, func() { <-v.turn }, nil
		}
		<-v.turn // it was replaced
	}
}

// connect introduces the router to a server, and serves a registered one from then on.
func (s *Server) connect(ctx context.Context, body []byte) ([]byte, error) {
	name, err := oneNamed(body)
	if err != nil {
		return nil, err
	}
	v, leave, err := s.enter(ctx, name)
	if err != nil {
		return nil, err
	}
	defer leave()
	served := s.o.Router.Routes().Routes[name]
	switch {
	case served == nil && v == nil:
		return nil, notFound(name)
	case served != nil && (v == nil || served != v.route):
		if served.Disabled {
			return nil, failed(failure.ServerDisabled, name, "the file of routes disables it; correct it there")
		}
		return s.meet(ctx, name)
	case served != nil:
		return s.meet(ctx, name)
	case v.route.Disabled:
		return nil, failed(failure.ServerDisabled, name, "it was registered as disabled; register it anew without that")
	}
	return s.begin(ctx, v)
}

// meet introduces the router to a server that is served already.
func (s *Server) meet(ctx context.Context, name string) ([]byte, error) {
	route, way, leave, ok := s.o.Router.Enter(name)
	if !ok {
		return nil, notFound(name)
	}
	defer leave()
	met, err := s.introduce(ctx, route, way)
	if err != nil {
		return nil, explain(err, route, s.o.Router.Stderr(name))
	}
	return met.answer(route), nil
}

// begin is connect for a server that is not served.
func (s *Server) begin(ctx context.Context, v *server) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.set(v, session.Connecting, nil, cancel)
	met, e := s.try(ctx, v.route)
	if e == nil {
		s.mu.Lock()
		v.tools = met.tools
		s.mu.Unlock()
		s.set(v, session.Connected, nil, nil)
		s.o.Logger.Info("server connected", "agent", v.route.Name, "tools", met.tools)
		return met.answer(v.route), nil
	}
	if ctx.Err() != nil {
		s.set(v, session.Disconnected, nil, nil)
		return nil, failed(failure.Interrupted, v.route.Name, "connecting to it was given up")
	}
	s.set(v, session.Failed, e, nil)
	s.o.Logger.Warn("server not connected", "agent", v.route.Name, "error", e.Error())
	return nil, e
}

// try serves a server if it answers.
func (s *Server) try(ctx context.Context, route *routes.Route) (introduction, *failure.Error) {
	c, err := s.o.Router.Try(route)
	if err != nil {
		return introduction{}, explain(err, route, "")
	}
	met, err := s.introduce(ctx, route, c.Way())
	if err != nil {
		e := explain(err, route, s.o.Router.Stderr(route.Name)) // which is forgotten then
		c.Drop()
		return met, e
	}
	if err := c.Keep(); err != nil {
		return met, explain(err, route, "")
	}
	return met, nil
}

func (s *Server) set(v *server, state session.State, err *failure.Error, stop context.CancelFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v.state, v.err, v.stop = state, err, stop
}

// disconnect ends the serving of a registered server, and an attempt to connect to it.
func (s *Server) disconnect(ctx context.Context, body []byte) ([]byte, error) {
	name, err := oneNamed(body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if v := s.known[name]; v != nil && v.stop != nil {
		v.stop()
	}
	s.mu.Unlock()
	v, leave, err := s.enter(ctx, name)
	if err != nil {
		return nil, err
	}
	defer leave()
	if v == nil {
		if s.o.Router.Routes().Routes[name] != nil {
			return nil, usage(http.StatusConflict, "%s is in the file of routes; take it out or disable it there", name)
		}
		return nil, notFound(name)
	}
	s.o.Router.Take(v.route)
	s.set(v, session.Disconnected, nil, nil)
	s.o.Logger.Info("server disconnected", "agent", name)
	return encode(struct {
		Name   string        `json:"name"`
		Status session.State `json:"status"`
	}{name, session.Disconnected})
}
