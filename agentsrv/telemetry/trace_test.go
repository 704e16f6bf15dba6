package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/serve/telemetry"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

const (
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID  = "00f067aa0ba902b7"
	parent  = "00-" + traceID + "-" + spanID + "-01"
)

func TestO1_O2_Spans(t *testing.T) {
	s := newSink(t)
	a := newAgent(t, Options{Name: "named-agent", OTLP: s.URL})
	a.call("agent", `{"tenant_id":"acme"}`)
	a.post(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"test://a"}}`)
	a.post(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"p"}}`)
	a.close()

	call, run, search := s.named(t, "mcp.tool.call"), s.named(t, "agent.run"), s.named(t, "search.vector")
	if run.ParentSpanID != call.SpanID || search.ParentSpanID != run.SpanID || call.ParentSpanID != "" {
		t.Errorf("parents: %+v %+v %+v", call, run, search)
	}
	if call.TraceID == "" || run.TraceID != call.TraceID || search.TraceID != call.TraceID {
		t.Errorf("traces: %q %q %q", call.TraceID, run.TraceID, search.TraceID)
	}
	if call.attr("mcp.tool.name") != "agent" || call.attr("mcp.tenant_id") != "acme" || search.attr("search.engine") != "fts5" {
		t.Errorf("%+v %+v", call, search)
	}
	read, get := s.named(t, "mcp.resource.read"), s.named(t, "mcp.prompt.get")
	if read.attr("mcp.resource.uri") != "test://a" || read.attr("mcp.tenant_id") != "default" || get.attr("mcp.prompt.name") != "p" || read.TraceID == get.TraceID {
		t.Errorf("%+v %+v", read, get)
	}
	if s.service != "named-agent" {
		t.Errorf("service %q", s.service)
	}
}

func TestO2_SessionIsHashedAndUserNamed(t *testing.T) {
	s := newSink(t)
	tel := New(Options{OTLP: s.URL})
	m := tel.Middleware()(func(context.Context, *front.Exchange) (json.RawMessage, error) { return nil, errors.New("x") })
	x := &front.Exchange{Method: "tools/call", Params: []byte(`{"name":"t"}`), Caller: kit.Identity{Session: "0a1b2c3d", User: "u1", Tenant: "acme"}}
	_, _ = m(t.Context(), x)
	require.NoError(t, tel.Close(context.Background()))
	got := s.named(t, "mcp.tool.call")
	if got.attr("mcp.session_id") != "0a1b2c3d" || got.attr("mcp.user_id") != "u1" || got.attr("mcp.tenant_id") != "acme" || got.attr("error.type") != "internal" {
		t.Errorf("%+v", got)
	}
	if x.Caller.Trace != got.TraceID {
		t.Errorf("%q is not %q", x.Caller.Trace, got.TraceID)
	}
}

// Over HTTP the session's attribute is what anyone computes from its id.
func TestO2_SessionOverHTTP(t *testing.T) {
	s := newSink(t)
	a := newAgent(t, Options{OTLP: s.URL})
	r, _ := http.NewRequest(http.MethodPost, a.url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer s3cret-token")
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	_ = res.Body.Close()
	id := res.Header.Get("Mcp-Session-Id")
	a.call("echo", `{}`, "Mcp-Session-Id: "+id)
	a.close()
	if got := s.named(t, "mcp.tool.call").attr("mcp.session_id"); id == "" || got != short(id) {
		t.Errorf("%q for %q", got, id)
	}
}

func TestO5_IncomingTraceparent(t *testing.T) {
	for name, send := range map[string]func(a *agent) string{
		"header": func(a *agent) string { return a.call("agent", `{}`, "traceparent: "+parent) },
		"_meta": func(a *agent) string {
			return a.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"agent","arguments":{},"_meta":{"traceparent":"` + parent + `"}}}`)
		},
		"both": func(a *agent) string { // the header is from the nearest hop
			return a.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"agent","arguments":{},"_meta":{"traceparent":"00-`+traceID+`-1111111111111111-01"}}}`, "traceparent: "+parent)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSink(t)
			a := newAgent(t, Options{OTLP: s.URL})
			body := send(a)
			a.close()
			call, run := s.named(t, "mcp.tool.call"), s.named(t, "agent.run")
			if call.TraceID != traceID || call.ParentSpanID != spanID || run.TraceID != traceID {
				t.Errorf("%+v", call)
			}
			// What the handler sends on belongs to its own span, and the caller's identity has the trace.
			if want := "00-" + traceID + "-" + run.SpanID + "-01 " + traceID; !strings.Contains(body, want) {
				t.Errorf("%s has no %s", body, want)
			}
			if !strings.Contains(a.log.String(), `"trace_id":"`+traceID+`"`) {
				t.Errorf("log: %s", a.log)
			}
		})
	}
}

