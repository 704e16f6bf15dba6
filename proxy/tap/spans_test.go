package tap

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

// step carries a call of a trace, of which the router remembers its steps, and returns the header that the agent is sent.
func step(p *Producer, id string, sampled bool) (traceparent string) {
	r := httptest.NewRequest(http.MethodPost, "http://h/mcps/kb/mcp", strings.NewReader(call))
	at := time.Now()
	c := &flow.Call{Request: flow.Request{W: httptest.NewRecorder(), R: r, Began: at, Agent: "kb"}}
	c.Body = []byte(call)
	c.Env, _ = jsonrpc.Scan(c.Body)
	c.Trace, c.Sampled = id, sampled
	if id != "" {
		c.Parent = [8]byte{0, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7}
	}
	flow.Chain(func(c *flow.Call) {
		traceparent = c.R.Header.Get("Traceparent")
		time.Sleep(5 * time.Millisecond)
		c.Authorized, c.Read, c.Routed = time.Millisecond, 2*time.Millisecond, 3*time.Millisecond
		c.Tries[0] = flow.Try{Began: 3 * time.Millisecond, Ended: 4 * time.Millisecond, Failed: true}
		c.Tries[1] = flow.Try{Began: 5 * time.Millisecond, Ended: 5 * time.Millisecond}
		c.Tried = 2
		c.JSON(http.StatusOK, []byte(`{"jsonrpc":"2.0","id":5,"result":{}}`))
	}, p.RecordResponses, p.RecordRequests)(c)
	return traceparent
}

// A call of a trace that is recorded becomes spans, which a reader finds that comes later, too.
func TestTapStepsOfACall(t *testing.T) {
	p := open(t, Options{})
	step(p, traceID, true)
	step(p, traceID, false) // its caller records nothing, and nobody watches
	d := dial(t, p)
	var names []string
	var first span.Span
	for i := range 8 {
		m, s := d.span()
		if i == 0 {
			first = s
			if s.Parent != "00f067aa0ba902b7" || s.Kind != span.KindServer || s.Failed || s.Attributes[span.AttrAgent] != "kb" || s.Attributes[span.AttrOut] != int64(36) {
				t.Errorf("%+v", s)
			}
		} else if s.Parent != first.ID || s.Start.Before(first.Start) || s.End.After(first.End) {
			t.Errorf("%+v is not inside of %+v", s, first)
		}
		if s.Trace != traceID || m.head.Trace != traceID || m.head.Server != "kb" || m.head.ID != "5" || m.head.Conn == 0 || m.head.Took != int64(s.End.Sub(s.Start)) {
			t.Errorf("%+v %+v", m.head, s)
		}
		names = append(names, s.Name)
	}
	assert.Equal(t, strings.Join(names, " "), "mcp.router.forward auth ingress route wait upstream wait upstream")
	p.Span(span.Span{Trace: traceID, ID: "b7ad6b7169203331", Name: "last", Start: time.Now(), End: time.Now()})
	if _, s := d.span(); s.Name != "last" || s.Attributes[span.AttrProcess] != p.hello.Instance {
		t.Errorf("%+v: what was not recorded is there", s)
	}
}

// While somebody watches, a call without a trace begins one, and the agent hears of it.
func TestTapBeginsTraces(t *testing.T) {
	p := open(t, Options{})
	assert.Equalf(t, step(p, "", false), "", "and nobody watches")
	d := dial(t, p)
	require.Eventually(t, "the reader", p.Watched)
	parent := step(p, "", false)
	id, span, sampled, ok := span.ParseParent(parent)
	_, s := d.span()
	if !ok || !sampled || s.Trace != id || s.ID != span || s.Parent != "" {
		t.Errorf("%q, %+v", parent, s)
	}
}

// Who wants the traces of some clients only gets nothing else, with the name of who recorded it.
func TestJoinTraces(t *testing.T) {
	dir := socketDir(t)
	p := open(t, Options{Dir: dir, Name: "router"})
	agent := open(t, Options{Dir: dir, Name: "kb", Kind: Agent})
	j := journal.New(journal.Options{})
	defer j.Close()
	joined := JoinTraces(t.Context(), j, func(id string) bool { return id == traceID }, dir)
	defer joined.Close()
	require.Eventually(t, "the joiner", func() bool { return p.Watched() && agent.Watched() })
	step(p, strings.Repeat("ab", 16), true)
	step(p, traceID, true)
	frame(p, `{"jsonrpc":"2.0","method":"notifications/x"}`)
	agent.Span(span.Span{Trace: traceID, ID: "b7ad6b7169203331", Name: span.Call, Start: time.Now(), End: time.Now()})
	hops := func() (n [2]int) {
		for _, e := range j.Snapshot(0, nil) {
			if e.Trace != traceID || e.Kind == journal.State {
				t.Errorf("%+v", e)
			}
			switch {
			case e.Hop == "router" && e.Server == "kb" && e.Kind == journal.Span:
				n[0]++
			case e.Hop == "agent" && e.Server == "kb" && e.Kind == journal.Span:
				n[1]++
			case e.Hop != "router":
				t.Errorf("%+v", e)
			}
		}
		return n
	}
	require.Eventually(t, "the spans", func() bool { return hops() == [2]int{8, 1} })
}
