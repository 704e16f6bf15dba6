package telemetry

import (
	"context"
	"encoding/json"
	"testing"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/span"
)

func callOf(tool string) *front.Exchange {
	return &front.Exchange{Method: "tools/call", Params: []byte(`{"name":"` + tool + `","_meta":{"traceparent":"` + parent + `"}}`)}
}

// The span of a call that became a task lasts until the task is over, and fails as that does; until then a sink knows what there is.
func TestSpanOfATask(t *testing.T) {
	to := &taker{}
	tel := New(Options{Sink: to})
	begun, gate, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	work := tel.Queued()(tel.Started()(func(context.Context, *front.Exchange) (json.RawMessage, error) {
		close(begun)
		<-gate
		return nil, jsonrpc.Errorf(jsonrpc.KindTimeout, "too slow")
	}))
	m := tel.Middleware()(func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
		go func() {
			defer close(over)
			_, _ = work(ctx, x) // how it went is in its span
		}()
		<-begun
		return json.RawMessage(`{"resultType":"task","taskId":"t"}`), nil
	})
	if _, err := m(t.Context(), callOf("slow")); err != nil {
		t.Fatal(err)
	}
	first := to.taken()[span.Call]
	if first.Trace != traceID || first.Parent != spanID || first.Attributes[span.AttrTask] != span.TaskRuns || first.Attributes[span.AttrTool] != "slow" || first.Failed {
		t.Errorf("%+v", first)
	}
	close(gate)
	<-over
	got := to.taken()
	last := got[span.Call]
	if last.ID != first.ID || last.Parent != spanID || last.Attributes[span.AttrTask] != span.TaskOver || !last.Failed || last.Attributes[attrError] != string(jsonrpc.KindTimeout) || !last.End.After(first.End) {
		t.Errorf("%+v", last)
	}
	if run := got[span.Run]; run.Parent != first.ID || run.End.After(last.End) || !run.Failed {
		t.Errorf("%+v is not inside of %+v", run, last)
	}
	assert.NoError(t, tel.Close(context.Background()))
}

// A call that another process took is a span inside of that one's, with what it asks of others.
func TestCallOfAnotherProcess(t *testing.T) {
	to := &taker{}
	tel := New(Options{Sink: to})
	m := tel.Started()(func(ctx context.Context, _ *front.Exchange) (json.RawMessage, error) {
		Request(ctx, "call_agent", map[string]string{span.AttrAgent: "b"})(nil)
		return nil, nil
	})
	ctx := oteltrace.ContextWithSpanContext(t.Context(), remote(map[string][]string{"Traceparent": {parent}}, nil))
	if _, err := m(ctx, callOf("call_agent")); err != nil {
		t.Fatal(err)
	}
	got := to.taken()
	call := got[span.Call]
	if call.Trace != traceID || call.Parent != spanID || got[span.Run].Parent != call.ID || got["call_agent"].Parent != call.ID {
		t.Errorf("%+v", got)
	}
	if _, err := m(t.Context(), callOf("call_agent")); err != nil || len(to.taken()) != 0 {
		t.Errorf("a call that nobody records is recorded: %v", err)
	}
	assert.NoError(t, tel.Close(context.Background()))
}
