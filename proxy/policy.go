package proxy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/proxy/cluster"
	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/policy/access"
	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/proxy/policy/breaker"
	"github.com/mcphud/mcphud/proxy/policy/metrics"
	"github.com/mcphud/mcphud/proxy/policy/toolpin"
	"github.com/mcphud/mcphud/proxy/routes"
)

// policy is what surrounds each call: access rights, rate limits, audit, metrics, tool pins and circuit breakers.
type policy struct {
	guard    *access.Guard     // who calls, and which agents it may call
	rates    *access.Rates     // requests a minute, of an agent and a principal
	pins     *toolpin.Store    // what agents' tools were when they were first seen
	breakers *breaker.Breakers // agents that fail get no requests until the next try
	faults   *breaker.Faults   // what routes ask to go wrong on purpose
	metrics  *metrics.Metrics  // nil only where newPolicy failed
	audit    *audit.Log        // nil where nothing is written down
}

// newPolicy makes the policy of a router. close ends it, also after an error.
func (r *Router) newPolicy() (err error) {
	p, o := &r.policy, r.o
	p.guard = access.NewGuard(o.Logger)
	limits, shared := o.Breaker, access.Shared{}
	limits.Logger = o.Logger
	if c := o.Cluster; c != nil {
		shared = access.Shared{Key: func(agent, principal string) string { return cluster.Key(agent, principal) }, Admitted: c.Request}
		limits.Changed = c.Breaker
	}
	p.rates, p.breakers = access.NewRates(shared), breaker.New(limits)
	if o.Cluster != nil {
		o.Cluster.Handle(cluster.Handlers{Requests: p.rates.Add, Breaker: p.breakers.Apply})
	}
	p.faults = breaker.NewFaults(r.routeOf)
	if p.pins, err = toolpin.Open(o.Pins, o.Logger); err != nil {
		return err
	}
	if o.Audit.File != "" {
		to := o.Audit
		to.Logger = o.Logger
		if p.audit, err = audit.Open(to); err != nil {
			return err
		}
	}
	p.metrics = metrics.New(metrics.Options{
		Name: o.Name, Version: o.Version, OTLP: o.OTLP, Logger: o.Logger, Gauges: r.gauges(),
		Known: func(agent string) bool { return r.routeOf(agent) != nil || agent == "" },
	})
	return nil
}

// outer are the middlewares before a body is read, outermost first. Audit and metrics are around the guard: a caller who is refused is recorded.
func (p *policy) outer() []flow.Middleware {
	out := []flow.Middleware{p.metrics.Middleware, p.guard.Middleware, noteAuthorized, p.faults.Middleware}
	if p.audit != nil {
		out = append([]flow.Middleware{p.audit.Middleware}, out...)
	}
	return out
}

// noteAuthorized notes when it was clear who calls.
func noteAuthorized(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		c.Authorized = time.Since(c.Began)
		next(c)
	}
}

// refuse answers a caller who is not authenticated, on a path that is not an agent's. Metrics and audit record it as on
// the others.
func (p *policy) refuse(c *flow.Call, err error) {
	p.record(c, func(c *flow.Call) { c.Refuse(err) })
}

// recordRefused records a call that was answered already, though no agent was asked.
func (p *policy) recordRefused(c *flow.Call) { p.record(c, func(*flow.Call) {}) }

// record has metrics and audit see a call that did not go through the chain.
func (p *policy) record(c *flow.Call, h flow.Handler) {
	h = p.metrics.Middleware(h)
	if p.audit != nil {
		h = p.audit.Middleware(h)
	}
	h(c)
}

// inner are those that see the envelope, outermost first. What a route does not list is refused before it counts towards a limit.
func (p *policy) inner() []flow.Middleware {
	return []flow.Middleware{p.metrics.Trace, lists, p.rates.Middleware, p.guard.Streams}
}

// wrap are those around the way to an agent.
func (p *policy) wrap() []flow.Wrap { return []flow.Wrap{p.pins.Wrap, p.breakers.Wrap} }

// follow has the guard ask for the tokens that a table names, unless an option names others.
func (r *Router) follow(t *routes.Table) error {
	if r.o.Trusted {
		return nil
	}
	file := r.o.Tokens
	if file == "" {
		file = t.Tokens
	}
	return r.policy.guard.Follow(file)
}

// close ends what the policy owns.
func (p *policy) close(ctx context.Context) error {
	var errs []error
	if p.audit != nil {
		errs = append(errs, p.audit.Close())
	}
	if p.pins != nil {
		errs = append(errs, p.pins.Close())
	}
	if p.metrics != nil {
		_ = p.metrics.Close(ctx) // a collector that is away was logged, and keeps nobody from leaving
	}
	return errors.Join(errs...)
}

// routeOf is the route of an agent in force, nil if there is none.
func (r *Router) routeOf(agent string) *routes.Route {
	if t := (*r.targets.Load())[agent]; t != nil {
		return t.Route
	}
	return nil
}

// Identify authenticates a request to the router; the error is a *jsonrpc.RequestError with status 401.
func (r *Router) Identify(req *http.Request) (access.Principal, error) {
	return r.policy.guard.Identify(req)
}
