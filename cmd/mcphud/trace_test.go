package main

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
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
		if err := json.Unmarshal(raw, &in); err != nil {
			t.Error(err)
		}
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
		if text := tm.router.via("a", frame, header...).rpc(t).text(t); text != "x" {
			t.Error(text)
		}
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
	if got := strings.Join(router.steps(), " "); got != "received validated routed forwarded answered returned" {
		t.Errorf("the router's: %s", got)
	}
	if got := strings.Join(agent.steps(), " "); got != "received queued started finished" {
		t.Errorf("the agent's: %s", got)
	}
	if r, a := router.Events, agent.Events; len(r) == 6 && len(a) == 4 && (a[0].TimeUnixNano < r[3].TimeUnixNano || a[3].TimeUnixNano > r[5].TimeUnixNano) {
		t.Errorf("the agent's steps are not between the router's: %v %v", r, a)
	}
}
