package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/traffic"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// hop is a span as trace prints it.
type hop struct {
	Hop, Server, Name, Tool, Status string
	Start                           float64 `json:"start_ms"`
	Took                            float64 `json:"took_ms"`
	Frames                          uint64  `json:"request_seq"`
	Spans                           []hop
}

// shape is a tree without its times: one line for each span, indented.
func shape(spans []hop, indent string) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(indent + strings.TrimSpace(s.Hop+" "+s.Server) + ": " + strings.TrimSpace(s.Name+" "+s.Tool) + "\n" + shape(s.Spans, indent+" "))
	}
	return b.String()
}

// delegatedShape is a call of demo's call_agent through the router, for the tool echo of everything.
const delegatedShape = `client demo: tools/call call_agent
 router demo: mcp.router.forward call_agent
  router demo: auth
  router demo: ingress
  router demo: route
  router demo: wait
  router demo: upstream
   agent demo: mcp.tool.call call_agent
    agent demo: queue
    agent demo: run
     agent demo: call_agent echo
      router everything: mcp.router.forward echo
       router everything: auth
       router everything: ingress
       router everything: route
       router everything: wait
       router everything: upstream
        agent everything: mcp.tool.call echo
         agent everything: queue
         agent everything: run
`

var updateHops = flag.Bool("update-hops", false, "write testdata/hops.jsonl, of which the README's picture is made, anew")

// A call through the router is one tree of all hops, live, and again from the file that was written meanwhile. That of the README's picture
// is such a file.
func TestTraceOfADelegatedCall(t *testing.T) {
	runtimeDir(t)
	tm := teamOf(t, nil, "demo")
	tm.start("everything", nil, "--profile", "everything")
	url, dir := tm.router.url+"/mcps/demo/mcp", t.TempDir()
	call := []string{"trace", "call_agent", "agent=everything", "tool=echo", `args:={"message":"hello"}`, url, "--yes"}
	var tree struct {
		Trace string
		Took  float64 `json:"took_ms"`
		Spans []hop
	}
	// The client calls the agent by the address of the router.
	want := strings.Replace(delegatedShape, "client demo:", "client "+strings.TrimPrefix(tm.router.url, "http://")+":", 1)
	var file string
	for tries := range 10 { // it waits only so long for the hops, which a busy machine holds up
		file = filepath.Join(dir, strconv.Itoa(tries)+".jsonl")
		got := mcphud(t, append(call, "--format", "json", "--journal", file)...).ok(t)
		tree.Spans = nil
		if err := json.Unmarshal([]byte(got), &tree); err != nil {
			t.Fatal(err, got)
		}
		if shape(tree.Spans, "") == want {
			break
		}
	}
	if s := shape(tree.Spans, ""); s != want {
		t.Fatalf("%s", s)
	}
	if c := tree.Spans[0]; c.Took <= 0 || c.Spans[0].Start < 0 || c.Spans[0].Start+c.Spans[0].Took > c.Took+1 || c.Frames == 0 || c.Spans[0].Frames == 0 || c.Spans[0].Frames == c.Frames {
		t.Errorf("%+v", c)
	}
	again := mcphud(t, "trace", file, "--filter", "tool:call_agent", "--format", "json").ok(t)
	var all []struct{ Spans []hop }
	if err := json.Unmarshal([]byte(again), &all); err != nil || len(all) != 1 || shape(all[0].Spans, "") != want {
		t.Errorf("%v %s", err, again)
	}
	text := mcphud(t, "trace", file, "--format", "text").ok(t)
	for _, line := range []string{"client tools/list", "  router call_agent → demo", "agent everything echo", "unaccounted"} {
		assert.Contains(t, text, line)
	}
	if *updateHops {
		raw, err := os.ReadFile(file)
		var kept []byte
		for line := range bytes.Lines(raw) {
			if bytes.Contains(line, []byte(`"trace":"`+tree.Trace+`"`)) {
				kept = append(kept, bytes.ReplaceAll(line, []byte(strings.TrimPrefix(tm.router.url, "http://")), []byte("demo@router"))...)
			}
		}
		if err == nil {
			err = os.WriteFile("../../testdata/hops.jsonl", kept, 0o644)
		}
		require.NoError(t, err)
	}
	kept := mcphud(t, "trace", "../../testdata/hops.jsonl", "--filter", "tool:call_agent", "--format", "json").ok(t)
	if err := json.Unmarshal([]byte(kept), &all); err != nil || len(all) != 1 || shape(all[0].Spans, "") != strings.Replace(delegatedShape, "client demo:", "client demo@router:", 1) {
		t.Errorf("the file of the README's picture is out of date; write it with -update-hops: %v %s", err, kept)
	}
}

// Every command that the manual of traces shows works, in this order.
func TestTraceReadmeCommands(t *testing.T) {
	runtimeDir(t)
	tm := teamOf(t, nil, "demo")
	tm.start("everything", nil, "--profile", "everything")
	dir, ran := t.TempDir(), 0
	for line := range strings.Lines(section(traffic.README, "The hops of a call")) {
		args, ok := strings.CutPrefix(strings.TrimSpace(line), "$ mcphud ")
		if !ok {
			continue
		}
		ran++
		words := shellWord.FindAllString(args, -1)
		for i, w := range words {
			words[i] = strings.Trim(w, "'")
		}
		require.Eventually(t, args+" that shows the router", func() bool { // which a busy machine holds up
			cmd := command(t, words...)
			cmd.Dir = dir
			cmd.Env = append(cmd.Env, "ROUTER_HOST=", "ROUTER_PORT="+strconv.Itoa(portOf(tm.router)), "AGENT_TOKEN=")
			out := finish(t, cmd).ok(t)
			return words[0] != "trace" || strings.Contains(out, "mcp.router.forward")
		})
	}
	assert.Equalf(t, ran, 3, "commands")
}

