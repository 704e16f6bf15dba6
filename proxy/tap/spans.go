package tap

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/journal"
	"github.com/mcphud/mcphud/session/journal/trace"
	"github.com/mcphud/mcphud/session/jsonrpc"
	"github.com/mcphud/mcphud/session/text"
)

// spans makes entries of the spans of a record.
func spans(rec *record) (out []full) {
	for _, s := range rec.spans() {
		e, body := s.Entry()
		e.Server, e.Conn, e.ID = rec.entry.Server, rec.entry.Conn, rec.entry.ID
		out = append(out, full{e, body})
	}
	return out
}

// Span adds a span of what this process does on its own: no frame belongs to it.
func (p *Producer) Span(s trace.Span) {
	if p == nil {
		return
	}
	if s.Attributes == nil {
		s.Attributes = map[string]any{}
	}
	s.Attributes[trace.AttrProcess] = p.hello.Instance
	p.AppendSpans(journal.Entry{}, func() []trace.Span { return []trace.Span{s} })
}

// join finds the trace that a call belongs to. While somebody watches, a request without one begins one, of which the agent is told
// once what is returned was called.
func (x *Exchange) join(c *flow.Call) (begin func()) {
	x.trace = c.Trace
	if c.Trace != "" || c.Env.Kind != jsonrpc.Request || !x.p.Watched() {
		return func() {}
	}
	var id [16]byte
	for i := range 2 {
		binary.NativeEndian.PutUint64(id[8*i:], rand.Uint64()|1)
	}
	binary.NativeEndian.PutUint64(c.Span[:], rand.Uint64()|1)
	x.trace = hex.EncodeToString(id[:])
	c.Trace, c.Sampled = x.trace, true
	return func() {
		c.R.Header["Traceparent"] = []string{"00-" + x.trace + "-" + hex.EncodeToString(c.Span[:]) + "-01"}
	}
}

// steps records what the router did for a call, where its trace is recorded, or somebody watches.
func (x *Exchange) steps(c *flow.Call) {
	if c.Trace == "" || c.Env.Kind != jsonrpc.Request || !c.Sampled && !x.p.Watched() {
		return
	}
	if c.Span == [8]byte{} {
		binary.NativeEndian.PutUint64(c.Span[:], rand.Uint64()|1)
	}
	s := &served{
		began: c.Began, end: time.Now(), steps: c.Steps, trace: c.Trace, id: c.Span, parent: c.Parent, agent: text.Clip(c.Agent, maxField),
		method: text.Clip(c.Env.Method, maxField), name: text.Clip(c.Name(), maxField), status: int64(c.Status), in: int64(len(c.Body)), out: c.Sent, process: x.p.hello.Instance,
	}
	if c.Failure != nil {
		s.failure = string(c.Failure.Kind)
	}
	x.p.AppendSpans(journal.Entry{Server: x.server, Conn: x.conn, ID: x.id}, s.spans)
}

// served is a call that is over.
type served struct {
	began, end          time.Time
	steps               flow.Steps
	trace               string
	id, parent          [8]byte
	agent, method, name string
	status, in, out     int64
	failure, process    string
}

// spans are that of the call, and inside of it one for each step.
func (s *served) spans() []trace.Span {
	began := s.began
	if began.IsZero() || began.After(s.end) {
		began = s.end
	}
	own := hex.EncodeToString(s.id[:])
	attributes := map[string]any{
		trace.AttrAgent: s.agent, trace.AttrMethod: s.method, trace.AttrIn: s.in, trace.AttrOut: s.out, trace.AttrProcess: s.process, "http.response.status_code": s.status,
	}
	if s.name != "" {
		attributes[trace.AttrTool] = s.name
	}
	call := trace.Span{Trace: s.trace, ID: own, Name: trace.Forward, Kind: trace.KindServer, Start: began, End: s.end, Attributes: attributes}
	if s.failure != "" || s.status >= http.StatusBadRequest || s.status == 0 {
		call.Failed = true
	}
	if s.failure != "" {
		attributes[trace.AttrError] = s.failure
	}
	if s.parent != [8]byte{} {
		call.Parent = hex.EncodeToString(s.parent[:])
	}
	out := []trace.Span{call}
	next := binary.NativeEndian.Uint64(s.id[:])
	at := began
	step := func(name string, to time.Time, failed bool, more map[string]any) {
		if to.Before(at) {
			return
		}
		var id [8]byte
		next += 2
		binary.NativeEndian.PutUint64(id[:], next)
		if more == nil {
			more = map[string]any{}
		}
		more[trace.AttrProcess] = s.process
		out = append(out, trace.Span{Trace: s.trace, ID: hex.EncodeToString(id[:]), Parent: own, Name: name, Start: at, End: to, Failed: failed, Attributes: more})
		at = to
	}
	step(trace.Auth, s.steps.Authorized, false, nil)
	step(trace.Ingress, s.steps.Read, false, nil)
	step(trace.Route, s.steps.Routed, false, nil)
	tries := min(s.steps.Tried, flow.MaxTries)
	for i, try := range s.steps.Tries[:tries] {
		step(trace.Wait, try.Began, false, nil)
		last, more := i == tries-1, map[string]any(nil)
		if i > 0 {
			more = map[string]any{trace.AttrTry: int64(s.steps.Tried - tries + i + 1)}
		}
		to := try.Ended
		if last && !try.Failed {
			to = s.end // the answer is passed on as it comes
		}
		step(trace.Upstream, to, try.Failed, more)
	}
	return out
}
