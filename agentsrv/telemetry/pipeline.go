package telemetry

import (
	"context"
	"encoding/json"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/agentsrv/front"
	spans "github.com/mcphud/mcphud/session/journal/trace"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/telemetry"
)

// The events of a tool call's span: it arrived, its arguments fit and it waits for its turn, it runs, its handler ran.
const (
	eventReceived = "received"
	eventQueued   = "queued"
	eventStarted  = "started"
	eventFinished = "finished"
)

type queuedKey struct{}

// Queued is the middleware right before the queue, and after what turns calls into tasks. A call that gets here is
// counted and logged when it ends and not when it is answered, which is earlier where it became a task.
func (t *Telemetry) Queued() front.Middleware {
	return func(next front.Next) front.Next {
		return func(ctx context.Context, x *front.Exchange) (result json.RawMessage, err error) {
			r := requestOf(ctx)
			if r == nil || x.Method != "tools/call" {
				return next(ctx, x)
			}
			r.queued.Store(true)
			began := time.Now()
			if r.span != nil {
				r.span.AddEvent(eventQueued, trace.WithTimestamp(began))
				ctx = context.WithValue(ctx, queuedKey{}, began)
			}
			kind := jsonrpc.KindInternal // of a panic, which passes through
			defer func() { t.called(ctx, x, r, kind, time.Since(began)) }()
			result, err = next(ctx, x)
			kind = failure(result, err)
			return result, err
		}
	}
}

// steps takes steps of a call, as spans inside of the call's. Collectors have the events of that instead.
type steps struct{ to telemetry.Sink }

func (s steps) take(one spans.Span) {
	if s.to != nil && one.Trace != "" {
		s.to.Span(one)
	}
}

// step is one inside of a span, without a trace if that is not recorded.
func step(inside trace.SpanContext, name string, from, to time.Time, failed bool) (s spans.Span) {
	if !inside.IsSampled() {
		return s
	}
	return spans.Span{
		Trace: inside.TraceID().String(), ID: telemetry.Local(inside).SpanID().String(), Parent: inside.SpanID().String(), Name: name, Start: from, End: to, Failed: failed,
	}
}

// Started is the middleware right behind the queue. It shows in the span when the call began to run, how long it had
// waited (mcp.queue.wait_ms), and when it was over.
func (t *Telemetry) Started() front.Middleware {
	return func(next front.Next) front.Next {
		return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
			r := requestOf(ctx)
			if r == nil || r.span == nil || x.Method != "tools/call" {
				return next(ctx, x)
			}
			now := time.Now()
			r.span.AddEvent(eventStarted, trace.WithTimestamp(now))
			if queued, ok := ctx.Value(queuedKey{}).(time.Time); ok {
				r.span.SetAttributes(attribute.Float64(attrWait, milliseconds(now.Sub(queued))))
				r.steps.take(step(r.span.SpanContext(), spans.Queue, queued, now, false))
			}
			result, err := next(ctx, x)
			r.span.AddEvent(eventFinished)
			r.steps.take(step(r.span.SpanContext(), spans.Run, now, time.Now(), failure(result, err) != ""))
			return result, err
		}
	}
}
