package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

// Every call has its tree of hops: of any length, in every era, at an agent, through the router, and on to another agent; done, cancelled
// and timed out.
func TestTraceOfCallsOfAnyLength(t *testing.T) {
	runtimeDir(t)
	tm := teamOf(t, nil)
	tm.start("demo", nil, "--concurrency", "200", "--tenant-concurrency", "0")
	tm.start("everything", nil, "--profile", "everything", "--concurrency", "200", "--tenant-concurrency", "0")
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer j.Close()
	m := session.NewManager(session.Options{Journal: j, Tracing: session.TraceAll, HealthInterval: -1})
	defer m.Close()
	joined := tap.JoinTraces(t.Context(), j, m.BeganTrace)
	defer joined.Close()
	<-joined.Scanned()
	eras, lengths := []string{"2025-06-18", "2026-07-28"}, []float64{0.1, 0.3, 1.5}
	if budget.All() {
		eras, lengths = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}, []float64{0.1, 0.3, 2, 20}
	}
	var calls sync.WaitGroup
	for _, era := range eras {
		for name, at := range map[string]string{"agent": tm.agents["demo"].url, "router": tm.router.url + "/mcps/demo/mcp"} {
			s, err := m.Register(config.Server{Name: name + " " + era, Transport: config.HTTP, URL: at, Protocol: era, Timeout: time.Minute})
			if err == nil {
				err = s.Connect(t.Context())
			}
			require.NoError(t, err)
			for _, long := range lengths {
				for _, end := range []string{"", "agent", "cancelled", "timed out"} {
					if end == "agent" && name == "agent" || end != "" && end != "agent" && long < 1 {
						continue
					}
					calls.Go(func() { (&tracedCall{t: t, j: j, s: s, long: long, end: end, router: name == "router"}).check() })
				}
			}
		}
	}
	calls.Wait()
}

// tracedCall is a call of a tool that takes some seconds.
type tracedCall struct {
	t      *testing.T
	j      *journal.Journal
	s      *session.Session
	long   float64
	end    string // how it ends: "" well, "agent" at another agent, cancelled, timed out
	router bool   // it goes through one
	killed bool   // an agent that ran it was, and does not tell its end
}

func (c *tracedCall) check() {
	what := fmt.Sprintf("%s, %v s, %s", c.s.Title(), c.long, c.end)
	ctx, o := c.t.Context(), session.CallOptions{}
	tool, args, agents := "sleep", fmt.Sprintf(`{"seconds":%v}`, c.long), 1
	switch c.end {
	case "agent":
		tool, args, agents = "call_agent", fmt.Sprintf(`{"agent":"everything","tool":"sleep","args":%s}`, args), 2
	case "cancelled":
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.long/2*float64(time.Second)))
		defer cancel()
	case "timed out":
		o.MaxTimeout = time.Duration(c.long / 2 * float64(time.Second))
	}
	began := time.Now()
	r, err := c.s.CallTool(ctx, tool, []byte(args), o)
	waited := time.Since(began)
	fails := c.end == "cancelled" || c.end == "timed out"
	if (err != nil) != fails {
		c.t.Errorf("%s: %v", what, err)
		return
	}
	q, ok := c.j.Get(r.Request)
	if !ok || q.Method != "tools/call" || q.Trace == "" {
		c.t.Errorf("%s: the call is %+v", what, q)
		return
	}
	var tree *trace.Tree
	g := trace.Find(c.j, q.Trace)
	last := time.Now().Add(30 * time.Second)
	for c.whole(tree, agents) != "" {
		if time.Now().After(last) {
			var b strings.Builder
			_ = tree.Write(&b, 120, nil) // a Builder takes everything
			c.t.Errorf("%s: %s\n%s", what, c.whole(tree, agents), b.String())
			return
		}
		time.Sleep(20 * time.Millisecond) // until the others told what they did
		g.Update(c.j)
		tree = trace.Of(c.j, g)
	}
	root := tree.Roots[0]
	if !fails && (root.Took()-waited).Abs() > waited/50+100*time.Millisecond {
		c.t.Errorf("%s: waited %v, and the tree has %v", what, waited, root.Took())
	}
	if failed := root.Status() != journal.OK; failed != fails {
		c.t.Errorf("%s: %s", what, root.Status())
	}
	// The lines add up: each gap that has none is less than 2 % of the call, and a busy machine makes several of them.
	lost := root.Lost()
	for _, row := range tree.Rows() {
		if row.Gap {
			lost -= row.Took()
			if row.Where() == "" {
				c.t.Errorf("%s: %s", what, row.Label())
			}
		}
	}
	if lost > root.Took()/20+time.Millisecond {
		c.t.Errorf("%s: %v of %v is on no line", what, lost, root.Took())
	}
}

// whole says what a tree lacks: the call is its root, all that was done for it is inside of that, and so many agents did something.
func (c *tracedCall) whole(tree *trace.Tree, agents int) string {
	if tree == nil || len(tree.Roots) != 1 || !tree.Roots[0].Call || tree.Roots[0].Name != "tools/call" {
		return "the call is not its only root"
	}
	root, routers, flaw := tree.Roots[0], 0, ""
	goesOn := root.Status() != journal.OK // what was given up ends a little later
	var walk func(n *trace.Node)
	walk = func(n *trace.Node) {
		// An end is noted once the answer has left, whenever a busy machine gets there.
		if n.From.Before(root.From.Add(-5*time.Millisecond)) || !goesOn && n.To.After(root.To.Add(50*time.Millisecond)) {
			flaw = n.Name + " is outside of the call"
		}
		switch n.Name {
		case span.Forward:
			if n.Attributes[span.AttrMethod] == "tools/call" {
				routers++
			}
		case span.Call:
			agents--
			if n.Attributes[span.AttrTask] == span.TaskRuns && c.end != "timed out" && !c.killed {
				flaw = "an agent goes on"
			}
		}
		for _, below := range n.Children {
			walk(below)
		}
	}
	walk(root)
	want := 0
	if c.router {
		want++
	}
	if c.end == "agent" {
		want++
	}
	switch {
	case agents != 0:
		return fmt.Sprintf("%d agents are missing", agents)
	case routers != want:
		return fmt.Sprintf("%d routers, want %d", routers, want)
	}
	return flaw
}

// Where there is no trace, the command says why, and fails.
func TestTraceWithoutTraceContext(t *testing.T) {
	long(t, "TestTraceOfCallsOfAnyLength")
	runtimeDir(t)
	tm := teamOf(t, nil, "demo")
	for args, want := range map[string]string{"--traceparent=none": "sends no trace context", `--meta=traceparent=nonsense`: "no valid trace context"} {
		if o := mcphud(t, "trace", "echo", "message=hi", args, tm.agents["demo"].url); o.code == 0 || !strings.Contains(o.stderr, want) {
			t.Errorf("%s: %+v", args, o)
		}
	}
	out := mcphud(t, "trace", "sleep", "seconds=0.6", tm.agents["demo"].url, "--format", "text").ok(t)
	for _, want := range []string{"client tools/call sleep", "agent demo sleep", "task, polled"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
}
