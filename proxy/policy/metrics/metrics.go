// Package metrics counts requests to agents, for Prometheus and OTLP collectors and for the router's status, and traces them:
// the span mcp.router.forward is a child of the request's span and the parent of the agent's.
package metrics

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/telemetry"
)

const scope = "github.com/mcphud/mcphud/proxy/metrics"

// Labels for everything without a series of its own.
const (
	unknown = "unknown" // an agent without a route
	other   = "other"   // everything beyond a limit
)

const (
	maxAgents = 500    // with series of their own
	maxSeries = 20_000 // of requests by agent, method and outcome
)

// Options configures [Metrics]. Known is required.
type Options struct {
	Name, Version string // of the router
	OTLP          string // as in telemetry.Options
	Logger        *slog.Logger
	Known         func(agent string) bool // reports whether there is a route; others are counted together

	// Gauges are further values to export.
	Gauges []Gauge
}

// Gauge is a value that is read when metrics are collected.
type Gauge struct {
	Name, Help string
	Value      func() float64
	ByAgent    func(observe func(agent string, v float64)) // instead of Value
}

// Metrics counts requests. It must be closed.
type Metrics struct {
	o       Options
	export  *telemetry.Exporter
	tracer  trace.Tracer // nil without a collector of spans
	latency metric.Float64Histogram

	mu     sync.RWMutex
	agents map[string]*Agent
	series map[key]*atomic.Int64
}

// Agent counts the requests to one agent.
type Agent struct {
	InFlight atomic.Int64
	Requests atomic.Int64 // that ended
	Errors   atomic.Int64 // of Requests, those with an HTTP status from 400 on or an error of the router
	Denied   atomic.Int64 // of Requests, those that were refused authorization
	In, Out  atomic.Int64 // bytes of bodies

	name    string
	outcome [3][]metric.RecordOption
}

type outcome uint8

const (
	ok outcome = iota
	failed
	denied
)

var outcomes = [...]string{"ok", "error", "denied"}

// key identifies a counter of requests.
type key struct {
	agent, method string
	outcome       outcome
}

// New returns Metrics and starts exporting to OTLP, if configured.
func New(o Options) *Metrics {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	m := &Metrics{o: o, agents: map[string]*Agent{}, series: map[key]*atomic.Int64{}}
	m.export = telemetry.Open(telemetry.Options{Name: o.Name, Version: o.Version, Scope: scope, OTLP: o.OTLP, Logger: o.Logger})
	m.tracer = m.export.Tracer
	b := telemetry.Instruments{Meter: m.export.Meter}
	m.latency = b.Duration("mcp.router.duration_ms", "How long requests to agents took, in milliseconds, until the end of the answer.")
	b.Counters("mcp.router.requests", "Requests to agents.", m.observe)
	by := func(name, help string, v func(*Agent) int64) {
		b.Counters(name, help, func(o metric.Int64Observer) { m.each(func(a *Agent) { o.Observe(v(a), a.attribute()) }) })
	}
	by("mcp.router.in_bytes", "Bytes of the bodies of requests to agents.", func(a *Agent) int64 { return a.In.Load() })
	by("mcp.router.out_bytes", "Bytes of the bodies of answers.", func(a *Agent) int64 { return a.Out.Load() })
	b.Gauges("mcp.router.in_flight", "Requests to agents that are being answered.", func(o metric.Float64Observer) {
		m.each(func(a *Agent) { o.Observe(float64(a.InFlight.Load()), a.attribute()) })
	})
	for _, g := range o.Gauges {
		if g.ByAgent == nil {
			b.Gauge(g.Name, g.Help, g.Value)
			continue
		}
		b.Gauges(g.Name, g.Help, func(o metric.Float64Observer) {
			n := 0
			g.ByAgent(func(agent string, v float64) {
				if n++; n <= maxAgents {
					o.Observe(v, metric.WithAttributes(attribute.String(attrAgent, agent)))
				}
			})
		})
	}
	if b.Err != nil {
		o.Logger.Error("metrics are incomplete", "error", b.Err)
	}
	return m
}

