package proxy

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/forward"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/proxy/sessions"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// put makes a table the one in force. Targets whose route did not change stay, with their connections and sessions; those
// that are gone finish what they serve. r.apply is held.
func (r *Router) put(t *routes.Table) error {
	if err := r.seal(cmp.Or(r.o.SessionKey, t.SessionKey)); err != nil {
		r.log.Error("cannot load the session keys", "error", err)
		if r.shared.Sealer.Load() == nil {
			return err
		}
	}
	if msg := r.otherPort(t); msg != "" {
		r.log.Warn("routes", "file", r.o.Routes, "message", msg)
	}
	// Tokens that cannot be read keep the others in force, or let nobody in; the routes that came with them are served.
	wrong := r.follow(t)
	r.install(t, nil)
	return wrong
}

// install serves a table of the file, and what was registered beside it. ready is the target of a route that comes into force
// with it; nil for none. r.apply is held.
func (r *Router) install(file *routes.Table, ready *forward.Target) {
	t := file.With(r.extra)
	if r.o.Prefix != "" {
		own := *t
		own.Merged.Prefix = r.o.Prefix
		t = &own
	}
	r.shadows(t)
	r.file = file
	r.table.Store(t)
	names := slices.DeleteFunc(t.Names(), func(n string) bool { return t.Routes[n].Disabled })
	r.enabled.Store(&names)
	old := *r.targets.Load()
	now := make(map[string]*forward.Group, len(t.Routes))
	kept := map[*forward.Target]bool{}
	for name, route := range t.Routes {
		if have := old[name]; have != nil && have.Route.Equal(route) {
			now[name] = have
		} else {
			now[name] = r.group(route, have, ready)
		}
		for _, t := range now[name].Targets {
			kept[t] = true
		}
	}
	r.targets.Store(&now)
	for _, g := range old {
		for _, t := range g.Targets {
			if !kept[t] {
				r.retire(t)
			}
		}
	}
	if ready != nil && !kept[ready] {
		r.retire(ready)
	}
}

// group makes the targets of a route, but for those that another version of it has, or that are ready. So a replica that comes or goes does not touch the
// sessions at the others.
func (r *Router) group(route *routes.Route, old *forward.Group, ready *forward.Target) *forward.Group {
	g := &forward.Group{Route: route}
	for _, one := range route.Replicas() {
		t := ready
		if t == nil || t.Route != one {
			t = nil
			if old != nil {
				if i := slices.IndexFunc(old.Targets, func(t *forward.Target) bool { return t.Route.Equal(one) }); i >= 0 {
					t = old.Targets[i]
				}
			}
		}
		if t == nil {
			t = forward.New(one, r.upstream(one), &r.shared)
		}
		g.Targets = append(g.Targets, t)
	}
	return g
}

// retire closes a target in the background, once its running calls have finished.
func (r *Router) retire(t *forward.Target) {
	r.retired.Go(func() {
		ctx, cancel := context.WithTimeout(r.life, max(t.Route.Timeout, r.o.DrainTimeout))
		defer cancel()
		if err := t.Retire(ctx); err != nil {
			r.log.Warn("route closed", "agent", t.Route.Name, "error", err)
		}
	})
}

// otherPort is a warning that the routes name another port than the one the router listens on, "" if they do not.
func (r *Router) otherPort(t *routes.Table) string {
	now := int(r.port.Load())
	if !r.o.RoutesPort || now == 0 || t.Port == now || t.Port == 0 {
		return ""
	}
	return fmt.Sprintf("port %d takes effect at the next start; still listening on %d", t.Port, now)
}

// seal loads the keys that seal session ids: those of a file, or else those that the routers of a cluster share; without either, ids are
// not sealed, and sessions are kept in memory. Where a file cannot be read, the keys in force stay.
func (r *Router) seal(file string) error {
	if file == "" {
		var s *sessions.Sealer
		var err error
		if r.o.Cluster != nil {
			s, err = sessions.NewSealer(r.o.SessionTTL, r.o.Cluster.SessionKeys()...)
		}
		r.shared.Sealer.Store(s)
		return err
	}
	s, shared, err := sessions.LoadSealer(file, r.o.SessionTTL)
	if err != nil {
		return err
	}
	if shared {
		r.log.Warn("session key file is readable by other users: run chmod 600 on it", "file", file)
	}
	r.shared.Sealer.Store(s)
	return nil
}

// upstream is the way to the agent of a route.
func (r *Router) upstream(route *routes.Route) flow.Upstream {
	var up flow.Upstream
	switch {
	case route.Command == "" && route.Endpoint() == nil:
		up = flow.Broken(&jsonrpc.RequestError{
			Kind: jsonrpc.KindUnreachable, Status: http.StatusServiceUnavailable, RetryAfter: time.Second,
			Message: "Failed to reach agent: no process of '" + route.Name + "' is registered",
		})
	case route.Command == "":
		up = r.remote(route)
	default:
		make := r.o.Bridge
		if make == nil {
			make = r.command
		}
		var err error
		if up, err = make(route); err != nil {
			r.log.Error("cannot serve route", "agent", route.Name, "error", err)
			up = flow.Broken(fmt.Errorf("cannot start its process: %w", err))
		}
	}
	up = flow.Timed(up)
	wrap := append(r.policy.wrap(), r.o.Wrap...)
	for i := len(wrap) - 1; i >= 0; i-- {
		up = wrap[i](route, up)
	}
	return up
}

// sessionEnded ends a session at its agent.
func (r *Router) sessionEnded(p sessions.Binding) {
	if t := (*r.targets.Load())[p.Agent]; t != nil {
		t.Abandon(p)
	}
}
