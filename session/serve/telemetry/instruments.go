package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/metric"
)

// Bounds are those of histograms of durations, in milliseconds.
var Bounds = []float64{0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000}

// Instruments makes instruments of a meter and keeps the first error.
type Instruments struct {
	Meter metric.Meter
	Err   error
}

func (b *Instruments) keep(err error) {
	if b.Err == nil {
		b.Err = err
	}
}

// Duration makes a histogram of milliseconds.
func (b *Instruments) Duration(name, help string) metric.Float64Histogram {
	h, err := b.Meter.Float64Histogram(name, metric.WithDescription(help), metric.WithExplicitBucketBoundaries(Bounds...))
	b.keep(err)
	return h
}

// Counter makes a counter.
func (b *Instruments) Counter(name, help string) metric.Int64Counter {
	c, err := b.Meter.Int64Counter(name, metric.WithDescription(help))
	b.keep(err)
	return c
}

// Gauge makes a gauge whose value is read at each collection.
func (b *Instruments) Gauge(name, help string, value func() float64) {
	b.Gauges(name, help, func(o metric.Float64Observer) { o.Observe(value()) })
}

// Gauges makes a gauge whose values are read at each collection.
func (b *Instruments) Gauges(name, help string, values func(metric.Float64Observer)) {
	_, err := b.Meter.Float64ObservableGauge(name, metric.WithDescription(help), metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
		values(o)
		return nil
	}))
	b.keep(err)
}

// Counters makes a counter whose values are read at each collection.
func (b *Instruments) Counters(name, help string, values func(metric.Int64Observer)) {
	_, err := b.Meter.Int64ObservableCounter(name, metric.WithDescription(help), metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
		values(o)
		return nil
	}))
	b.keep(err)
}
