package trace

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	ms      = time.Millisecond
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// rig is a journal of one trace.
type rig struct {
	*journal.Journal
	t testing.TB
}

func newRig(t testing.TB) rig {
	j := journal.New(journal.Options{Dir: t.TempDir()})
	t.Cleanup(func() { _ = j.Close() })
	return rig{j, t}
}

// id is that of span n, or "" for 0.
func id(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%016x", n)
}

// span adds a span from from to to milliseconds after noon by its own clock, which is off by some time.
func (r rig) span(hop, server string, own, parent int, name, kind string, from, to float64, off time.Duration, attrs ...string) {
	at := func(f float64) time.Time { return noon.Add(time.Duration(f*float64(ms)) - off) }
	s := span.Span{Trace: traceID, ID: id(own), Parent: id(parent), Name: name, Kind: kind, Start: at(from), End: at(to), Attributes: map[string]any{span.AttrProcess: hop + server}}
	if hop == span.Router {
		s.Attributes[span.AttrProcess] = "the router"
	}
	for i := 0; i < len(attrs); i += 2 {
		s.Attributes[attrs[i]] = attrs[i+1]
	}
	e, body := s.Entry()
	e.Hop, e.Server = hop, server
	if kind == span.KindServer {
		e.ID, e.Conn = "7", 9
	}
	r.Append(e, body)
}

// exchange adds a request whose span is parent, and its answer.
func (r rig) exchange(hop, server string, parent int, from, to float64, tool string) {
	at := func(f float64) time.Time { return noon.Add(time.Duration(f * float64(ms))) }
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":%q,"_meta":{"traceparent":"00-%s-%s-01"}}}`, tool, traceID, id(parent))
	r.Append(journal.Entry{Server: server, Conn: 9, Hop: hop, Dir: journal.Out, Kind: journal.Request, ID: "7", Method: "tools/call", Time: at(from)}, []byte(body))
	if to > 0 {
		r.Append(journal.Entry{Server: server, Conn: 9, Hop: hop, Dir: journal.In, Kind: journal.Response, ID: "7", Time: at(to)}, []byte(`{"jsonrpc":"2.0","id":7,"result":{}}`))
	}
}

func (r rig) tree() *Tree { return Of(r.Journal, Find(r.Journal, traceID)) }

// drawn is a tree as text: one line for each span, with its times in ms after noon.
func drawn(t *Tree) string {
	var b strings.Builder
	var draw func(n *Node, depth int)
	draw = func(n *Node, depth int) {
		off := func(at time.Time) float64 { return math.Round(float64(at.Sub(noon))/float64(ms)*100) / 100 }
		fmt.Fprintf(&b, "%s%s %s %v-%v", strings.Repeat(" ", depth), n.Hop+n.Server, n.Name, off(n.From), off(n.To))
		if n.Unaccounted > 0 {
			fmt.Fprintf(&b, " lost %v", n.Unaccounted)
		}
		b.WriteString("\n")
		for _, c := range n.Children {
			draw(c, depth+1)
		}
	}
	for _, r := range t.Roots {
		draw(r, 0)
	}
	return b.String()
}

// delegated is a call of demo's call_agent through the router, which calls echo of everything. by says how far which clock is off.
func delegated(r rig, by map[string]time.Duration) {
	r.exchange("", "demo@router", 1, 0, 20, "call_agent")
	r.exchange(span.Router, "demo", 1, 1, 19, "call_agent")
	r.exchange(span.Router, "everything", 20, 5, 14, "echo")
	ro, de, ev := by["router"], by["demo"], by["everything"]
	r.span(span.Router, "demo", 10, 1, span.Forward, span.KindServer, 1, 19, ro, span.AttrAgent, "demo", span.AttrTool, "call_agent")
	for i, step := range []string{span.Auth, span.Ingress, span.Route, span.Wait} {
		r.span(span.Router, "demo", 11+i, 10, step, "", 1+float64(i)/10, 1.1+float64(i)/10, ro)
	}
	r.span(span.Router, "demo", 15, 10, span.Upstream, "", 1.4, 19, ro)
	r.span(span.Agent, "demo", 20, 1, span.Call, span.KindServer, 2, 18, de, span.AttrTool, "call_agent")
	r.span(span.Agent, "demo", 21, 20, span.Queue, "", 2.5, 3, de)
	r.span(span.Agent, "demo", 22, 20, span.Run, "", 3, 18, de)
	r.span(span.Agent, "demo", 23, 20, "call_agent", span.KindClient, 4, 15, de, span.AttrAgent, "everything")
	r.span(span.Router, "everything", 30, 20, span.Forward, span.KindServer, 5, 14, ro, span.AttrAgent, "everything", span.AttrTool, "echo")
	r.span(span.Router, "everything", 31, 30, span.Upstream, "", 5, 14, ro)
	r.span(span.Agent, "everything", 40, 20, span.Call, span.KindServer, 6, 13, ev, span.AttrTool, "echo")
	r.span(span.Agent, "everything", 41, 40, span.Run, "", 6, 13, ev)
}

