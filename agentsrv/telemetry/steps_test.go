package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/journal/trace"
)

// taker is a sink.
type taker struct {
	mu      sync.Mutex
	watched bool
	all     []trace.Span
}

func (s *taker) Span(one trace.Span) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, one)
}

func (s *taker) Watched() bool { return s.watched }

// taken returns the spans so far by their names, and forgets them.
func (s *taker) taken() map[string]trace.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := map[string]trace.Span{}
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
	call := got[trace.Call]
	if call.Trace != traceID || call.Parent != spanID || call.Kind != trace.KindServer || call.Attributes[trace.AttrTool] != "agent" || call.Attributes[trace.AttrOut] == int64(0) {
		t.Errorf("%+v", call)
	}
	for _, name := range []string{trace.Queue, trace.Run, "agent.run"} {
		if s := got[name]; s.Trace != traceID || s.Parent != call.ID || s.Start.Before(call.Start) || s.End.After(call.End) || s.End.Before(s.Start) {
			t.Errorf("%s: %+v is not inside of %+v", name, s, call)
		}
	}
	if s := got["search.vector"]; s.Parent != got["agent.run"].ID {
		t.Errorf("%+v", s)
	}
	a.call("fail", `{}`, "traceparent: "+parent)
	if got := to.taken(); !got[trace.Call].Failed || !got[trace.Run].Failed || got[trace.Queue].Failed {
		t.Errorf("%+v", got)
	}
	to.watched = true
	a.call("agent", `{}`)
	if got := to.taken(); len(got) != 5 || got[trace.Call].Parent != "" {
		t.Errorf("%+v", got)
	}
	a.close()
}

// What an agent asks of another is a step of its own.
func TestRequestIsAStep(t *testing.T) {
	to := &taker{watched: true}
	tel := New(Options{Sink: to})
	m := tel.Middleware()(func(ctx context.Context, _ *front.Exchange) (json.RawMessage, error) {
		Request(ctx, "call_agent", map[string]string{trace.AttrAgent: "b"})(nil)
		return nil, nil
	})
	if _, err := m(t.Context(), &front.Exchange{Method: "tools/call", Params: []byte(`{"name":"t"}`)}); err != nil {
		t.Fatal(err)
	}
	got := to.taken()
	if s := got["call_agent"]; s.Kind != trace.KindClient || s.Attributes[trace.AttrAgent] != "b" || s.Parent != got[trace.Call].ID {
		t.Errorf("%+v", s)
	}
	if err := tel.Close(context.Background()); err != nil {
		t.Error(err)
	}
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
		call, queue, run := got[trace.Call], got[trace.Queue], got[trace.Run]
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
	if err := tel.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
