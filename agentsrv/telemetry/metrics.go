package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcphud/mcphud/session/serve/telemetry"
)

// maxLabels bounds the tools that have numbers of their own.
const maxLabels = 500

// metrics are the instruments. Their names in Prometheus have underscores for dots.
type metrics struct {
	duration metric.Float64Histogram
	failures metric.Int64Counter
	calls    metric.Int64Counter
	hits     metric.Int64Counter
	misses   metric.Int64Counter

	mu     sync.RWMutex
	labels map[string]*label
}

// label is the attributes of one tool's numbers, made once.
type label struct {
	name   string
	ok     []metric.RecordOption
	bad    []metric.RecordOption
	added  []metric.AddOption
	failed []metric.AddOption
}

// newMetrics makes the instruments.
func (t *Telemetry) newMetrics() (*metrics, error) {
	m := &metrics{labels: map[string]*label{}}
	b := telemetry.Instruments{Meter: t.export.Meter}
	m.duration = b.Duration("mcp.tool.duration_ms", "How long tool calls took, in milliseconds, waiting included.")
	m.calls = b.Counter("mcp.tool.calls", "Tool calls.")
	m.failures = b.Counter("mcp.tool.errors", "Tool calls that ended in an error.")
	m.hits = b.Counter("mcp.resource.cache_hits", "Looks into a cache that found something.")
	m.misses = b.Counter("mcp.resource.cache_misses", "Looks into a cache that found nothing.")
	since := func() time.Duration { return time.Since(t.started) }
	b.Gauge("mcp.tool.error_rate", "Share of the tool calls of the last five minutes that ended in an error.", func() float64 { return t.tools.value(since()) })
	b.Gauge("mcp.resource.cache_hit_rate", "Share of the looks into a cache of the last five minutes that found something.", func() float64 { return t.cache.value(since()) })
	if q := t.o.Queue; q != nil {
		b.Gauge("mcp.queue.queued", "Tool calls that wait for their turn.", func() float64 { return float64(q().Queued) })
		b.Gauge("mcp.queue.running", "Tool calls that run.", func() float64 { return float64(q().Running) })
		b.Gauge("mcp.queue.concurrency", "Tool calls that may run at a time.", func() float64 { return float64(q().Concurrency) })
		if q().Shared != nil { // as long as the agent lives
			b.Gauge("mcp.queue.shared.replicas", "Agents that share the queue, this one among them.", func() float64 { return float64(q().Shared.Replicas) })
			b.Gauge("mcp.queue.shared.queued", "Tool calls that wait in all of them together.", func() float64 { return float64(q().Shared.Queued) })
			b.Gauge("mcp.queue.shared.running", "Tool calls that run in any of them.", func() float64 { return float64(q().Shared.Running) })
		}
	}
	if t.o.Sessions != nil {
		b.Gauge("mcp.sessions.active", "Sessions of clients.", func() float64 { return float64(t.o.Sessions()) })
	}
	if t.o.Tenants != nil {
		b.Gauge("mcp.tenants.active", "Tenants that called a tool lately.", func() float64 { return float64(t.o.Tenants()) })
	}
	return m, b.Err
}

// label gives the label of a tool. Names that clients make up share one, so that they cannot fill memory.
func (m *metrics) label(tool string, known func(string) bool) *label {
	m.mu.RLock()
	l := m.labels[tool]
	m.mu.RUnlock()
	if l != nil {
		return l
	}
	if tool != unknown && (known == nil || !known(tool)) {
		return m.label(unknown, nil)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if l := m.labels[tool]; l != nil {
		return l
	}
	if len(m.labels) >= maxLabels && tool != unknown {
		tool = "other"
		if l := m.labels[tool]; l != nil {
			return l
		}
	}
	name := attribute.String(attrTool, tool)
	set := func(kv ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributeSet(attribute.NewSet(kv...))
	}
	l = &label{
		name:   tool,
		ok:     []metric.RecordOption{set(name, attribute.String("outcome", "ok"))},
		bad:    []metric.RecordOption{set(name, attribute.String("outcome", "error"))},
		added:  []metric.AddOption{set(name)},
		failed: []metric.AddOption{set(name)},
	}
	m.labels[tool] = l
	return l
}

// unknown is the label of tools that do not exist.
const unknown = "unknown"

// countCall counts one tool call.
func (m *metrics) countCall(ctx context.Context, l *label, took time.Duration, failed bool) {
	ms := float64(took) / float64(time.Millisecond)
	m.calls.Add(ctx, 1, l.added...)
	if failed {
		m.duration.Record(ctx, ms, l.bad...)
		m.failures.Add(ctx, 1, l.failed...)
		return
	}
	m.duration.Record(ctx, ms, l.ok...)
}

func (m *metrics) cache(ctx context.Context, hit bool) {
	if hit {
		m.hits.Add(ctx, 1)
	} else {
		m.misses.Add(ctx, 1)
	}
}