var numbers = regexp.MustCompile(`( lost)? -?[0-9.]+(ms|µs|-[0-9.]+)`)

// inside fails for a span that is not inside of that which it is below.
func inside(t *testing.T, n *Node) {
	t.Helper()
	for _, c := range n.Children {
		if c.From.Before(n.From) || c.To.After(n.To) {
			t.Errorf("%s %s from %v to %v is outside of %s %s from %v to %v", c.Hop, c.Name, c.From, c.To, n.Hop, n.Name, n.From, n.To)
		}
		inside(t, c)
	}
}

const delegatedTree = `demo@router tools/call 0-20 lost 2ms
 routerdemo mcp.router.forward 1-19
  routerdemo auth 1-1.1
  routerdemo ingress 1.1-1.2
  routerdemo route 1.2-1.3
  routerdemo wait 1.3-1.4
  routerdemo upstream 1.4-19 lost 1.6ms
   agentdemo mcp.tool.call 2-18 lost 500µs
    agentdemo queue 2.5-3
    agentdemo run 3-18
     agentdemo call_agent 4-15 lost 2ms
      routereverything mcp.router.forward 5-14
       routereverything upstream 5-14 lost 2ms
        agenteverything mcp.tool.call 6-13
         agenteverything run 6-13
`

func TestTreeOfADelegatedCall(t *testing.T) {
	r := newRig(t)
	delegated(r, nil)
	tree := r.tree()
	assert.Equal(t, drawn(tree), delegatedTree)
	call := tree.Roots[0]
	if !call.Call || call.Frames != 1 || call.Tries != 1 || call.Request < 100 || call.Response != 36 || call.Status() != journal.OK {
		t.Errorf("%+v", call)
	}
	if f := call.Children[0].Frames; f == 0 {
		t.Error("the router's span has no frames")
	} else if e, _ := r.Get(f); e.Hop != span.Router || e.Server != "demo" {
		t.Errorf("%+v", e)
	}
	if lost := call.Lost(); lost != 8100*time.Microsecond || tree.Took() != 20*ms {
		t.Error(lost, tree.Took())
	}
}

// Each clock is off by hours, in both directions; what is known is that a span lies inside of that which it was made for.
func TestClocksAreAligned(t *testing.T) {
	r := newRig(t)
	delegated(r, map[string]time.Duration{"router": -3 * time.Hour, "demo": 40 * time.Minute, "everything": -time.Second})
	tree := r.tree()
	if got, want := numbers.ReplaceAllString(drawn(tree), ""), numbers.ReplaceAllString(delegatedTree, ""); got != want {
		t.Errorf("%s", got)
	}
	inside(t, tree.Roots[0])
	want := map[string]Clock{
		"router":           {Hop: span.Router, Offset: -3 * time.Hour, Bound: ms},
		"agent demo":       {Hop: span.Agent, Server: "demo", Offset: 40 * time.Minute},
		"agent everything": {Hop: span.Agent, Server: "everything", Offset: -time.Second, Bound: ms},
	}
	for _, c := range tree.Clocks {
		w := want[strings.TrimSpace(c.Hop+" "+c.Server)]
		if c.Hop != w.Hop || c.Server != w.Server || c.Jumped || (c.Offset-w.Offset).Abs() > 400*time.Microsecond || c.Bound <= 0 || c.Bound > 1500*time.Microsecond {
			t.Errorf("%+v; want %+v", c, w)
		}
	}
	if len(tree.Clocks) != 3 {
		t.Errorf("%+v", tree.Clocks)
	}
}

