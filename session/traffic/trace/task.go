package trace

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// A call that becomes a task is answered at once, and goes on: its client asks for the status until it is over. All of these requests
// carry the trace context of the call, whose span lasts until the last answer.

const (
	callMethod  = "tools/call"
	taskMethods = "tasks/"
	getTask     = "tasks/get"
	taskResult  = "tasks/result" // of 2025-11-25, which has the result apart
	cancelTask  = "tasks/cancel"

	// maxCreated bounds what is searched for the description of a task, which is a handful of members.
	maxCreated = 64 << 10
)

// beginTask begins the span of a task, if the answer e to the call n is one.
func (c *collector) beginTask(n *Node, e journal.Entry) {
	if n.task == nil && BecameTask(c.j, e) {
		c.taskOf(n).Pending, n.Pending = true, true
		c.extendTask(n, time.Time{})
	}
}

// taskOf is the span of the task that a call became.
func (c *collector) taskOf(n *Node) *Node {
	if n.task == nil {
		n.task = &Node{
			Seq: n.Seq, Server: n.Server, Tries: 1, Frames: n.Frames, clock: n.clock, above: n,
			Span: span.Span{Trace: c.trace, Name: span.Task, Start: n.End, End: n.End, Attributes: map[string]any{span.AttrPolls: int64(0)}},
		}
		c.add(n.task)
	}
	return n.task
}

// extendTask ends a call and its task at the latest answer to them or, while the task is pending, at the last entry there is.
func (c *collector) extendTask(n *Node, answered time.Time) {
	if answered.After(n.until) {
		n.until = answered
	}
	end := n.until
	if n.task.Pending {
		end = c.last
	}
	if end.Before(n.task.Start) {
		end = n.task.Start
	}
	n.task.End, n.End = end, end
}

// poll adds a request about the task that a call became. Of what is asked when it is over only its result is part of the call.
func (c *collector) poll(n *Node, e journal.Entry, end time.Time, response int64) {
	t := c.taskOf(n)
	p := &Node{
		Seq: e.Seq, Server: e.Server, Call: true, Tries: 1, Frames: e.Seq, clock: n.clock, above: t, rpc: e.ID, Request: int64(e.Size), Response: response,
		Span:    span.Span{Trace: c.trace, Name: e.Method, Kind: span.KindClient, Start: e.Time, End: end, Failed: e.Status == journal.Failed || e.Status == journal.Cancelled, Attributes: map[string]any{span.AttrMethod: e.Method}},
		Pending: e.Status == journal.Pending,
	}
	if n.over && (e.Method != taskResult || n.fetched) {
		n.late = append(n.late, p)
		return
	}
	c.add(p)
	t.Frames, t.Request, t.Response = e.Seq, t.Request+p.Request, t.Response+p.Response
	if e.Method == getTask || e.Method == taskResult {
		t.Attributes[span.AttrPolls] = number(t.Attributes[span.AttrPolls]) + 1
	}
	why := ""
	n.over, why = c.outcome(e, n.over)
	n.fetched = n.fetched || e.Method == taskResult && n.over
	t.Pending = !n.over
	if t.Failed = why != ""; t.Failed {
		t.Attributes[span.AttrError] = why
		n.Attributes[span.AttrError] = why
	}
	n.Pending, n.Failed = t.Pending, t.Failed
	c.extendTask(n, end)
}

// outcome is whether a task is over by the answer to a request about it, was being whether it was before; and why it failed.
func (c *collector) outcome(e journal.Entry, was bool) (over bool, why string) {
	switch {
	case e.Method == taskResult:
		if e.Status == journal.Failed {
			why = "tool_error"
			if a, ok := c.j.Get(e.Peer); ok && a.Kind == journal.ErrorResponse {
				why = "failed"
			}
		}
		return e.Status == journal.OK || e.Status == journal.Failed || was, why
	case e.Method == cancelTask && e.Status == journal.OK:
		return true, "cancelled"
	case e.Method != getTask || e.Peer == 0:
		return was, ""
	}
	body, err := c.j.Body(e.Peer)
	if err != nil {
		return was, ""
	}
	switch status := jsonrpc.GetString(body, "result", "status"); status {
	case "completed":
		if string(jsonrpc.Get(body, "result", "result", "isError")) == "true" {
			why = "tool_error"
		}
		return true, why
	case "failed", "cancelled":
		return true, status
	}
	return was, ""
}

// adoptPolls puts what others recorded of the requests about a task below these, so that it is not taken for work on the call.
func (n *Node) adoptPolls() {
	if n.task == nil {
		return
	}
	is := func(c *Node) func(*Node) bool { return func(p *Node) bool { return p.rpc == c.rpc } }
	n.Children = slices.DeleteFunc(n.Children, func(c *Node) bool {
		method, _ := c.Attributes[span.AttrMethod].(string)
		if c == n.task || c.Kind != span.KindServer || !strings.HasPrefix(method, taskMethods) {
			return false
		}
		into := n.task
		if i := slices.IndexFunc(n.task.Children, is(c)); i >= 0 {
			into = n.task.Children[i]
		} else if slices.ContainsFunc(n.late, is(c)) {
			return true
		}
		into.Children = append(into.Children, c)
		return true
	})
}

// callsWithTasks are the calls of a journal that became tasks, by their requests.
func callsWithTasks(j *journal.Journal) map[uint64]*Node {
	calls := map[uint64]*Node{}
	for _, g := range Groups(j, func(e *journal.Entry) bool {
		return e.Kind == journal.Request && e.Hop == "" && strings.HasPrefix(e.Method, taskMethods)
	}) {
		for _, n := range collect(j, g).nodes {
			if n.task != nil {
				calls[n.Frames] = n
			}
		}
	}
	return calls
}

// TaskSpan has the span of a call, as Exchange has it, last until the task that it became is over, and fail as that did. over is false
// where it is not, or the call did not become one. g are the entries of the trace of the call.
func TaskSpan(j *journal.Journal, g *Group, request uint64, s *span.Span) (over bool) {
	for _, n := range collect(j, g).nodes {
		if n.task != nil && n.Frames == request && n.over {
			n.copyEnd(s)
			return true
		}
	}
	return false
}

// copyEnd has a span end, and fail, as the call did that it is part of.
func (n *Node) copyEnd(s *span.Span) {
	s.End, s.Failed = n.End, n.Failed
	if why := n.Attributes[span.AttrError]; why != nil {
		s.Attributes[span.AttrError] = why
	}
}

// BecameTask reports whether a request was answered with a task.
func BecameTask(j *journal.Journal, e journal.Entry) bool {
	a, ok := j.Get(e.Peer)
	if !ok || e.Method != callMethod || e.Peer == 0 || a.Kind != journal.Response || a.Size > maxCreated {
		return false
	}
	body, err := j.Body(a.Seq)
	if err != nil || !bytes.Contains(body, []byte(`"taskId"`)) {
		return false
	}
	return jsonrpc.GetString(body, "result", "resultType") == "task" || jsonrpc.Get(body, "result", "task", "taskId") != nil && jsonrpc.Get(body, "result", "content") == nil
}
