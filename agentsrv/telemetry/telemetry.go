// Package telemetry shows what the agent does: spans and metrics by OpenTelemetry, a page for Prometheus, a line of log
// for each tool call, and the pages that say whether the agent is alive, usable and busy.
//
// Spans exist only where somebody collects them (OTLP over HTTP); every call has a trace id anyway. No arguments, results
// or tokens get into any of this.
package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/session/serve/telemetry"
)

// scope names this package as the origin of spans and metrics.
const scope = "github.com/mcphud/mcphud/agentsrv/telemetry"

// Queue is what the status of the task queue says.
type Queue struct {
	Queued      int `json:"queued"`
	Running     int `json:"running"`
	Concurrency int `json:"concurrency"`

	Shared *Shared `json:"shared,omitempty"` // nil where nobody else has this queue
}

// Shared is what all processes that share a queue have together.
type Shared struct {
	Replicas int `json:"replicas"`
	Queued   int `json:"queued"`
	Running  int `json:"running"`
}

// Options say what there is to show. Functions may be nil, and must not block.
type Options struct {
	Name, Version string // of the server

	// OTLP is the base URL of an OTLP/HTTP collector, such as http://127.0.0.1:4318. "" leaves it to
	// OTEL_EXPORTER_OTLP_ENDPOINT and its like; where those are not set either, nothing is exported.
	OTLP string

	// Sink gets the spans beside the collector, or without one, with the steps of each call; nil for nobody.
	Sink telemetry.Sink

	Known    func(tool string) bool // is there such a tool? Others are counted together as "unknown"
	Queue    func() Queue
	Sessions func() int
	Tenants  func() int
	// Status are further members of /status, JSON values each.
	Status map[string]func(context.Context) any
	// Ready says by part why the agent cannot be used yet; nil errors are good. Everybody may read the texts.
	Ready map[string]func(context.Context) error

	Logger *slog.Logger
}

// Telemetry is safe for concurrent use. It starts nothing before the first request.
type Telemetry struct {
	o       Options
	started time.Time

	once    sync.Once
	export  *telemetry.Exporter // nil before the first request
	tracer  trace.Tracer        // nil if nobody collects spans
	metrics *metrics            // nil after Close without a request

	tools, cache rate
}

// New makes a Telemetry.
func New(o Options) *Telemetry {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Telemetry{o: o, started: time.Now()}
}

// ready starts what the first request needs: the exporters, if there is a collector, and the metrics. It is false after
// Close.
func (t *Telemetry) ready() bool {
	t.once.Do(t.open)
	return t.metrics != nil
}

func (t *Telemetry) open() {
	t.export = telemetry.Open(telemetry.Options{Name: t.o.Name, Version: t.o.Version, Scope: scope, OTLP: t.o.OTLP, Sink: t.o.Sink, Logger: t.o.Logger})
	t.tracer = t.export.Tracer
	var err error
	if t.metrics, err = t.newMetrics(); err != nil {
		t.o.Logger.Error("cannot create all metrics", "error", err)
	}
}

// Close sends what was collected, and stops. It gives up when ctx is done or after three seconds.
func (t *Telemetry) Close(ctx context.Context) error {
	t.once.Do(func() {}) // whoever comes now starts nothing
	if t.export == nil {
		return nil
	}
	return t.export.Close(ctx)
}

// Cache counts one look into a cache of resources or schemas.
func (t *Telemetry) Cache(hit bool) {
	if t.ready() {
		t.metrics.cache(context.Background(), hit)
		t.cache.add(time.Since(t.started), hit)
	}
}
