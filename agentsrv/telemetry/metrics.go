package telemetry

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/otlptranslator"
	"go.opentelemetry.io/otel/attribute"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
)

// maxLabels bounds the tools that have numbers of their own.
const maxLabels = 500

// bounds are the histogram's, in milliseconds.
var bounds = []float64{0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000}

// metrics are the instruments. Their names in Prometheus have underscores for dots.
type metrics struct {
	registry *prometheus.Registry
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

// newMetrics registers the instruments with a reader for Prometheus, and the given ones.
func (t *Telemetry) newMetrics(options ...sdkmetric.Option) (*metrics, *sdkmetric.MeterProvider, error) {
	m := &metrics{registry: prometheus.NewRegistry(), labels: map[string]*label{}}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := otelprom.New(otelprom.WithRegisterer(m.registry), otelprom.WithoutScopeInfo(),
		otelprom.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	if err != nil {
		return nil, nil, err
	}
	provider := sdkmetric.NewMeterProvider(append(options, sdkmetric.WithReader(reader))...)
	b := builder{meter: provider.Meter(scope)}
	m.duration, err = b.meter.Float64Histogram("mcp.tool.duration_ms", metric.WithDescription("How long tool calls took, in milliseconds, waiting included."), metric.WithExplicitBucketBoundaries(bounds...))
	b.keep(err)
	m.calls = b.counter("mcp.tool.calls", "Tool calls.")
	m.failures = b.counter("mcp.tool.errors", "Tool calls that ended in an error.")
	m.hits = b.counter("mcp.resource.cache_hits", "Looks into a cache that found something.")
	m.misses = b.counter("mcp.resource.cache_misses", "Looks into a cache that found nothing.")
	since := func() time.Duration { return time.Since(t.started) }
	b.gauge("mcp.tool.error_rate", "Share of the tool calls of the last five minutes that ended in an error.", func() float64 { return t.tools.value(since()) })
	b.gauge("mcp.resource.cache_hit_rate", "Share of the looks into a cache of the last five minutes that found something.", func() float64 { return t.cache.value(since()) })
	if q := t.o.Queue; q != nil {
		b.gauge("mcp.queue.queued", "Tool calls that wait for their turn.", func() float64 { return float64(q().Queued) })
		b.gauge("mcp.queue.running", "Tool calls that run.", func() float64 { return float64(q().Running) })
		b.gauge("mcp.queue.concurrency", "Tool calls that may run at a time.", func() float64 { return float64(q().Concurrency) })
	}
	if t.o.Sessions != nil {
		b.gauge("mcp.sessions.active", "Sessions of clients.", func() float64 { return float64(t.o.Sessions()) })
	}
	if t.o.Tenants != nil {
		b.gauge("mcp.tenants.active", "Tenants that called a tool lately.", func() float64 { return float64(t.o.Tenants()) })
	}
	return m, provider, b.err
}

// builder makes instruments and keeps the first error.
type builder struct {
	meter metric.Meter
	err   error
}

func (b *builder) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *builder) counter(name, help string) metric.Int64Counter {
	c, err := b.meter.Int64Counter(name, metric.WithDescription(help))
	b.keep(err)
	return c
}

func (b *builder) gauge(name, help string, value func() float64) {
	_, err := b.meter.Float64ObservableGauge(name, metric.WithDescription(help), metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
		o.Observe(value())
		return nil
	}))
	b.keep(err)
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

// called counts one tool call.
func (m *metrics) called(ctx context.Context, l *label, took time.Duration, failed bool) {
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