// Without a collector there are no spans, and still one trace id from the caller to the log and to the next server.
func TestO5_O6_TraceIDWithoutCollector(t *testing.T) {
	a := newAgent(t, Options{})
	if body := a.call("agent", `{}`, "traceparent: "+parent); !strings.Contains(body, "00-"+traceID+"-") || strings.Contains(body, spanID) {
		t.Errorf("%s", body)
	}
	for _, bad := range []string{"", "00-" + strings.Repeat("0", 32) + "-" + spanID + "-01", "garbage", strings.Repeat("x", 9000), "ff-" + traceID + "-" + spanID + "-01"} {
		if body := a.call("agent", `{}`, "traceparent: "+bad); strings.Contains(body, traceID) || strings.Contains(body, strings.Repeat("0", 32)) {
			t.Errorf("%.50q: %s", bad, body)
		}
	}
}

func TestA11_ThePipelineShowsInTheSpan(t *testing.T) {
	s := newSink(t)
	a := newAgent(t, Options{OTLP: s.URL})
	a.call("echo", `{}`)
	a.close()
	got := s.named(t, "mcp.tool.call")
	var events []string
	for _, e := range got.Events {
		events = append(events, e.Name)
	}
	if strings.Join(events, " ") != "received queued started finished" {
		t.Errorf("%q", events)
	}
	for _, at := range got.Attributes {
		if at.Key == "mcp.queue.wait_ms" && at.Value.DoubleValue != nil {
			return
		}
	}
	t.Errorf("no wait in %+v", got.Attributes)
}

// A collector that is away, hangs or answers nonsense costs calls nothing, and Close little.
func TestO1_CollectorIsAway(t *testing.T) {
	stuck, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and never answers
	require.NoError(t, err)
	defer stuck.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	defer broken.Close()
	for name, url := range map[string]string{"refuses": "http://127.0.0.1:1", "hangs": "http://" + stuck.Addr().String(), "breaks": broken.URL, "no URL": "://", "other scheme": "file:///etc"} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, Options{OTLP: url})
			began := time.Now()
			for range 50 {
				if body := a.call("echo", `{"text":"hello"}`); !strings.Contains(body, "hello") {
					t.Fatal(body)
				}
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("50 calls took %v", took)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
			defer cancel()
			began = time.Now()
			_ = a.tel.Close(ctx)
			if took := time.Since(began); took > 8*time.Second {
				t.Errorf("Close took %v", took)
			}
		})
	}
}

func TestO3_OTelMetricNames(t *testing.T) {
	s := newSink(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", s.URL)
	a := newAgent(t, Options{})
	a.call("fail", `{}`)
	a.tel.Cache(true)
	a.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range []string{"mcp.tool.duration_ms", "mcp.tool.error_rate", "mcp.resource.cache_hit_rate", "mcp.tool.calls", "mcp.tool.errors"} {
		if !s.metrics[name] {
			t.Errorf("no %s in %v", name, s.metrics)
		}
	}
	if len(s.spans) != 1 {
		t.Errorf("the environment's collector got %d spans", len(s.spans))
	}
}

func TestTraceOutsideOfARequest(t *testing.T) {
	ctx, end := Trace(context.Background(), "agent.run", nil)
	end(errors.New("x"))
	if telemetry.Traceparent(ctx) != "" || trace.SpanFromContext(ctx).IsRecording() {
		t.Error("a span without a request")
	}
}

func TestCloseWithoutUse(t *testing.T) {
	tel := New(Options{OTLP: "http://127.0.0.1:1"})
	assert.NoError(t, tel.Close(context.Background()))
	tel.Cache(true)
	m := tel.Middleware()(func(context.Context, *front.Exchange) (json.RawMessage, error) { return json.RawMessage("1"), nil })
	if raw, err := m(t.Context(), &front.Exchange{Method: "tools/call"}); string(raw) != "1" || err != nil {
		t.Error(raw, err)
	}
}
