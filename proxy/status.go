package proxy

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/mcphud/mcphud/proxy/aggregate"
	"github.com/mcphud/mcphud/proxy/bridge"
	"github.com/mcphud/mcphud/proxy/cluster"
	"github.com/mcphud/mcphud/proxy/policy/access"
	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/proxy/policy/breaker"
	"github.com/mcphud/mcphud/proxy/policy/metrics"
	"github.com/mcphud/mcphud/proxy/policy/toolpin"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/serve/fault"
	"github.com/mcphud/mcphud/session/serve/ingress"
)

// Status is the state of a router, as /status shows it. Callers see only the agents that they may call, see pages.
type Status struct {
	Name     string                 `json:"name"`
	Version  string                 `json:"version"`
	Started  time.Time              `json:"started"`
	UptimeMS int64                  `json:"uptime_ms"`
	Draining bool                   `json:"draining"`
	Routes   RoutesStatus           `json:"routes"`
	Tokens   access.Status          `json:"tokens"`
	Sessions SessionsStatus         `json:"sessions"`
	Audit    *audit.Status          `json:"audit,omitempty"`   // nil where nothing is written down
	Cluster  *cluster.Status        `json:"cluster,omitempty"` // what is shared with other routers; nil where nothing is
	Agents   map[string]AgentStatus `json:"agents"`
	Merged   *aggregate.Status      `json:"merged,omitempty"` // the endpoint of all agents
}

// RoutesStatus is about the file of routes. Error and Warnings are in full for those who may call all agents.
type RoutesStatus struct {
	File     string    `json:"file"`
	Since    time.Time `json:"since"`           // when the routes in force came into force
	Error    string    `json:"error,omitempty"` // why the file as it is now is not in force
	Warnings []string  `json:"warnings,omitempty"`
}

// SessionsStatus is about the sessions that the router keeps; sealed ones are not kept.
type SessionsStatus struct {
	Active int  `json:"active"`
	Sealed bool `json:"sealed"` // whether new ids are sealed
}

// AgentStatus is about one agent.
type AgentStatus struct {
	State    string               `json:"state"`    // "ok", "failing" when the last request had no answer, "needs login" or "disabled"
	Upstream string               `json:"upstream"` // "hostPort", "url", "urls", "command" or "registered"
	InFlight int                  `json:"in_flight"`
	Requests int64                `json:"requests"`
	Errors   int64                `json:"errors"` // of the requests; those that were denied among them
	Denied   int64                `json:"denied"`
	Breaker  breaker.Status       `json:"breaker"`
	Pins     toolpin.Status       `json:"pins"`
	Faults   map[fault.Kind]int64 `json:"faults,omitempty"`  // that were injected
	Process  *bridge.Status       `json:"process,omitempty"` // of an agent that is a command
	Login    *LoginStatus         `json:"login,omitempty"`   // at an agent whose route has oauth
}

// Status is what the router serves now.
func (r *Router) Status() Status {
	t := r.Routes()
	s := Status{
		Name: r.o.Name, Version: r.o.Version, Started: r.started.UTC(), UptimeMS: time.Since(r.started).Milliseconds(), Draining: r.leaving.Load(),
		Routes:   RoutesStatus{File: r.o.Routes, Since: r.watch.Since().UTC()},
		Tokens:   r.policy.guard.Status(),
		Sessions: SessionsStatus{r.shared.Sessions.Len(), r.shared.Sealer.Load() != nil},
		Agents:   map[string]AgentStatus{},
	}
	if r.o.Routes == "" && r.o.Keys != nil {
		s.Routes.File = r.o.Keys.String()
	}
	if err := r.staleness(); err != nil {
		s.Routes.Error = err.Error()
	}
	for _, p := range t.Warnings {
		s.Routes.Warnings = append(s.Routes.Warnings, p.String())
	}
	if msg := r.otherPort(t); msg != "" {
		s.Routes.Warnings = append(s.Routes.Warnings, msg)
	}
	if r.policy.audit != nil {
		a := r.policy.audit.Status()
		s.Audit = &a
	}
	if r.o.Cluster != nil {
		c := r.o.Cluster.Status()
		s.Cluster = &c
	}
	for name, target := range *r.targets.Load() {
		s.Agents[name] = r.agentStatus(target.Route, target.Calls())
	}
	if r.merged != nil {
		m := r.merged.Status()
		s.Merged = &m
	}
	return s
}

