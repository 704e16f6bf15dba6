package trace

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// Limits of what one tree is made of: further entries are counted and left out.
const (
	maxEntries = 50_000
	maxSpans   = 10_000
	maxGroups  = 100_000
)

// Group is the entries of one trace.
type Group struct {
	ID   string
	Seqs []uint64
	Left int // entries beyond what is kept

	seen uint64 // entries up to here were looked at
}

// Groups finds the traces of a journal, in the order of their first entries. match says of which entries traces are wanted, nil for
// all; an entry that matches brings its whole trace.
func Groups(j *journal.Journal, match func(*journal.Entry) bool) []*Group {
	var all []*Group
	by, wanted := map[string]*Group{}, map[string]bool{}
	j.Each(0, func(e *journal.Entry) bool {
		if e.Trace == "" {
			return true
		}
		g := by[e.Trace]
		if g == nil {
			if len(all) == maxGroups {
				return true
			}
			g = &Group{ID: strings.Clone(e.Trace)}
			by[g.ID] = g
			all = append(all, g)
		}
		g.add(e.Seq)
		if match == nil || match(e) {
			wanted[g.ID] = true
		}
		return true
	})
	out := all[:0]
	for _, g := range all {
		if wanted[g.ID] {
			out = append(out, g)
		}
	}
	return out
}

func (g *Group) add(seq uint64) {
	if len(g.Seqs) == maxEntries {
		g.Left++
		return
	}
	g.Seqs = append(g.Seqs, seq)
}

// Find is the group of one trace.
func Find(j *journal.Journal, id string) *Group {
	g := &Group{ID: id}
	g.Update(j)
	return g
}

// FindSince is Find of a trace of which nothing is before the entry since.
func FindSince(j *journal.Journal, id string, since uint64) *Group {
	g := &Group{ID: id, seen: max(since, 1) - 1}
	g.Update(j)
	return g
}

// Update takes in what was appended since the group was found, and reports whether anything of the trace was.
func (g *Group) Update(j *journal.Journal) (grew bool) {
	j.Each(g.seen, func(e *journal.Entry) bool {
		g.seen = e.Seq
		if e.Trace == g.ID {
			g.add(e.Seq)
			grew = true
		}
		return true
	})
	return grew
}

// place finds the span that the frames of an exchange belong to.
type place struct {
	hop, server, id string
	conn            uint64
}

// collector makes nodes of entries.
type collector struct {
	j     *journal.Journal
	trace string
	nodes []*Node
	byID  map[string]*Node
	at    map[place]*Node
	asked []journal.Entry // requests, of which some are those of spans
	left  int
	last  time.Time // the latest time of any entry
}

// collect makes nodes of a group: of spans, of the requests of clients, and of requests that were seen where nobody recorded spans.
func collect(j *journal.Journal, g *Group) *collector {
	c := &collector{j: j, trace: g.ID, byID: map[string]*Node{}, at: map[place]*Node{}, left: g.Left}
	for _, seq := range g.Seqs {
		e, ok := j.Get(seq)
		if !ok || e.Trace != g.ID {
			continue
		}
		end := e.Time
		if e.Kind == journal.Span || e.Kind == journal.Request { // an answer came when it says, however long it took
			end = end.Add(e.Took)
		}
		if end.After(c.last) {
			c.last = end
		}
		switch {
		case e.Kind == journal.Span:
			c.span(e)
		case e.Kind == journal.Request && e.Dir == journal.Out:
			c.asked = append(c.asked, e)
		}
	}
	for _, e := range c.asked {
		c.request(e)
	}
	return c
}

// add takes a node, unless there are too many; of several with one id the first is the parent.
func (c *collector) add(n *Node) bool {
	if len(c.nodes) == maxSpans {
		c.left++
		return false
	}
	c.nodes = append(c.nodes, n)
	if n.ID != "" && c.byID[n.ID] == nil {
		c.byID[n.ID] = n
	}
	return true
}

