package telemetry

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

	"github.com/mcphud/mcphud/session/journal"
	spans "github.com/mcphud/mcphud/session/journal/trace"
)

// Calls exports the calls of a client: each request that carried a trace context as a span, with the names of the semantic conventions
// for MCP.
type Calls struct {
	j     *journal.Journal
	to    sdktrace.SpanProcessor
	about *resource.Resource
	seen  uint64
	last  map[string]uint64 // spans that were exported, with the request of each: a call can take several
	life  context.CancelFunc
	wake  chan struct{}
	stop  chan struct{}
	wg    sync.WaitGroup
}

// maxCalls is how many calls are remembered in order to tell those of several requests.
const maxCalls = 4096

// ExportCalls exports the calls that a journal gets from now on, until Close.
func ExportCalls(j *journal.Journal, o Options) (*Calls, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	life, end := context.WithCancel(context.Background())
	e := &Exporter{o: o, life: life}
	out, err := e.spanExporter()
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
		j: j, about: about, last: map[string]uint64{}, life: end, wake: make(chan struct{}, 1), stop: make(chan struct{}),
		to: sdktrace.NewBatchSpanProcessor(out, sdktrace.WithBatchTimeout(time.Second), sdktrace.WithExportTimeout(retryFor)),
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
		if q, ok := c.j.Get(root); !ok || q.Dir != journal.Out || q.Trace == "" {
			continue
		}
		if s, ok := spans.Exchange(c.j, root); ok {
			c.export(root, s)
		}
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

func (c *Calls) export(request uint64, s spans.Span) {
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
	switch old := c.last[s.ID]; {
	case old == request: // its answer came after it was given up
		return
	case old != 0: // a further request of the same call
		parent, sid = sid, Local(trace.SpanContext{}).SpanID()
	}
	c.last[s.ID] = request
	stub := tracetest.SpanStub{
		Name: s.Name, SpanKind: trace.SpanKindClient, StartTime: s.Start, EndTime: s.End, Resource: c.about,
		SpanContext:          trace.NewSpanContext(trace.SpanContextConfig{TraceID: tid, SpanID: sid, TraceFlags: trace.FlagsSampled}),
		Parent:               trace.NewSpanContext(trace.SpanContextConfig{TraceID: tid, SpanID: parent, TraceFlags: trace.FlagsSampled}),
		InstrumentationScope: instrumentation.Scope{Name: "github.com/mcphud/mcphud/session/telemetry"},
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
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	defer context.AfterFunc(ctx, c.life)()
	if err := c.to.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}
