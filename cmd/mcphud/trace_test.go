package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/session/wire/span"
)

type collected struct {
	TraceID, SpanID, ParentSpanID, Name string
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue string }
	}
	Events []struct{ Name, TimeUnixNano string }

	StartTimeUnixNano, EndTimeUnixNano string
}

// took is how long a span lasted.
func (c collected) took(t *testing.T) time.Duration {
	t.Helper()
	from, err := strconv.ParseInt(c.StartTimeUnixNano, 10, 64)
	to, err2 := strconv.ParseInt(c.EndTimeUnixNano, 10, 64)
	require.NoError(t, errors.Join(err, err2))
	return time.Duration(to - from)
}

// steps are the names of the events, in the order of their times.
func (c collected) steps() (names []string) {
	slices.SortStableFunc(c.Events, func(a, b struct{ Name, TimeUnixNano string }) int {
		return strings.Compare(a.TimeUnixNano, b.TimeUnixNano)
	})
	for _, e := range c.Events {
		names = append(names, e.Name)
	}
	return names
}

func (c collected) attr(key string) string {
	for _, a := range c.Attributes {
		if a.Key == key {
			return a.Value.StringValue
		}
	}
	return ""
}

// collector is the base URL of an OTLP collector, and the spans that it has so far.
func collector(t *testing.T) (url string, spans func() []collected) {
	t.Helper()
	var mu sync.Mutex
	var all []collected
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" {
			return
		}
		var in struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []collected }
			}
		}
		assert.NoError(t, json.Unmarshal(raw, &in))
		mu.Lock()
		defer mu.Unlock()
		for _, rs := range in.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				all = append(all, ss.Spans...)
			}
		}
	}))
	srv.Config.SetKeepAlivesEnabled(false) // the processes are looked at for what they leave, and the exporter keeps its connections
	t.Cleanup(srv.Close)
	return srv.URL, func() []collected {
		mu.Lock()
		defer mu.Unlock()
		return append([]collected(nil), all...)
	}
}

// One trace goes from the client through router, agent and router to the other agent, each span the parent of the next.
func TestO5_OneTraceThroughAllOfThem(t *testing.T) {
	long(t, "TestTraceOfCallsOfAnyLength")
	t.Parallel()
	sink, spans := collector(t)
	env := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + sink}
	tm := &team{t: t, agents: map[string]*served{}, routes: map[string]any{}}
	tm.router = launch(t, routerCommand(t, `{"routes":{}}`, env, "--port", "0"), routerReady)
	tm.start("a", env)
	tm.start("b", env)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for i, how := range [][2]string{{"header", "00f067aa0ba902b7"}, {"meta", "00f067aa0ba902b8"}} {
		parent := "00-" + strings.Replace(trace, "4736", "000"+strconv.Itoa(i), 1) + "-" + how[1] + "-01"
		frame, header := callOfAgent("b", "echo", `{"message":"x"}`), []string{"Traceparent", parent}
		if how[0] == "meta" {
			frame, header = strings.Replace(frame, `"params":{`, `"params":{"_meta":{"traceparent":"`+parent+`"},`, 1), nil
		}
		assert.Equal(t, tm.router.via("a", frame, header...).rpc(t).text(t), "x")
		var got []collected
		require.Eventually(t, "the four spans of "+how[0], func() bool {
			got = nil
			for _, s := range spans() {
				if strings.EqualFold(s.TraceID, parent[3:35]) {
					got = append(got, s)
				}
			}
			return len(got) >= 4
		})
		above := how[1]
		for _, want := range []string{"mcp.router.forward call_agent", "mcp.tool.call call_agent", "mcp.router.forward echo", "mcp.tool.call echo"} {
			found := false
			for _, s := range got {
				if s.Name+" "+s.attr("mcp.tool.name") == want && strings.EqualFold(s.ParentSpanID, above) {
					above, found = s.SpanID, true
					break
				}
			}
			if !found || len(got) != 4 {
				t.Fatalf("by %s: no %s below %s in %+v", how[0], want, above, got)
			}
		}
	}
}

// A call through the router leaves its ten steps: six in the router's span, and four in the agent's, which are between those.
func TestA11_TenStepsOfACall(t *testing.T) {
	t.Parallel()
	sink, spans := collector(t)
	env := []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + sink}
	tm := &team{t: t, agents: map[string]*served{}, routes: map[string]any{}}
	tm.router = launch(t, routerCommand(t, `{"routes":{}}`, env, "--port", "0"), routerReady)
	tm.start("a", env)
	if text := tm.router.via("a", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}`).rpc(t).text(t); text != "x" {
		t.Fatal(text)
	}
	var router, agent collected
	require.Eventually(t, "the spans of router and agent", func() bool {
		for _, s := range spans() {
			switch s.Name {
			case "mcp.router.forward":
				router = s
			case "mcp.tool.call":
				agent = s
			}
		}
		return router.SpanID != "" && agent.SpanID != ""
	})
	assert.Equalf(t, strings.Join(router.steps(), " "), "received validated routed forwarded answered returned", "the router's")
	assert.Equalf(t, strings.Join(agent.steps(), " "), "received queued started finished", "the agent's")
	if r, a := router.Events, agent.Events; len(r) == 6 && len(a) == 4 && (a[0].TimeUnixNano < r[3].TimeUnixNano || a[3].TimeUnixNano > r[5].TimeUnixNano) {
		t.Errorf("the agent's steps are not between the router's: %v %v", r, a)
	}
}

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
		assert.Contains(t, out, want)
	}
}