// staleness is why the file of routes as it stands now is not in force, or not as a whole; nil if it is.
func (r *Router) staleness() error {
	if err := r.stale.Load(); err != nil {
		return *err
	}
	return nil
}

// agentStatus collects what the parts know of one agent.
func (r *Router) agentStatus(route *routes.Route, inFlight int) AgentStatus {
	a := AgentStatus{
		Upstream: route.Kind(), InFlight: inFlight, Breaker: r.policy.breakers.Status(route.Name), Pins: r.policy.pins.Status(route.Name),
		Faults: r.policy.faults.Injected(route.Name), Process: r.bridges.status(route.Name), Login: r.login(route),
	}
	a.State = state(route, a.Breaker, a.Login)
	if n := r.policy.metrics.Agent(route.Name); n != nil {
		a.Requests, a.Errors, a.Denied = n.Requests.Load(), n.Errors.Load(), n.Denied.Load()
	}
	return a
}

// State is the state of an agent as /status has it: "ok", "failing", "needs login" or "disabled"; "" if there is no such agent.
func (r *Router) State(agent string) string {
	route := r.routeOf(agent)
	if route == nil {
		return ""
	}
	return state(route, r.policy.breakers.Status(agent), r.login(route))
}

// state is State from what is known already. What a person has to do comes before what passes by itself.
func state(route *routes.Route, b breaker.Status, l *LoginStatus) string {
	switch {
	case route.Disabled:
		return "disabled"
	case l != nil && l.State == needsLogin:
		return needsLogin
	case b.State != breaker.Closed || b.Failures > 0:
		return "failing"
	}
	return "ok"
}

// gauges are the metrics that are computed when they are read.
func (r *Router) gauges() []metrics.Gauge {
	flag := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	var more []metrics.Gauge
	if c := r.o.Cluster; c != nil {
		more = []metrics.Gauge{
			{Name: "mcp.router.cluster_up", Help: "1 while limits and circuit breakers are shared with other routers.", Value: func() float64 { return flag(c.Status().Up) }},
			{Name: "mcp.router.cluster_routers", Help: "Number of routers that share limits and circuit breakers, this one among them.", Value: func() float64 { return float64(c.Status().Routers) }},
		}
	}
	return append(more, []metrics.Gauge{
		{Name: "mcp.router.sessions", Help: "Number of sessions that the router keeps.", Value: func() float64 { return float64(r.shared.Sessions.Len()) }},
		{Name: "mcp.router.routes", Help: "Number of agents that are served.", Value: func() float64 { return float64(len(*r.targets.Load())) }},
		{Name: "mcp.router.routes_stale", Help: "1 while the routes file is invalid and older routes are in force.", Value: func() float64 { return flag(r.staleness() != nil) }},
		{Name: "mcp.router.tools_changed", Help: "Number of tools whose definition changed since first seen.", Value: func() float64 { return float64(r.policy.pins.Changed()) }},
		{Name: "mcp.router.audit_dropped", Help: "Number of lines lost from the audit log.", Value: func() float64 {
			if r.policy.audit == nil {
				return 0
			}
			return float64(r.policy.audit.Status().Dropped)
		}},
		{Name: "mcp.router.breaker_open", Help: "State of an agent's circuit breaker: 1 open, 0.5 half-open, 0 closed.", ByAgent: func(observe func(string, float64)) {
			value := map[breaker.State]float64{breaker.Open: 1, breaker.HalfOpen: 0.5}
			for name := range *r.targets.Load() {
				observe(name, value[r.policy.breakers.Status(name).State])
			}
		}},
	}...)
}