// With a collector in the environment each request of a command is a span, the first of the trace in which router and agent are.
func TestCallsAreExported(t *testing.T) {
	sink, spans := collector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", sink)
	tm := teamOf(t, nil, "demo")
	mcphud(t, "tools", "call", "fail", "message=x", "--url", tm.agents["demo"].url)
	mcphud(t, "tools", "call", "echo", "message=x", "--url", tm.router.url+"/mcps/demo/mcp").ok(t)
	const long = 700 * time.Millisecond // a call that becomes a task meanwhile
	mcphud(t, "tools", "call", "sleep", "seconds=0.7", "--url", tm.router.url+"/mcps/demo/mcp").ok(t)
	named := func(name, tool string) (out collected) {
		for _, s := range spans() {
			if s.Name == name && (s.attr("mcp.tool.name") == tool || s.attr("gen_ai.tool.name") == tool) {
				out = s
			}
		}
		return out
	}
	require.Eventually(t, "the spans of client, router and agent", func() bool {
		return named("tools/call echo", "echo").SpanID != "" && named("mcp.router.forward", "echo").SpanID != "" && named("mcp.tool.call", "echo").SpanID != ""
	})
	call, router := named("tools/call echo", "echo"), named("mcp.router.forward", "echo")
	if !strings.EqualFold(router.ParentSpanID, call.SpanID) || !strings.EqualFold(router.TraceID, call.TraceID) || call.ParentSpanID != "" || call.attr("mcp.method.name") != "tools/call" || call.attr("gen_ai.operation.name") != "execute_tool" {
		t.Errorf("%+v\n%+v", call, router)
	}
	if slept := named("tools/call sleep", "sleep"); slept.SpanID == "" || slept.took(t) < long {
		t.Errorf("the call that became a task: %v %+v", slept.took(t), slept)
	}
	require.Eventually(t, "what the agent did for it", func() bool {
		ran := named("mcp.tool.call", "sleep")
		return ran.SpanID != "" && ran.TraceID == named("tools/call sleep", "sleep").TraceID && ran.took(t) >= long
	})
	if failed := named("tools/call fail", "fail"); failed.attr("error.type") != "tool_error" {
		t.Errorf("%+v", failed)
	}
}

func TestTraceUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(`{"seq":1,"time":"2026-11-22T12:00:00Z","server":"s","dir":"out","kind":"request","method":"ping","id":"1","size":40,"frame":{"jsonrpc":"2.0","id":1,"method":"ping"}}`+"\n"), 0o600))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"trace", "no-such-file.jsonl"}, "no-such-file.jsonl"},
		{[]string{"trace", "echo", "message=x"}, "no server"},
		{[]string{"trace", file, "--args", "{}"}, "no server was named"},
		{[]string{"trace", file, "--filter", "status:okay"}, "column"},
		{[]string{"trace", file, "--trace", "4bf9"}, "no trace 4bf9"},
	} {
		mcphud(t, append(c.args, "--format", "json")...).exits(t, 1, c.want)
	}
	if o := mcphud(t, "trace", file, "--format", "json"); o.code != 0 || o.out != "[]\n" || !strings.Contains(o.stderr, "no request carries a trace context") {
		t.Errorf("%+v", o)
	}
}

// The times of all hops add up to the time of the client, but for the ways between them.
func TestBudgetHopsAddUp(t *testing.T) {
	budget.Skip(t)
	runtimeDir(t)
	tm := teamOf(t, nil, "demo")
	tm.start("everything", nil, "--profile", "everything")
	j := journal.New(journal.Options{Dir: t.TempDir()})
	defer j.Close()
	m := session.NewManager(session.Options{Journal: j, Tracing: session.TraceAll, HealthInterval: -1})
	defer m.Close()
	joined := tap.JoinTraces(t.Context(), j, m.BeganTrace)
	defer joined.Close()
	s, err := m.Register(config.Server{Name: "demo", Transport: config.HTTP, URL: tm.router.url + "/mcps/demo/mcp"})
	if err == nil {
		err = s.Connect(context.Background())
	}
	require.NoError(t, err)
	for _, c := range []struct {
		name, tool, args string
		spans            int
	}{
		{"a call through the router", "echo", `{"text":"hello"}`, 10},
		{"a call of call_agent through the router", "call_agent", `{"agent":"everything","tool":"echo","args":{"message":"hello"}}`, 20},
	} {
		got := budget.Best(func() time.Duration {
			best := time.Hour
			for range 20 {
				r, err := s.CallTool(t.Context(), c.tool, []byte(c.args), session.CallOptions{})
				require.NoError(t, err)
				q, _ := j.Get(r.Request)
				g := trace.Find(j, q.Trace)
				var tree *trace.Tree
				require.Eventually(t, "the spans of the call", func() bool {
					g.Update(j)
					tree = trace.Of(j, g)
					return len(tree.Rows()) >= c.spans && len(tree.Roots) == 1
				})
				best = min(best, tree.Roots[0].Lost())
			}
			return best
		})
		budget.Ceiling(t, "hops: "+c.name+": the client's total beyond the times of all hops", got, 2*time.Millisecond)
	}
}
