package trace

import (
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/session/serve/telemetry"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// Calls exports the calls of a client: each request that carried a trace context as a span, with the names of the semantic conventions
// for MCP.
type Calls struct {
	j     *journal.Journal
	to    sdktrace.SpanProcessor
	about *resource.Resource
	seen  uint64
	last  map[string]uint64 // spans that were exported, with the request of each: a call can take several
	tasks map[string]*held  // calls that became tasks which are not over, by their traces
	life  context.CancelFunc
	wake  chan struct{}
	stop  chan struct{}
	wg    sync.WaitGroup
}

// scope names the instrumentation in spans; collectors know it, wherever the code is.
const scope = "github.com/mcphud/mcphud/session/telemetry"

// maxCalls is how many calls are remembered in order to tell those of several requests.
const maxCalls = 4096

// ExportCalls exports the calls that a journal gets from now on, until Close.
func ExportCalls(j *journal.Journal, o telemetry.Options) (*Calls, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	out, err := telemetry.SpanExporter(life, o)
	if err != nil {
		end()
		return nil, err
	}
	about, err := resource.New(life, resource.WithTelemetrySDK(), resource.WithFromEnv(),
		resource.WithAttributes(attribute.String("service.name", o.Name), attribute.String("service.version", o.Version)))
	if err != nil {
		o.Logger.Warn("telemetry resource attributes are incomplete", "error", err)
	}
	c := &Calls{
		j: j, about: about, last: map[string]uint64{}, tasks: map[string]*held{}, life: end, wake: make(chan struct{}, 1), stop: make(chan struct{}),
		to: sdktrace.NewBatchSpanProcessor(out, sdktrace.WithBatchTimeout(time.Second), sdktrace.WithExportTimeout(telemetry.RetryFor)),
	}
	j.OnChange(func() {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	})
	c.wg.Go(c.follow)
	return c, nil
}

func (c *Calls) follow() {
	for {
		select {
		case <-c.wake:
			c.take()
		case <-c.stop:
			c.take()
			for _, h := range c.tasks { // what becomes of them is not known
				delete(c.tasks, h.span.Trace)
				c.export(h.request, h.span)
			}
			return
		}
	}
}

// take exports the exchanges that ended since the last time.
func (c *Calls) take() {
	var over []uint64
	c.j.Each(c.seen, func(e *journal.Entry) bool {
		c.seen = e.Seq
		if ends(e) && e.Hop == "" && e.Root != 0 && e.Root != e.Seq {
			over = append(over, e.Root)
		}
		return true
	})
	for _, root := range over {
		q, ok := c.j.Get(root)
		if !ok || q.Dir != journal.Out || q.Trace == "" {
			continue
		}
		s, ok := Exchange(c.j, root)
		switch {
		case !ok:
		case BecameTask(c.j, q) && c.tasks[q.Trace] == nil && len(c.tasks) < maxCalls:
			c.tasks[q.Trace] = &held{root, s, FindSince(c.j, q.Trace, root)}
		default:
			c.export(root, s)
			c.settle(q.Trace)
		}
	}
}

// held is a call that became a task: its span ends with that.
type held struct {
	request uint64
	span    span.Span
	group   *Group
}

// settle exports the call of a trace if it became a task that is over now.
func (c *Calls) settle(trace string) {
	h := c.tasks[trace]
	if h == nil {
		return
	}
	h.group.Update(c.j)
	if TaskSpan(c.j, h.group, h.request, &h.span) {
		delete(c.tasks, trace)
		c.export(h.request, h.span)
	}
}

// ends reports whether an entry is how a request ends: an answer, a cancellation, or a note that there will be none.
func ends(e *journal.Entry) bool {
	switch e.Kind {
	case journal.Response, journal.ErrorResponse:
		return true
	case journal.Notification:
		return e.Method == "notifications/cancelled"
	case journal.State:
		return e.Status != ""
	}
	return false
}

func (c *Calls) export(request uint64, s span.Span) {
	var tid trace.TraceID
	var sid, parent trace.SpanID
	if n, err := hex.Decode(tid[:], []byte(s.Trace)); err != nil || n != len(tid) {
		return
	}
	if n, err := hex.Decode(sid[:], []byte(s.ID)); err != nil || n != len(sid) {
		return
	}
	if len(c.last) == maxCalls {
		clear(c.last)
	}
	own := true
	switch old, h := c.last[s.ID], c.tasks[s.Trace]; {
	case old == request: // its answer came after it was given up
		return
	case h != nil && h.span.ID == s.ID: // about a task, whose call is exported when that is over
		own = false
		fallthrough
	case old != 0: // a further request of the same call
		parent, sid = sid, telemetry.Local(trace.SpanContext{}).SpanID()
	}
	if own {
		c.last[s.ID] = request
	}
	stub := tracetest.SpanStub{
		Name: s.Name, SpanKind: trace.SpanKindClient, StartTime: s.Start, EndTime: s.End, Resource: c.about,
		SpanContext:          trace.NewSpanContext(trace.SpanContextConfig{TraceID: tid, SpanID: sid, TraceFlags: trace.FlagsSampled}),
		Parent:               trace.NewSpanContext(trace.SpanContextConfig{TraceID: tid, SpanID: parent, TraceFlags: trace.FlagsSampled}),
		InstrumentationScope: instrumentation.Scope{Name: scope},
	}
	if s.Failed {
		stub.Status = sdktrace.Status{Code: codes.Error}
	}
	for _, k := range slices.Sorted(maps.Keys(s.Attributes)) {
		switch v := s.Attributes[k].(type) {
		case string:
			stub.Attributes = append(stub.Attributes, attribute.String(k, v))
		case int64:
			stub.Attributes = append(stub.Attributes, attribute.Int64(k, v))
		}
	}
	c.to.OnEnd(stub.Snapshot())
}

// Close exports the rest and stops. It gives up when ctx is done or after three seconds.
func (c *Calls) Close(ctx context.Context) error {
	defer c.life()
	close(c.stop)
	c.wg.Wait()
	ctx, cancel := context.WithTimeout(ctx, telemetry.FlushTime)
	defer cancel()
	defer context.AfterFunc(ctx, c.life)()
	if err := c.to.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
