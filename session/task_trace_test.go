package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// A call that becomes a task has the request that it was, whose trace context all requests about the task carry, in both eras and
// however it ends; and its tree is as long as the caller waited.
func TestTaskBelongsToTheTraceOfItsCall(t *testing.T) {
	for _, modern := range []bool{false, true} {
		for _, long := range []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second, 20 * time.Second} {
			for _, end := range []string{"completed", "failed", "cancelled", "given up", "timed out"} {
				t.Run(fmt.Sprintf("modern %v %v %s", modern, long, end), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { taskTrace(t, modern, long, end) })
				})
			}
		}
	}
}

func taskTrace(t *testing.T, modern bool, long time.Duration, end string) {
	status := end
	if end == "given up" || end == "timed out" {
		status = "completed"
	}
	done := `"status":"` + status + `"`
	if modern && status == "completed" {
		done += `,"result":{"content":[]}`
	} else if modern && status == "failed" {
		done += `,"error":{"code":-32603,"message":"it broke"}`
	}
	f := &taskServer{
		modern: modern, support: "required", task: `,"pollInterval":1000,"pollIntervalMs":1000`, state: doneAfter(long, done),
		result: func(p *sessiontest.Peer, env jsonrpc.Envelope) {
			if status != "completed" {
				p.Refuse(env, -32603, "it broke")
				return
			}
			p.Answer(env, `{"content":[]}`)
		},
	}
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer j.Close()
	s := f.open(t, session.Options{Journal: j, Tracing: session.TraceAll})
	ctx, o, stops := t.Context(), session.CallOptions{}, false
	switch end {
	case "given up":
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, long/2)
		defer cancel()
		stops = true
	case "timed out":
		o.MaxTimeout, stops = long/2, true
	}
	began := time.Now()
	r, err := s.CallTool(ctx, "work", json.RawMessage(`{}`), o)
	waited := time.Since(began)
	if (err == nil) != (end == "completed") {
		t.Fatal(err)
	}
	q, ok := j.Get(r.Request)
	if !ok || q.Method != "tools/call" || q.Trace == "" {
		t.Fatalf("the call's request is %+v", q)
	}
	j.Each(0, func(e *journal.Entry) bool {
		if e.Kind == journal.Request && len(e.Method) > 6 && e.Method[:6] == "tasks/" && e.Trace != q.Trace {
			t.Errorf("%s has the trace %q", e.Method, e.Trace)
		}
		return true
	})
	if end == "timed out" { // the task goes on
		if errors.Is(err, context.DeadlineExceeded) || trace.Of(j, trace.Find(j, q.Trace)).Roots[0].Status() != journal.Pending {
			t.Errorf("%v %s", err, drawnTree(j, q.Trace))
		}
		return
	}
	tree := trace.Of(j, trace.Find(j, q.Trace))
	root := tree.Roots[0]
	if len(tree.Roots) != 1 || root.Name != "tools/call" || (root.Took()-waited).Abs() > waited/50 || len(root.Children) != 1 || root.Children[0].Name != span.Task || root.Lost() > 0 {
		t.Errorf("waited %v\n%s", waited, drawnTree(j, q.Trace))
	}
	if failed := root.Status() != journal.OK; failed != (end != "completed") || stops && root.Attributes[span.AttrError] != "cancelled" {
		t.Errorf("%s\n%s", end, drawnTree(j, q.Trace))
	}
}

func drawnTree(j *journal.Journal, id string) string {
	raw, err := json.Marshal(trace.Of(j, trace.Find(j, id)))
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// What a caller says of the trace itself is what the requests about its task say; and who sends no trace context sends none there.
func TestTaskKeepsTheTraceContextOfItsCaller(t *testing.T) {
	const theirs = `"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`
	for meta, want := range map[string]string{`{"traceparent":` + theirs + `}`: theirs, "": ""} {
		synctest.Test(t, func(t *testing.T) {
			f := &taskServer{modern: true, task: `,"pollIntervalMs":1000`, state: doneAfter(time.Second, `"status":"completed","result":{"content":[]}`)}
			s := f.open(t, session.Options{Tracing: session.TraceNone})
			if _, err := s.CallTool(t.Context(), "work", nil, session.CallOptions{Meta: json.RawMessage(meta)}); err != nil {
				t.Fatal(err)
			}
			for i := range 2 {
				assert.Equalf(t, string(jsonrpc.Get(f.params(i), "_meta", "traceparent")), want, "request %d", i)
			}
		})
	}
}