// A clock that was set while the call ran: no offset makes that possible, which is said; nothing takes longer than it says.
func TestAClockThatJumps(t *testing.T) {
	r := newRig(t)
	r.exchange("", "s", 1, 0, 20, "x")
	r.span(span.Router, "s", 10, 1, span.Forward, span.KindServer, 1, 3600_000, 0, span.AttrAgent, "s")
	r.span(span.Agent, "s", 20, 1, span.Call, span.KindServer, -500, -490, 0)
	tree := r.tree()
	for _, c := range tree.Clocks {
		if c.Jumped != (c.Hop == span.Router) || c.Jumped && c.Bound >= 0 {
			t.Errorf("%+v", c)
		}
	}
	for _, n := range tree.Roots[0].Children {
		if n.Hop == span.Agent && (n.From.Before(noon) || n.To.After(noon.Add(20*ms))) {
			t.Errorf("%s", drawn(tree))
		}
	}
}

// Hops that were recorded by nobody are just not there: what is known stays one tree where ids say so.
func TestHopsAreMissing(t *testing.T) {
	t.Run("no router", func(t *testing.T) {
		r := newRig(t)
		r.exchange("", "s", 1, 0, 20, "x")
		r.span(span.Agent, "s", 20, 1, span.Call, span.KindServer, 2, 18, 0)
		if got, want := drawn(r.tree()), "s tools/call 0-20 lost 4ms\n agents mcp.tool.call 2-18\n"; got != want {
			t.Errorf("%s", got)
		}
	})
	t.Run("no client", func(t *testing.T) {
		r := newRig(t)
		r.span(span.Router, "s", 10, 1, span.Forward, span.KindServer, 1, 19, 0, span.AttrAgent, "s")
		r.span(span.Router, "s", 11, 10, span.Upstream, "", 2, 19, 0)
		r.span(span.Agent, "s", 20, 10, span.Call, span.KindServer, 3, 18, 0) // a collector had the router name itself
		tree := r.tree()
		if got, want := drawn(tree), "routers mcp.router.forward 1-19 lost 1ms\n routers upstream 2-19 lost 2ms\n  agents mcp.tool.call 3-18\n"; got != want || !tree.Roots[0].Orphan {
			t.Errorf("%s", got)
		}
	})
	t.Run("frames only", func(t *testing.T) {
		r := newRig(t)
		r.exchange("", "s", 1, 0, 20, "x")
		r.exchange(span.Server, "wrapped", 1, 3, 17, "x")
		if got, want := drawn(r.tree()), "s tools/call 0-20 lost 6ms\n serverwrapped tools/call 3-17\n"; got != want {
			t.Errorf("%s", got)
		}
	})
	t.Run("no answer", func(t *testing.T) {
		r := newRig(t)
		r.exchange("", "s", 1, 0, 0, "x")
		r.span(span.Router, "s", 10, 1, span.Forward, span.KindServer, 1, 9, 0, span.AttrAgent, "s")
		tree := r.tree()
		if n := tree.Roots[0]; n.Status() != journal.Pending || n.Took() != 9*ms || len(n.Children) != 1 {
			t.Errorf("%+v\n%s", n, drawn(tree))
		}
	})
}

// A request that is sent again is the same step of its caller.
func TestTriesAreCounted(t *testing.T) {
	r := newRig(t)
	r.exchange("", "s", 1, 0, 5, "x")
	r.exchange("", "s", 1, 6, 20, "x")
	r.span(span.Router, "s", 10, 1, span.Forward, span.KindServer, 1, 4, 0, span.AttrAgent, "s")
	r.span(span.Router, "s", 20, 1, span.Forward, span.KindServer, 7, 19, 0, span.AttrAgent, "s")
	tree := r.tree()
	if n := tree.Roots[0]; n.Tries != 2 || n.Took() != 20*ms || len(n.Children) != 2 || n.Response != 72 {
		t.Errorf("%+v\n%s", n, drawn(tree))
	}
}