// pages are the router's own, beside /health: /ready, which answers 503 and the reasons while it should get no requests, and
// /status and /metrics, for which callers need a token where there are tokens. /status tells of the agents that the caller may
// call; /metrics, which tells of all, and what processes wrote to stderr are for those who may call all.
func (r *Router) pages() map[string]http.Handler {
	prom := promhttp.HandlerFor(r.policy.metrics.Registry(), promhttp.HandlerOpts{EnableOpenMetrics: true})
	return map[string]http.Handler{
		"/ready": readOnly(http.HandlerFunc(r.ready)),
		"/metrics": readOnly(r.policy.guard.Page(func(w http.ResponseWriter, req *http.Request, p access.Principal) {
			if !p.All() { // the figures name every agent
				ingress.WriteJSON(w, http.StatusForbidden, []byte(`{"error":"forbidden","detail":"metrics cover all agents: a token with the target * is required"}`))
				return
			}
			prom.ServeHTTP(w, req)
		})),
		"/status": readOnly(r.policy.guard.Page(func(w http.ResponseWriter, _ *http.Request, p access.Principal) {
			s := r.Status()
			if !p.All() { // both name agents
				s.Routes.Warnings = nil
				if s.Routes.Error != "" {
					s.Routes.Error = "the routes as they are now are not in force, or not all of them"
				}
			}
			maps.DeleteFunc(s.Agents, func(name string, _ AgentStatus) bool { return !p.May(name) })
			for name, a := range s.Agents {
				if a.Login != nil && !p.All() {
					a.Login.Where = ""
				}
				if a.Process != nil && !p.All() {
					outside := a.Process.Public()
					a.Process = &outside
					s.Agents[name] = a
				}
			}
			if s.Merged != nil {
				s.Merged.LeftOut = slices.DeleteFunc(s.Merged.LeftOut, func(o aggregate.Omission) bool {
					return slices.ContainsFunc(o.Agents, func(a string) bool { return !p.May(a) })
				})
				s.Merged.Collisions = slices.DeleteFunc(s.Merged.Collisions, func(c aggregate.Collision) bool {
					return slices.ContainsFunc(c.Agents, func(a string) bool { return !p.May(a) })
				})
			}
			page(w, http.StatusOK, s)
		})),
	}
}

// ready answers balancers, who have no token: it says nothing that names an agent.
func (r *Router) ready(w http.ResponseWriter, _ *http.Request) {
	reasons := map[string]string{}
	if r.leaving.Load() {
		reasons["router"] = "shutting down"
	}
	if s := r.policy.guard.Status(); s.Required && s.Tokens == 0 && s.Error != "" {
		reasons["tokens"] = "no token file could be read; all callers are refused" // everybody may read this
	}
	if r.policy.audit != nil && r.policy.audit.Status().Error != "" {
		reasons["audit"] = "the audit log cannot be written"
	}
	if len(reasons) > 0 {
		page(w, http.StatusServiceUnavailable, map[string]any{"status": "not ready", "reasons": reasons})
		return
	}
	page(w, http.StatusOK, map[string]any{"status": "ready"})
}

// page writes a page of the router's own, as JSON that nobody keeps.
func page(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil { // numbers and texts always marshal
		status, body = http.StatusInternalServerError, []byte(`{"error":"internal"}`)
	}
	w.Header().Set("Cache-Control", "no-store")
	ingress.WriteJSON(w, status, append(body, '\n'))
}

// readOnly serves GET and HEAD, and refuses other methods.
func readOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet && req.Method != http.MethodHead {
			ingress.MethodNotAllowed(w, "GET, HEAD")
			return
		}
		h.ServeHTTP(w, req)
	})
}
