package tap

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/span"
)

// A spanner makes spans, each time the same ones.
type spanner interface{ spans() []span.Span }

// one is a span by itself.
type one span.Span

func (s one) spans() []span.Span { return []span.Span{span.Span(s)} }

// spans makes entries of the spans of a record.
func spans(rec *record) (out []full) {
	for _, s := range rec.spans.spans() {
		e, body := s.Entry()
		e.Server, e.Conn, e.ID = rec.entry.Server, rec.entry.Conn, cmp.Or(rec.entry.ID, rec.answer)
		out = append(out, full{e, body})
	}
	return out
}

// Span adds a span of what this process does on its own: no frame belongs to it.
func (p *Producer) Span(s span.Span) {
	if p == nil {
		return
	}
	if s.Attributes == nil {
		s.Attributes = map[string]any{}
	}
	s.Attributes[span.AttrProcess] = p.hello.Instance
	p.push(record{spans: one(s)}, nil)
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

// steps notes what the router did for a call, where its trace is recorded, or somebody watches: for the last record of the exchange.
func (x *Exchange) steps(c *flow.Call) {
	if x == nil || c.Trace == "" || c.Env.Kind != jsonrpc.Request || c.Began.IsZero() || !c.Sampled && !x.p.Watched() {
		return
	}
	if c.Span == [8]byte{} {
		binary.NativeEndian.PutUint64(c.Span[:], rand.Uint64()|1)
	}
	x.served = &served{
		began: c.Began, took: time.Since(c.Began), steps: c.Steps, trace: c.Trace, id: c.Span, parent: c.Parent, agent: x.server,
		method: text.Clip(c.Env.Method, maxField), name: text.Clip(c.Name(), maxField), status: c.Status, in: len(c.Body), out: c.Sent, process: x.p.hello.Instance,
	}
	if c.Failure != nil {
		x.served.failure = string(c.Failure.Kind)
	}
}

// served is a call that is over.
type served struct {
	began               time.Time
	took                time.Duration
	steps               flow.Steps
	trace               string
	id, parent          [8]byte
	agent, method, name string
	status, in          int
	out                 int64
	failure, process    string
}

// spans are that of the call, and inside of it one for each step.
func (s *served) spans() []span.Span {
	began, end := s.began, s.began.Add(s.took)
	own := hex.EncodeToString(s.id[:])
	attributes := map[string]any{
		span.AttrAgent: s.agent, span.AttrMethod: s.method, span.AttrIn: int64(s.in), span.AttrOut: s.out, span.AttrProcess: s.process, "http.response.status_code": int64(s.status),
	}
	if s.name != "" {
		attributes[span.AttrTool] = s.name
	}
	call := span.Span{Trace: s.trace, ID: own, Name: span.Forward, Kind: span.KindServer, Start: began, End: end, Attributes: attributes}
	if s.failure != "" || s.status >= http.StatusBadRequest || s.status == 0 {
		call.Failed = true
	}
	if s.failure != "" {
		attributes[span.AttrError] = s.failure
	}
	if s.parent != [8]byte{} {
		call.Parent = hex.EncodeToString(s.parent[:])
	}
	out := []span.Span{call}
	next := binary.NativeEndian.Uint64(s.id[:])
	at := time.Duration(0)
	step := func(name string, to time.Duration, failed bool, more map[string]any) {
		if to <= 0 || to < at {
			return
		}
		var id [8]byte
		next += 2
		binary.NativeEndian.PutUint64(id[:], next)
		if more == nil {
			more = map[string]any{}
		}
		more[span.AttrProcess] = s.process
		out = append(out, span.Span{Trace: s.trace, ID: hex.EncodeToString(id[:]), Parent: own, Name: name, Start: began.Add(at), End: began.Add(to), Failed: failed, Attributes: more})
		at = to
	}
	step(span.Auth, s.steps.Authorized, false, nil)
	step(span.Ingress, s.steps.Read, false, nil)
	step(span.Route, s.steps.Routed, false, nil)
	tries := min(s.steps.Tried, flow.MaxTries)
	for i, try := range s.steps.Tries[:tries] {
		step(span.Wait, try.Began, false, nil)
		last, more := i == tries-1, map[string]any(nil)
		if i > 0 {
			more = map[string]any{span.AttrTry: int64(s.steps.Tried - tries + i + 1)}
		}
		to := try.Ended
		if last && !try.Failed {
			to = s.took // the answer is passed on as it comes
		}
		step(span.Upstream, to, try.Failed, more)
	}
	return out
}
