package telemetry

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/telemetry"
	"github.com/mcphud/mcphud/session/wire/span"
)

// The events of a tool call's span: it arrived, its arguments fit and it waits for its turn, it runs, its handler ran.
const (
	eventReceived = "received"
	eventQueued   = "queued"
	eventStarted  = "started"
	eventFinished = "finished"
)

type turnKey struct{}

// turn is what the span of a queued call shows of its turn, which the queue tells of wherever the call runs: another process that shares the
// queue does not have the span.
type turn struct {
	r      *request
	queued time.Time

	mu    sync.Mutex
	begun time.Time
	here  bool // Started follows it
}

// begin notes when the call began to run, and how long it had waited (mcp.queue.wait_ms).
func (t *turn) begin() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.begun.IsZero() {
		return t.begun
	}
	t.begun = time.Now()
	t.r.span.AddEvent(eventStarted, trace.WithTimestamp(t.begun))
	t.r.span.SetAttributes(attribute.Float64(attrWait, milliseconds(t.begun.Sub(t.queued))))
	t.r.steps.take(step(t.r.span.SpanContext(), span.Queue, t.queued, t.begun, false))
	return t.begun
}

// finish notes when the handler ended that began at a time.
func (t *turn) finish(began time.Time, failed bool) {
	t.r.span.AddEvent(eventFinished)
	t.r.steps.take(step(t.r.span.SpanContext(), span.Run, began, time.Now(), failed))
}

// away is when the call began to run in another process, zero if it did not.
func (t *turn) away() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.here {
		return time.Time{}
	}
	return t.begun
}

// follow has the queue tell t when the call begins.
func (t *turn) follow(ctx context.Context) context.Context {
	var h kit.Hooks
	if was := kit.HooksOf(ctx); was != nil {
		h = *was
	}
	started := h.Started
	h.Started = func() {
		t.begin()
		if started != nil {
			started()
		}
	}
	return context.WithValue(kit.WithHooks(ctx, &h), turnKey{}, t)
}

// Queued is the middleware right before the queue, and after what turns calls into tasks. A call that gets here is
// counted and logged when it ends and not when it is answered, which is earlier where it became a task. Its span shows when it began to
// run, and when it was over.
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
				own := &turn{r: r, queued: began}
				ctx = own.follow(ctx)
				over := r.run()
				defer func() { over(failure(result, err)) }()
				defer func() {
					if away := own.away(); !away.IsZero() {
						own.finish(away, failure(result, err) != "")
					}
				}()
			}
			kind := jsonrpc.KindInternal // of a panic, which passes through
			defer func() { t.recordCall(ctx, x, r, kind, time.Since(began)) }()
			result, err = next(ctx, x)
			kind = failure(result, err)
			return result, err
		}
	}
}

// steps takes steps of a call, as spans inside of the call's. Collectors have the events of that instead.
type steps struct{ to telemetry.Sink }

func (s steps) take(one span.Span) {
	if s.to != nil && one.Trace != "" {
		s.to.Span(one)
	}
}

// step is one inside of a span, without a trace if that is not recorded.
func step(inside trace.SpanContext, name string, from, to time.Time, failed bool) (s span.Span) {
	if !inside.IsSampled() {
		return s
	}
	return span.Span{
		Trace: inside.TraceID().String(), ID: telemetry.Local(inside).SpanID().String(), Parent: inside.SpanID().String(), Name: name, Start: from, End: to, Failed: failed,
	}
}

// Started is the middleware right behind the queue, which sees the calls that run here from their first moment to their last. One that
// another process took, which may be gone, is a span of its own inside of that one's.
func (t *Telemetry) Started() front.Middleware {
	return func(next front.Next) front.Next {
		return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
			own, ok := ctx.Value(turnKey{}).(*turn)
			switch {
			case x.Method != "tools/call":
				return next(ctx, x)
			case requestOf(ctx) == nil:
				return t.forAnother(ctx, x, next, !ok)
			case !ok || own.r != requestOf(ctx):
				return next(ctx, x)
			}
			own.mu.Lock()
			own.here = true
			own.mu.Unlock()
			began := own.begin()
			result, err := next(ctx, x)
			own.finish(began, failure(result, err) != "")
			return result, err
		}
	}
}

// forAnother runs a call that arrived at another process. That one counts it, and logs it when it hears how it ended; the line here is
// all that is left of the call where it dies before.
func (t *Telemetry) forAnother(ctx context.Context, x *front.Exchange, next front.Next, traced bool) (result json.RawMessage, err error) {
	began := time.Now()
	kind := jsonrpc.KindInternal // of a panic, which passes through
	defer func() {
		name, _ := about(x.Params, "name")
		known := t.o.Known == nil || t.o.Known(name)
		t.log(ctx, calledForAnother, name, known, kit.TenantOf(ctx), x.Caller.Trace, kind, time.Since(began))
	}()
	if traced {
		result, err = t.traceRemote(ctx, x, next)
	} else {
		result, err = next(ctx, x)
	}
	kind = failure(result, err)
	return result, err
}

// traceRemote traces a call that another process took, in the context of whose span it runs.
func (t *Telemetry) traceRemote(ctx context.Context, x *front.Exchange, next front.Next) (result json.RawMessage, err error) {
	parent := trace.SpanContextFromContext(ctx)
	if !parent.IsSampled() || !t.ready() || !t.export.Wants(parent) {
		return next(ctx, x)
	}
	began := time.Now()
	name, _ := about(x.Params, "name")
	r := &request{tool: name, steps: steps{t.o.Sink}, parent: parent, began: began}
	ctx, r.span = t.tracer.Start(trace.ContextWithRemoteSpanContext(ctx, parent), span.Call,
		trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(began), trace.WithAttributes(identity(subjects[x.Method], name, x.Caller)...))
	defer func() {
		kind := failure(result, err)
		r.steps.take(step(r.span.SpanContext(), span.Run, began, time.Now(), kind != ""))
		r.end(kind)
	}()
	return next(context.WithValue(ctx, requestKey{}, r), x)
}
