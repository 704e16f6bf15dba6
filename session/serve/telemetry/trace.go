package telemetry

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/http"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Remote finds the trace that a request belongs to: named in the HTTP header, which the nearest hop wrote, else in _meta,
// whose traceparent and tracestate are given as JSON (https://www.w3.org/TR/trace-context). An invalid one is ignored.
func Remote(h http.Header, traceparent, tracestate []byte) trace.SpanContext {
	if parents := h["Traceparent"]; len(parents) == 1 {
		if sc := extract(propagation.HeaderCarrier(h)); sc.IsValid() {
			return sc
		}
	}
	parent, ok := jsonrpc.String(traceparent)
	if !ok {
		return trace.SpanContext{}
	}
	state, _ := jsonrpc.String(tracestate)
	return extract(propagation.MapCarrier{"traceparent": parent, "tracestate": state})
}

// Traceparent is what a request to another server carries so that it belongs to the same trace, as a header or in _meta:
// the traceparent of https://www.w3.org/TR/trace-context. It is "" outside of a traced request.
func Traceparent(ctx context.Context) string {
	c := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, c)
	return c["traceparent"]
}

func extract(c propagation.TextMapCarrier) trace.SpanContext {
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), c))
}

// Local is the span context of a request whose spans are not exported: in the trace of parent, or in a new one.
func Local(parent trace.SpanContext) trace.SpanContext {
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
