// Package telemetry exports spans and metrics of mcphud's servers to an OTLP collector, if there is one, metrics to
// Prometheus, and finds the trace that a request belongs to.
package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/otlptranslator"
	"go.opentelemetry.io/otel/attribute"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/span"
)

// FlushTime is how long Close waits for the collector, whatever its context says.
const FlushTime = 3 * time.Second

// Options name the server and the collector.
type Options struct {
	Name, Version string // of the server
	Scope         string // import path of the package whose spans and metrics they are

	// OTLP is the base URL of an OTLP/HTTP collector, such as http://127.0.0.1:4318. "" leaves it to
	// OTEL_EXPORTER_OTLP_ENDPOINT and its like; where those are not set either, nothing is exported.
	OTLP string
	// Sink gets the spans beside the collector, or without one; nil for nobody.
	Sink   Sink
	Logger *slog.Logger
}

// Sink takes spans that ended. It must not block.
type Sink interface {
	Span(s span.Span)
	Watched() bool // somebody looks: spans are wanted that belong to no trace of a caller's, too
}

// Exporter exports spans and metrics. Its owner closes it.
type Exporter struct {
	Tracer   trace.Tracer // nil if nobody takes spans
	Meter    metric.Meter
	Registry *prometheus.Registry // the metrics, and those of the process

	o         Options
	collected bool                     // spans go to a collector
	spans     *sdktrace.TracerProvider // nil with Tracer
	meters    *sdkmetric.MeterProvider
	life      context.Context
	end       context.CancelFunc // cancels running exports
}

// Open makes an Exporter. What cannot be exported is logged; the server works without.
func Open(o Options) *Exporter {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	e := &Exporter{o: o, Registry: prometheus.NewRegistry()}
	e.life, e.end = context.WithCancel(context.Background())
	about, err := resource.New(e.life, resource.WithTelemetrySDK(), resource.WithFromEnv(),
		resource.WithAttributes(attribute.String("service.name", o.Name), attribute.String("service.version", o.Version)))
	if err != nil {
		o.Logger.Warn("telemetry resource attributes are incomplete", "error", mask.Text(err.Error()))
	}
	options := []sdkmetric.Option{sdkmetric.WithResource(about)}
	var providers []sdktrace.TracerProviderOption
	if e.exports("TRACES") {
		if out, err := e.spanExporter(); err != nil {
			o.Logger.Error("cannot export spans", "error", mask.Text(err.Error()))
		} else {
			e.collected = true
			providers = append(providers, sdktrace.WithResource(about), sdktrace.WithBatcher(out, sdktrace.WithBatchTimeout(time.Second), sdktrace.WithExportTimeout(RetryFor)))
		}
	}
	if o.Sink != nil {
		providers = append(providers, sdktrace.WithSpanProcessor(sink{o.Sink}))
	}
	if len(providers) > 0 {
		e.spans = sdktrace.NewTracerProvider(providers...)
		e.Tracer = e.spans.Tracer(o.Scope)
	}
	if e.exports("METRICS") {
		if out, err := e.metricExporter(); err != nil {
			o.Logger.Error("cannot export metrics", "error", mask.Text(err.Error()))
		} else {
			options = append(options, sdkmetric.WithReader(sdkmetric.NewPeriodicReader(out)))
		}
	}
	e.Registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := otelprom.New(otelprom.WithRegisterer(e.Registry), otelprom.WithoutScopeInfo(),
		otelprom.WithTranslationStrategy(otlptranslator.UnderscoreEscapingWithSuffixes))
	if err != nil {
		o.Logger.Error("cannot offer metrics to Prometheus", "error", err)
	} else {
		options = append(options, sdkmetric.WithReader(reader))
	}
	e.meters = sdkmetric.NewMeterProvider(options...)
	e.Meter = e.meters.Meter(o.Scope)
	return e
}

// Close sends what was collected, and stops. It gives up when ctx is done or after three seconds.
func (e *Exporter) Close(ctx context.Context) error {
	defer e.end()
	ctx, cancel := context.WithTimeout(ctx, FlushTime)
	defer cancel()
	stop := context.AfterFunc(ctx, e.end)
	defer stop()
	var errs []error
	if e.spans != nil {
		errs = append(errs, e.spans.Shutdown(ctx))
	}
	return errors.Join(append(errs, e.meters.Shutdown(ctx))...)
}