// Registry is the registry for Prometheus.
func (m *Metrics) Registry() *prometheus.Registry { return m.export.Registry }

// Close exports what was collected, and stops exporting. It gives up when ctx is done, or after a few seconds.
func (m *Metrics) Close(ctx context.Context) error { return m.export.Close(ctx) }

func (a *Agent) attribute() metric.ObserveOption {
	return metric.WithAttributes(attribute.String(attrAgent, a.name))
}

func (m *Metrics) each(f func(*Agent)) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, a := range m.agents {
		f(a)
	}
}

func (m *Metrics) observe(o metric.Int64Observer) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for k, n := range m.series {
		o.Observe(n.Load(), metric.WithAttributes(attribute.String(attrAgent, k.agent), attribute.String(attrMethod, k.method), attribute.String("outcome", outcomes[k.outcome])))
	}
}

// Agent returns the counters of an agent, nil if nothing was counted.
func (m *Metrics) Agent(name string) *Agent {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.agents[name]
}

// agent returns the counters of an agent. Names without a route share one, so that callers cannot fill the memory.
func (m *Metrics) agent(name string) *Agent {
	m.mu.RLock()
	a := m.agents[name]
	m.mu.RUnlock()
	switch {
	case a != nil:
		return a
	case name != unknown && name != other && !m.o.Known(name):
		return m.agent(unknown)
	}
	m.mu.Lock()
	if a = m.agents[name]; a == nil && (len(m.agents) < maxAgents || name == unknown || name == other) {
		a = &Agent{name: name}
		for i, o := range outcomes {
			a.outcome[i] = []metric.RecordOption{metric.WithAttributeSet(attribute.NewSet(attribute.String(attrAgent, name), attribute.String("outcome", o)))}
		}
		m.agents[name] = a
	}
	m.mu.Unlock()
	if a == nil {
		return m.agent(other)
	}
	return a
}

// count returns the counter of a key.
func (m *Metrics) count(k key) *atomic.Int64 {
	m.mu.RLock()
	n := m.series[k]
	m.mu.RUnlock()
	if n != nil {
		return n
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.series) >= maxSeries {
		k = key{other, other, k.outcome}
	}
	if n = m.series[k]; n == nil {
		n = new(atomic.Int64)
		m.series[k] = n
	}
	return n
}

// Middleware counts calls. It must be outside of everything that may refuse a call.
func (m *Metrics) Middleware(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		a := m.agent(c.Agent)
		a.InFlight.Add(1)
		defer m.record(a, c) // also when the forwarder ends a connection by a panic
		next(c)
	}
}

func (m *Metrics) record(a *Agent, c *flow.Call) {
	a.InFlight.Add(-1)
	a.Requests.Add(1)
	a.In.Add(int64(len(c.Body)))
	a.Out.Add(c.Sent)
	o := outcomeOf(c)
	switch o {
	case failed:
		a.Errors.Add(1)
	case denied:
		a.Errors.Add(1)
		a.Denied.Add(1)
	}
	m.count(key{a.name, method(c), o}).Add(1)
	m.latency.Record(context.Background(), float64(time.Since(c.Began))/float64(time.Millisecond), a.outcome[o]...)
}

func outcomeOf(c *flow.Call) outcome {
	switch {
	case c.Denied():
		return denied
	case c.Failure != nil || c.Status >= 400 || c.Status == 0:
		return failed
	}
	return ok
}

// method is the label of a call: a known method of MCP, or the HTTP method of a request without a message.
func method(c *flow.Call) string {
	if c.Env.Kind == jsonrpc.Invalid {
		switch c.R.Method {
		case "GET", "DELETE", "POST":
			return c.R.Method
		}
		return other
	}
	if c.Env.Method == "" {
		return "answer"
	}
	if !known[c.Env.Method] {
		return other
	}
	return c.Env.Method
}
