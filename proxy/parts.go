package proxy

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/proxy/bridge"
	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// command is the way to an agent that is a process of the router's.
func (r *Router) command(route *routes.Route) (flow.Upstream, error) {
	o := bridge.Options{
		Name: route.Name, Command: route.Command, Args: route.Args, Env: route.Env, Cwd: route.Cwd, Sandbox: route.Sandbox, Shared: route.Session == routes.Shared,
		Logger: r.log, SideChannel: r.o.SideChannel, Client: session.Implementation{Name: r.o.Name, Version: r.o.Version},
		Caller: callerOf,
	}
	a := r.credentials(route)
	if a != nil {
		o.Given = func(ctx context.Context, as config.Server) (config.Server, error) {
			as.OAuth = route.OAuth
			return a.Given(ctx, as)
		}
		o.Judge = a.Judge
	}
	b := bridge.New(o)
	r.bridges.Store(route.Name, b)
	up := command{b, func() { r.bridges.CompareAndDelete(route.Name, b) }}
	if a == nil {
		return up, nil
	}
	return r.loggedIn(route, a, up), nil
}

// callerOf is who makes the request that a context belongs to; the zero Caller for what the router does on its own account.
func callerOf(ctx context.Context) bridge.Caller {
	c := flow.From(ctx)
	if c == nil {
		return bridge.Caller{}
	}
	sse, _ := ingress.Accepts(c.R.Header)
	return bridge.Caller{Principal: c.Principal, Left: c.R.Context().Err() != nil, JSON: !sse}
}

// command is a bridge that is forgotten when it is closed.
type command struct {
	*bridge.Bridge
	forget func()
}

// Close ends the bridge's processes.
func (c command) Close() error {
	c.forget()
	return c.Bridge.Close()
}

// bridges are the bridges in use, by the names of their agents.
type bridges struct{ sync.Map }

// status is the state of the processes of an agent, nil for an agent that is not a command.
func (b *bridges) status(agent string) *bridge.Status {
	v, ok := b.Load(agent)
	if !ok {
		return nil
	}
	st := v.(*bridge.Bridge).Status()
	return &st
}

// merge makes the endpoint of all agents, unless an option has something else there. It is given functions instead of the router: it must ask for what is in
// force at each request, and knows nothing of routes and policies.
func (r *Router) merge() {
	if r.o.Handlers["/mcp"] != nil {
		return
	}
	r.merged = aggregate.New(aggregate.Options{
		Name: r.o.Name, Version: r.o.Version, Router: http.HandlerFunc(r.route), Direct: r.Serve, Refused: r.policy.recordRefused, InternalCaller: flow.WithInternalCaller,
		MaxRequest: r.o.MaxRequest, BodyTimeout: r.o.BodyTimeout, WriteTimeout: r.o.WriteTimeout, Logger: r.log, Drain: r.drain,
		Limit: func(agent string) time.Duration {
			if route := r.Routes().Routes[agent]; route != nil && route.Timeout > 0 {
				return route.Timeout
			}
			return routes.DefaultTimeout
		},
		Offers: func(agent, tool string) bool {
			route := r.Routes().Routes[agent]
			return route == nil || route.Tools == nil || slices.Contains(route.Tools, tool)
		},
		Selects: func(agent, name string) bool { return r.Routes().Selects(agent, name) },
		Merged:  r.mergedNaming,
		Bind: func(ctx context.Context, principal string) (context.Context, func()) {
			return r.policy.guard.Bind(ctx, principal, "")
		},
		Agents: func() []string { return *r.enabled.Load() },
		Identify: func(w http.ResponseWriter, req *http.Request) (aggregate.Caller, bool) {
			p, err := r.Identify(req)
			if err == nil {
				return aggregate.Caller{Principal: p.Name, May: p.May}, true
			}
			if f, ok := jsonrpc.AsRequestError(err); ok {
				w.Header().Set("WWW-Authenticate", ingress.Resource{}.Challenge(f))
			}
			r.policy.refuse(&flow.Call{Request: flow.Request{W: w, R: req, Began: time.Now()}}, err)
			return aggregate.Caller{}, false
		},
	})
	r.own["/mcp"] = r.merged
}
