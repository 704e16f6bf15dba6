package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/span"
)

// taker is a sink.
type taker struct {
	mu      sync.Mutex
	watched bool
	all     []span.Span
}

func (s *taker) Span(one span.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, one)
}

func (s *taker) Watched() bool { return s.watched }

// taken returns the spans so far by their names, and forgets them.
func (s *taker) taken() map[string]span.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := map[string]span.Span{}
	for _, one := range s.all {
		by[one.Name] = one
	}
	s.all = nil
	return by
}

// Without a collector a sink gets the spans of recorded traces, with the steps of each call, and of all calls while somebody watches.
func TestSpansForASink(t *testing.T) {
	to := &taker{}
	a := newAgent(t, Options{Sink: to})
	a.call("agent", `{}`)
	a.call("agent", `{}`, "traceparent: "+parent[:len(parent)-1]+"0")
	if got := to.taken(); len(got) != 0 {
		t.Errorf("nobody watches, and no trace is recorded: %+v", got)
	}
	a.call("agent", `{}`, "traceparent: "+parent)
	got := to.taken()
	call := got[span.Call]
	if call.Trace != traceID || call.Parent != spanID || call.Kind != span.KindServer || call.Attributes[span.AttrTool] != "agent" || call.Attributes[span.AttrOut] == int64(0) {
		t.Errorf("%+v", call)
	}
	for _, name := range []string{span.Queue, span.Run, "agent.run"} {
		if s := got[name]; s.Trace != traceID || s.Parent != call.ID || s.Start.Before(call.Start) || s.End.After(call.End) || s.End.Before(s.Start) {
			t.Errorf("%s: %+v is not inside of %+v", name, s, call)
		}
	}
	if s := got["search.vector"]; s.Parent != got["agent.run"].ID {
		t.Errorf("%+v", s)
	}
	a.call("fail", `{}`, "traceparent: "+parent)
	if got := to.taken(); !got[span.Call].Failed || !got[span.Run].Failed || got[span.Queue].Failed {
		t.Errorf("%+v", got)
	}
	to.watched = true
	a.call("agent", `{}`)
	if got := to.taken(); len(got) != 5 || got[span.Call].Parent != "" {
		t.Errorf("%+v", got)
	}
	a.close()
}

// What an agent asks of another is a step of its own.
func TestRequestIsAStep(t *testing.T) {
	to := &taker{watched: true}
	tel := New(Options{Sink: to})
	m := tel.Middleware()(func(ctx context.Context, _ *front.Exchange) (json.RawMessage, error) {
		Request(ctx, "call_agent", map[string]string{span.AttrAgent: "b"})(nil)
		return nil, nil
	})
	if _, err := m(t.Context(), &front.Exchange{Method: "tools/call", Params: []byte(`{"name":"t"}`)}); err != nil {
		t.Fatal(err)
	}
	got := to.taken()
	if s := got["call_agent"]; s.Kind != span.KindClient || s.Attributes[span.AttrAgent] != "b" || s.Parent != got[span.Call].ID {
		t.Errorf("%+v", s)
	}
	assert.NoError(t, tel.Close(context.Background()))
}

// A call that another process runs shows as much as one that runs here; of one that never ran nothing shows.
func TestStepsOfACallThatRunsElsewhere(t *testing.T) {
	to := &taker{watched: true}
	tel := New(Options{Sink: to})
	told := 0
	ctx := kit.WithHooks(t.Context(), &kit.Hooks{ID: "task", Started: func() { told++ }})
	for _, runs := range []bool{true, false} {
		elsewhere := func(ctx context.Context, _ *front.Exchange) (json.RawMessage, error) {
			h := kit.HooksOf(ctx)
			if h.ID != "task" {
				t.Errorf("%+v", h)
			}
			if runs {
				h.Started()
			}
			return nil, errors.New("it failed")
		}
		if _, err := tel.Middleware()(tel.Queued()(elsewhere))(ctx, &front.Exchange{Method: "tools/call", Params: []byte(`{"name":"t"}`)}); err == nil {
			t.Error("no error")
		}
		got := to.taken()
		call, queue, run := got[span.Call], got[span.Queue], got[span.Run]
		if !runs {
			if len(got) != 1 || call.Attributes[attrWait] != nil {
				t.Errorf("it never ran: %+v", got)
			}
			continue
		}
		if _, ok := call.Attributes[attrWait].(float64); !ok || queue.Parent != call.ID || run.Parent != call.ID || !run.Failed || queue.Failed || !run.Start.Equal(queue.End) || run.End.After(call.End) {
			t.Errorf("%+v", got)
		}
	}
	if told != 1 {
		t.Errorf("whoever else waits for it was told %d times", told)
	}
	assert.NoError(t, tel.Close(context.Background()))
}