func (c *collector) span(e journal.Entry) {
	body, err := c.j.Body(e.Seq)
	if err != nil {
		c.left++
		return
	}
	s, err := span.Parse(body)
	if err != nil || s.Trace != c.trace {
		c.left++
		return
	}
	if old := c.byID[s.ID]; old != nil && old.Hop == e.Hop && old.Name == s.Name { // it was received twice
		if old.Attributes[span.AttrTask] == span.TaskRuns {
			old.Span, old.Seq, old.answered = s, e.Seq, old.End
			old.Request, old.Response = number(s.Attributes[span.AttrIn]), number(s.Attributes[span.AttrOut])
		}
		return
	}
	n := &Node{Span: s, Seq: e.Seq, Hop: e.Hop, Server: e.Server, Tries: 1, clock: clockOf(&e, s), rpc: e.ID}
	n.Request, n.Response = number(s.Attributes[span.AttrIn]), number(s.Attributes[span.AttrOut])
	if try := number(s.Attributes[span.AttrTry]); try > 1 {
		n.Tries = int(min(try, 1000))
	}
	if c.add(n) && s.Kind == span.KindServer && e.ID != "" {
		c.at[place{e.Hop, e.Server, e.ID, e.Conn}] = n
	}
}

func number(v any) int64 {
	n, _ := v.(int64)
	return max(n, 0)
}

// clockOf names the clock that an entry's times are of.
func clockOf(e *journal.Entry, s span.Span) string {
	if id, ok := s.Attributes[span.AttrProcess].(string); ok && id != "" {
		return id
	}
	if e.Hop == "" {
		return ""
	}
	if producer := e.Conn >> 32; producer > 0 { // of what the tap joined
		return fmt.Sprint(e.Hop, producer)
	}
	return e.Hop + " " + e.Server
}

// request makes a node of a request, or finds the span that somebody recorded of it.
func (c *collector) request(e journal.Entry) {
	_, parent, _, _ := span.ParseParent(c.parentOf(e.Seq))
	own := e.Hop == ""
	n := c.at[place{e.Hop, e.Server, e.ID, e.Conn}]
	if own {
		n = c.byID[parent]
	}
	response, end := int64(0), c.last
	if a, ok := c.j.Get(e.Peer); ok && e.Peer != 0 {
		response = int64(a.Size)
	}
	if e.Status != journal.Pending {
		end = e.Time.Add(e.Took)
	}
	if own && n != nil && n.Call && n.Name == callMethod && strings.HasPrefix(e.Method, taskMethods) {
		c.poll(n, e, end, response)
		return
	}
	if n == nil {
		n = &Node{
			Seq: e.Seq, Hop: e.Hop, Server: e.Server, Call: own, clock: clockOf(&e, span.Span{}), rpc: e.ID,
			Span: span.Span{Trace: c.trace, Name: e.Method, Kind: span.KindServer, Start: e.Time, End: end, Attributes: map[string]any{span.AttrMethod: e.Method}},
		}
		if own {
			n.Kind, n.ID = span.KindClient, parent
		} else {
			n.Parent = parent
		}
		if e.Tool != "" {
			n.Attributes[span.AttrTool] = e.Tool
		}
		if !c.add(n) {
			return
		}
	}
	if n.Frames == 0 {
		n.Frames = e.Seq
	}
	if n.Call || n.Request == 0 {
		n.Request, n.Response = n.Request+int64(e.Size), n.Response+response
	}
	if !n.Call {
		return
	}
	n.Tries++
	if e.Time.Before(n.Start) {
		n.Start = e.Time
	}
	if end.After(n.End) {
		n.End = end
	}
	n.Failed, n.Pending = e.Status == journal.Failed || e.Status == journal.Cancelled, e.Status == journal.Pending // that of the last one
	if e.Method == callMethod {
		c.beginTask(n, e)
	}
}

// parentOf is the trace context of a request: that in its parameters, or else in the head of HTTP that it came with.
func (c *collector) parentOf(seq uint64) string {
	body, err := c.j.Body(seq)
	if err != nil {
		return ""
	}
	if in := jsonrpc.GetString(body, "params", "_meta", "traceparent"); in != "" {
		return in
	}
	for _, e := range c.j.Frames(seq) {
		if e.Kind != journal.HTTP || e.Dir != journal.Out {
			continue
		}
		head, err := c.j.Body(e.Seq)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(head)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "Traceparent") {
				return cmp.Or(strings.TrimSpace(value), "-")
			}
		}
	}
	return ""
}
