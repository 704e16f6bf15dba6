package telemetry

import (
	"context"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/serve/telemetry"
	"github.com/mcphud/mcphud/session/wire/span"
)

// Trace begins a span inside that of the request which ctx belongs to, and returns the context for what runs in it. The
// function ends it; an error makes it a failed one. Where nobody collects spans it costs next to nothing.
//
// The names in use are agent.run and search.vector.
func Trace(ctx context.Context, name string, attrs map[string]string) (context.Context, func(error)) {
	parent := trace.SpanFromContext(ctx)
	if !parent.SpanContext().IsSampled() {
		return ctx, func(error) {}
	}
	kv := make([]attribute.KeyValue, 0, len(attrs))
	for k, v := range attrs {
		kv = append(kv, attribute.String(k, clip(v)))
	}
	// A call that went on in the background has a parent that ended, which is a parent all the same.
	ctx, span := parent.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithAttributes(kv...))
	return ctx, func(err error) {
		if err != nil {
			span.SetStatus(codes.Error, clip(mask.Text(err.Error())))
		}
		span.End()
	}
}

// Request tells the sink of a request to somebody else, from now until what is returned is called. What that one does for it belongs
// to the same span as before: collectors see it there.
func Request(ctx context.Context, name string, attrs map[string]string) (ended func(error)) {
	r := requestOf(ctx)
	if r == nil || r.span == nil {
		return func(error) {}
	}
	began := time.Now()
	return func(err error) {
		s := step(trace.SpanContextFromContext(ctx), name, began, time.Now(), err != nil)
		s.Kind, s.Attributes = span.KindClient, map[string]any{}
		for k, v := range attrs {
			s.Attributes[k] = clip(v)
		}
		r.steps.take(s)
	}
}

// remote finds the trace that a request belongs to.
func remote(h http.Header, meta []byte) trace.SpanContext {
	return telemetry.Remote(h, jsonrpc.Get(meta, "traceparent"), jsonrpc.Get(meta, "tracestate"))
}
