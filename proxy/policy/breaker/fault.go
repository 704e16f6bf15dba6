package breaker

import (
	"net/http"
	"sync"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/serve/fault"
)

// Faults makes requests fail on purpose, as the plans of their routes say.
type Faults struct {
	route func(agent string) *routes.Route // nil if there is none

	mu sync.Mutex
	by map[string]*planned
}

type planned struct {
	plan     fault.Plan
	injector *fault.Injector
}

// NewFaults makes Faults, given the routes in force.
func NewFaults(route func(agent string) *routes.Route) *Faults {
	return &Faults{route: route, by: map[string]*planned{}}
}

// injector is that of a route with a plan. A changed plan begins anew.
func (f *Faults) injector(r *routes.Route) *fault.Injector {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.by[r.Name]
	if p == nil || p.plan != r.Fault {
		i, err := fault.New(r.Fault)
		if err != nil { // was checked when the route was read
			return nil
		}
		p = &planned{r.Fault, i}
		f.by[r.Name] = p
	}
	return p.injector
}

// Injected is how many requests of an agent suffered what.
func (f *Faults) Injected(agent string) map[fault.Kind]int64 {
	f.mu.Lock()
	p := f.by[agent]
	f.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.injector.Status().Injected
}

// Middleware belongs behind what asks who calls, and before anything reads a body.
func (f *Faults) Middleware(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		r := f.route(c.Agent)
		if r == nil || r.Fault == (fault.Plan{}) {
			next(c)
			return
		}
		i := f.injector(r)
		if i == nil {
			next(c)
			return
		}
		answered := false
		w := &noting{ResponseWriter: c.W}
		i.WrapNotify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answered = true
			c.W, c.R = w, r
			next(c)
		}), func(k fault.Kind) { c.Fault = string(k) }).ServeHTTP(w, c.R)
		if !answered {
			c.Status, c.Sent = w.status, w.sent
		}
	}
}

// noting notes what an injected fault answered.
type noting struct {
	http.ResponseWriter
	status int
	sent   int64
}

// WriteHeader notes the status.
func (n *noting) WriteHeader(status int) {
	n.status = status
	n.ResponseWriter.WriteHeader(status)
}

// Write counts.
func (n *noting) Write(p []byte) (int, error) {
	if n.status == 0 {
		n.status = http.StatusOK
	}
	k, err := n.ResponseWriter.Write(p)
	n.sent += int64(k)
	return k, err
}

// Unwrap is for http.ResponseController.
func (n *noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }
