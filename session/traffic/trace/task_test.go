package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// asks adds a request of the client with an id of its own that carries the trace context of span 1, and its answer.
func (r rig) asks(n int, method string, from, to float64, result string) {
	at := func(f float64) time.Time { return noon.Add(time.Duration(f * float64(ms))) }
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"name":"sleep","taskId":"t","_meta":{"traceparent":"00-%s-%s-01"}}}`, n, method, traceID, id(1))
	e := journal.Entry{Server: "demo@router", Conn: 3, Dir: journal.Out, Kind: journal.Request, ID: fmt.Sprint(n), Method: method, Time: at(from)}
	r.Append(e, []byte(body))
	if to == 0 {
		return
	}
	e.Dir, e.Kind, e.Time, e.Method = journal.In, journal.Response, at(to), ""
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`, n, result)
	if strings.HasPrefix(result, "!") {
		e.Kind, answer = journal.ErrorResponse, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":%s}`, n, result[1:])
	}
	r.Append(e, []byte(answer))
}

// forwards adds the router's span of a request with this id.
func (r rig) forwards(n, own int, method string, from, to float64) {
	s := span.Span{
		Trace: traceID, ID: id(own), Parent: id(1), Name: span.Forward, Kind: span.KindServer, Start: noon.Add(time.Duration(from * float64(ms))), End: noon.Add(time.Duration(to * float64(ms))),
		Attributes: map[string]any{span.AttrProcess: "the router", span.AttrAgent: "demo", span.AttrMethod: method},
	}
	e, body := s.Entry()
	e.Hop, e.Server, e.ID, e.Conn = span.Router, "demo", fmt.Sprint(n), 9
	r.Append(e, body)
	r.span(span.Router, "demo", own+1, own, span.Upstream, "", from, to, 0)
}

const (
	madeTask    = `{"resultType":"task","taskId":"t","status":"working"}`
	taskWorks   = `{"resultType":"complete","taskId":"t","status":"working"}`
	taskIsDone  = `{"resultType":"complete","taskId":"t","status":"completed","result":{"content":[]}}`
	taskMistook = `{"resultType":"complete","taskId":"t","status":"completed","result":{"content":[],"isError":true}}`
)

// tasked is a call of 2 s through a router that became a task after 250 ms: its agent's clock is off by some time.
func tasked(r rig, off time.Duration) {
	r.asks(7, "tools/call", 0, 250, madeTask)
	r.forwards(7, 10, "tools/call", 1, 249)
	r.span(span.Agent, "demo", 20, 1, span.Call, span.KindServer, 2, 248, off, span.AttrTool, "sleep", span.AttrTask, span.TaskRuns)
	r.span(span.Agent, "demo", 21, 20, span.Queue, "", 2, 3, off)
	for i := range 3 {
		at := 1000 * float64(i+1)
		result := taskWorks
		if i == 2 {
			result = taskIsDone
		}
		r.asks(8+i, "tasks/get", at, at+2, result)
		r.forwards(8+i, 40+10*i, "tasks/get", at+.5, at+1.5)
	}
	r.span(span.Agent, "demo", 22, 20, span.Run, "", 3, 2001, off)
	r.span(span.Agent, "demo", 20, 1, span.Call, span.KindServer, 2, 2002, off, span.AttrTool, "sleep", span.AttrTask, span.TaskOver)
}

// A call that became a task lasts until the last answer, and its parts add up to that.
func TestTask(t *testing.T) {
	for _, off := range []time.Duration{0, time.Hour, -time.Hour} {
		r := newRig(t)
		tasked(r, off)
		// Who looks at the task afterwards does not make the call longer.
		r.asks(20, "tasks/get", 9000, 9001, taskIsDone)
		r.forwards(20, 90, "tasks/get", 9000.2, 9000.8)
		tree := r.tree()
		var lines []string
		for _, row := range tree.Rows() {
			lines = append(lines, fmt.Sprintf("%s%s %v", strings.Repeat(" ", row.Depth), row.Label(), row.Took()))
		}
		want := []string{
			"client tools/call sleep → demo@router 3.002s", " router tools/call → demo 248ms", "  upstream 248ms", "   agent demo sleep 2s", "    queue 1ms", "    run 1.998s",
			" task, polled 3 times 2.752s", "  unaccounted: until the next poll 998ms",
		}
		if !slices.Equal(lines, want) {
			t.Errorf("off by %v:\n%s", off, strings.Join(lines, "\n"))
		}
		root := tree.Roots[0]
		if len(tree.Roots) != 1 || root.Status() != journal.OK || root.Lost() > root.Took()/50+998*ms {
			t.Errorf("%s %v", root.Status(), root.Lost())
		}
		for _, c := range tree.Clocks {
			if c.Jumped || c.Hop == span.Agent && (c.Offset-off).Abs() > 2*ms {
				t.Errorf("off by %v: %v", off, c)
			}
		}
	}
}

// How a task ended is how its call did.
func TestOutcomeOfATask(t *testing.T) {
	for _, c := range []struct {
		name  string
		asked func(r rig)
		want  string // status and why, end in ms, line of the task
	}{
		{"done", func(r rig) { r.asks(8, "tasks/get", 1000, 1002, taskIsDone) }, "ok <nil> 1002 task, polled once"},
		{"isError", func(r rig) { r.asks(8, "tasks/get", 1000, 1002, taskMistook) }, "error tool_error 1002 task, polled once"},
		{"failed", func(r rig) {
			r.asks(8, "tasks/get", 1000, 1002, `{"taskId":"t","status":"failed","error":{"code":-32603,"message":"no"}}`)
		}, "error failed 1002 task, polled once"},
		{"cancelled", func(r rig) {
			r.asks(8, "tasks/get", 1000, 1002, taskWorks)
			r.asks(9, "tasks/cancel", 1500, 1501, `{}`)
			r.asks(10, "tasks/get", 1502, 1503, `{"taskId":"t","status":"cancelled"}`)
		}, "error cancelled 1501 task, polled once"},
		{"goes on", func(r rig) { r.asks(8, "tasks/get", 1000, 1002, taskWorks) }, "pending <nil> 1002 task, polled once"},
		{"not asked yet", func(rig) {}, "pending <nil> 250 task, not polled"},
		{"a poll that failed", func(r rig) {
			r.asks(8, "tasks/get", 1000, 1002, `!{"code":-32603,"message":"later"}`)
			r.asks(9, "tasks/get", 2000, 2002, taskIsDone)
		}, "ok <nil> 2002 task, polled 2 times"},
		{"2025-11-25", func(r rig) {
			r.asks(8, "tasks/get", 1000, 1002, `{"taskId":"t","status":"completed"}`)
			r.asks(9, "tasks/result", 1002, 1010, `{"content":[]}`)
			r.asks(10, "tasks/result", 5000, 5010, `{"content":[]}`)
		}, "ok <nil> 1010 task, polled 2 times"},
		{"2025-11-25, failed", func(r rig) {
			r.asks(8, "tasks/get", 1000, 1002, `{"taskId":"t","status":"failed"}`)
			r.asks(9, "tasks/result", 1002, 1010, `{"content":[],"isError":true}`)
		}, "error tool_error 1010 task, polled 2 times"},
	} {
		r := newRig(t)
		r.asks(7, "tools/call", 0, 250, madeTask)
		c.asked(r)
		tree := r.tree()
		n := tree.Roots[0]
		got := fmt.Sprintf("%s %v %v ", n.Status(), n.Attributes[span.AttrError], n.To.Sub(noon).Milliseconds())
		for _, row := range tree.Rows() {
			if row.Node.Name == span.Task && !row.Gap {
				got += row.Label()
			}
		}
		if len(tree.Roots) != 1 || got != c.want {
			t.Errorf("%s: got %q, want %q\n%s", c.name, got, c.want, drawn(tree))
		}
		if c.name == "a poll that failed" && !strings.Contains(drawn(tree), "tasks/get") {
			t.Error(drawn(tree))
		}
	}
}

// What another replica did for a call whose agent died is part of its tree.
func TestTaskResumedElsewhere(t *testing.T) {
	r := newRig(t)
	r.asks(7, "tools/call", 0, 250, madeTask)
	r.forwards(7, 10, "tools/call", 1, 249)
	r.span(span.Agent, "demo", 20, 1, span.Call, span.KindServer, 2, 248, 0, span.AttrTool, "sleep", span.AttrTask, span.TaskRuns, span.AttrProcess, "one")
	r.span(span.Agent, "demo", 21, 20, span.Queue, "", 2, 3, 0, span.AttrProcess, "one")
	r.span(span.Agent, "demo", 30, 20, span.Call, span.KindServer, 3000, 5000, 0, span.AttrTool, "sleep", span.AttrProcess, "two")
	r.span(span.Agent, "demo", 31, 30, span.Run, "", 3000, 5000, 0, span.AttrProcess, "two")
	r.asks(8, "tasks/get", 5001, 5002, taskIsDone)
	tree := r.tree()
	var text strings.Builder
	require.NoError(t, tree.Write(&text, 100, nil))
	for _, want := range []string{"agent demo sleep 2ms 246ms ━━ end not recorded", "agent demo sleep 3s 2s ━", "run 3s 2s █", "task, polled once"} {
		if !strings.Contains(strings.Join(strings.Fields(text.String()), " "), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	for _, c := range tree.Clocks {
		if c.Jumped || c.Offset != 0 {
			t.Error(c)
		}
	}
	if len(tree.Roots) != 1 || strings.Contains(text.String(), "set meanwhile") {
		t.Error(text.String())
	}
}

// Parts that nobody accounts for have no line where they are together less than 2 % of the whole.
func TestSmallGapsHaveNoLine(t *testing.T) {
	r := newRig(t)
	r.exchange("", "demo@router", 1, 0, 1000, "sleep")
	r.span(span.Router, "demo", 10, 1, span.Forward, span.KindServer, 2, 995, 0, span.AttrAgent, "demo", span.AttrTool, "sleep")
	r.span(span.Router, "demo", 11, 10, span.Upstream, "", 4, 995, 0)
	r.span(span.Agent, "demo", 20, 1, span.Call, span.KindServer, 30, 990, 0, span.AttrTool, "sleep")
	r.span(span.Agent, "demo", 21, 20, span.Run, "", 33, 990, 0)
	var gaps []string
	for _, row := range r.tree().Rows() {
		if row.Gap {
			gaps = append(gaps, row.Label())
		}
	}
	if got, want := fmt.Sprint(gaps), "[unaccounted: network]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// To a collector, too, the call lasts until its task is over; each request about that is a span of its own inside of it.
func TestTaskAsOTLP(t *testing.T) {
	r := newRig(t)
	tasked(r, 0)
	var out bytes.Buffer
	n, err := WriteOTLP(&out, r.Journal, nil)
	require.NoError(t, err)
	var in struct {
		ResourceSpans []struct{ ScopeSpans []struct{ Spans []otlpSpan } }
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &in))
	seen := map[string]bool{}
	var call, agent otlpSpan
	polls := 0
	for _, rs := range in.ResourceSpans {
		for _, s := range rs.ScopeSpans[0].Spans {
			if seen[s.SpanID] {
				t.Errorf("%s twice", s.Name)
			}
			seen[s.SpanID] = true
			switch s.Name {
			case "tools/call sleep":
				call = s
			case "tasks/get":
				polls++
				if s.Parent != id(1) {
					t.Errorf("%+v", s)
				}
			case span.Call:
				agent = s
			}
		}
	}
	end := func(f float64) string { return nano(noon.Add(time.Duration(f * float64(ms)))) }
	if n != len(seen) || polls != 3 || call.SpanID != id(1) || call.End != end(3002) || agent.End != end(2002) {
		t.Errorf("%d spans, %d polls, %+v %+v", n, polls, call, agent)
	}
}
