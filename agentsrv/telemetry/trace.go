package telemetry

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/mask"
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

// Traceparent is what a request to another server carries so that it belongs to the same trace, as a header or in _meta:
// the traceparent of https://www.w3.org/TR/trace-context. It is "" outside of a traced request.
func Traceparent(ctx context.Context) string {
	c := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, c)
	return c["traceparent"]
}

// remote finds the trace that a request belongs to: named in the HTTP header, which the nearest hop wrote, else in
// _meta. An invalid one is as good as none.
func remote(h http.Header, meta []byte) trace.SpanContext {
	if parents := h["Traceparent"]; len(parents) == 1 {
		if sc := extract(propagation.HeaderCarrier(h)); sc.IsValid() {
			return sc
		}
	}
	if meta == nil {
		return trace.SpanContext{}
	}
	c := propagation.MapCarrier{}
	err := jsonrpc.Members(meta, func(key string, value []byte) bool {
		if key == "traceparent" || key == "tracestate" {
			c[key], _ = jsonrpc.String(value)
		}
		return true
	})
	if err != nil || c["traceparent"] == "" {
		return trace.SpanContext{}
	}
	return extract(c)
}

func extract(c propagation.TextMapCarrier) trace.SpanContext {
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), c))
}

// local is the span context of a request that nobody collects spans of: it has the trace of parent, or one of its own.
func local(parent trace.SpanContext) trace.SpanContext {
	c := trace.SpanContextConfig{TraceID: parent.TraceID(), TraceFlags: parent.TraceFlags(), TraceState: parent.TraceState()}
	for !c.TraceID.IsValid() {
		binary.NativeEndian.PutUint64(c.TraceID[:8], rand.Uint64())
		binary.NativeEndian.PutUint64(c.TraceID[8:], rand.Uint64())
	}
	for !c.SpanID.IsValid() {
		binary.NativeEndian.PutUint64(c.SpanID[:], rand.Uint64())
	}
	return trace.NewSpanContext(c)
}
