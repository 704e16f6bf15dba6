package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/session/wire/span"
)

// Wants reports whether the spans of a request are wanted whose caller's span is parent: always by a collector, else where the
// caller records its trace, or somebody watches.
func (e *Exporter) Wants(parent trace.SpanContext) bool {
	switch {
	case e.Tracer == nil:
		return false
	case e.collected || parent.IsSampled():
		return true
	}
	return !parent.IsValid() && e.o.Sink.Watched()
}

// sink gives spans that end to a Sink.
type sink struct{ Sink }

// OnStart does nothing.
func (sink) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd passes a span on.
func (s sink) OnEnd(span sdktrace.ReadOnlySpan) { s.Span(spanOf(span)) }

// Shutdown does nothing.
func (sink) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing: nothing is held back.
func (sink) ForceFlush(context.Context) error { return nil }

func spanOf(s sdktrace.ReadOnlySpan) span.Span {
	c := s.SpanContext()
	out := span.Span{
		Trace: c.TraceID().String(), ID: c.SpanID().String(), Name: s.Name(), Start: s.StartTime(), End: s.EndTime(),
		Failed: s.Status().Code == codes.Error, Attributes: make(map[string]any, len(s.Attributes())+1),
	}
	if p := s.Parent(); p.HasSpanID() {
		out.Parent = p.SpanID().String()
	}
	switch s.SpanKind() {
	case trace.SpanKindClient:
		out.Kind = span.KindClient
	case trace.SpanKindServer:
		out.Kind = span.KindServer
	}
	for _, kv := range s.Attributes() {
		switch kv.Value.Type() {
		case attribute.STRING, attribute.INT64, attribute.FLOAT64, attribute.BOOL:
			out.Attributes[string(kv.Key)] = kv.Value.AsInterface()
		}
	}
	return out
}
