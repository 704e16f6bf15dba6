package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/mcphud/mcphud/agentsrv/check"
	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/tenant"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/telemetry"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// sentSpan is one as OTLP's JSON has it.
type sentSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
	Attributes                          []struct {
		Key   string
		Value struct {
			StringValue string
			DoubleValue *float64
		}
	}
	Events []struct{ Name string }
	Status struct {
		Code    json.RawMessage
		Message string
	}
}

func (s sentSpan) attr(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.StringValue
		}
	}
	return ""
}

// sink is a collector.
type sink struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []sentSpan
	metrics map[string]bool
	service string
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{metrics: map[string]bool{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			body, _ = gzip.NewReader(r.Body)
		}
		raw, err := io.ReadAll(body)
		assert.NoError(t, err)
		s.mu.Lock()
		defer s.mu.Unlock()
		switch r.URL.Path {
		case "/v1/traces":
			var in struct {
				ResourceSpans []struct {
					Resource struct {
						Attributes []struct {
							Key   string
							Value struct{ StringValue string }
						}
					}
					ScopeSpans []struct{ Spans []sentSpan }
				}
			}
			if err := json.Unmarshal(raw, &in); err != nil {
				t.Errorf("%s: %v", r.Header.Get("Content-Type"), err)
			}
			for _, rs := range in.ResourceSpans {
				for _, a := range rs.Resource.Attributes {
					if a.Key == "service.name" {
						s.service = a.Value.StringValue
					}
				}
				for _, ss := range rs.ScopeSpans {
					for _, sp := range ss.Spans { // OTLP's JSON writes ids in either case
						sp.TraceID, sp.SpanID, sp.ParentSpanID = strings.ToLower(sp.TraceID), strings.ToLower(sp.SpanID), strings.ToLower(sp.ParentSpanID)
						s.spans = append(s.spans, sp)
					}
				}
			}
		case "/v1/metrics":
			var in metricspb.ExportMetricsServiceRequest
			assert.NoError(t, proto.Unmarshal(raw, &in))
			for _, rm := range in.ResourceMetrics {
				for _, sm := range rm.ScopeMetrics {
					for _, m := range sm.Metrics {
						s.metrics[m.Name] = true
					}
				}
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// named gives the one span of a name.
func (s *sink) named(t *testing.T, name string) sentSpan {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []sentSpan
	for _, sp := range s.spans {
		if sp.Name == name {
			found = append(found, sp)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans %s in %+v", len(found), name, s.spans)
	}
	return found[0]
}

// agent is the front with everything before the queue, on a real listener.
type agent struct {
	t   *testing.T
	tel *Telemetry
	url string
	log *faketest.Buffer

	running sync.WaitGroup // calls that were answered already
	release chan struct{}  // lets the tool later end
}

func newAgent(t *testing.T, o Options) *agent {
	t.Helper()
	a := &agent{t: t, log: new(faketest.Buffer), release: make(chan struct{})}
	e := server.NewMCPServer("fixture", "1", append(front.EngineOptions(), server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true))...)
	const text = `{"type":"object","properties":{"text":{"type":"string"},"tenant_id":{"type":"string"}}}`
	tool := func(name string, h server.ToolHandlerFunc) server.ServerTool {
		return kit.Tool(name, name, "", kit.ReadOnly, h, text, "")
	}
	e.AddTools(
		tool("echo", func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(`"isError":true ` + r.GetString("text", "")), nil
		}),
		tool("fail", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("as asked"), nil
		}),
		tool("later", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			<-a.release
			return mcp.NewToolResultError("late"), nil
		}),
		tool("crash", func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, jsonrpc.Errorf(jsonrpc.KindToolExecution, "the worker died")
		}),
		tool("agent", func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ctx, end := Trace(ctx, "agent.run", map[string]string{"agent.uri": "agentlet://system/x"})
			inner, found := Trace(ctx, "search.vector", map[string]string{"search.engine": "fts5"})
			found(nil)
			_ = inner
			end(nil)
			return mcp.NewToolResultText(telemetry.Traceparent(ctx) + " " + kit.Caller(ctx).Trace), nil
		}),
	)
	e.AddResource(mcp.NewResource("test://a", "a"), func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: "test://a", Text: "A"}}, nil
	})
	e.AddPrompt(mcp.NewPrompt("p"), func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return mcp.NewGetPromptResult("", nil), nil
	})
	find := check.Engine(e)
	o.Known = func(name string) bool { _, ok := find(name); return ok }
	if o.Logger == nil {
		o.Logger = slog.New(Redact(slog.NewJSONHandler(a.log, nil)))
	}
	a.tel = New(o)
	tenants, err := tenant.New(tenant.Options{AutoCreate: true, Seen: Tenant, Limits: tenant.Limits{PerMinute: 1000}})
	require.NoError(t, err)
	auth, err := tenant.NewAuthenticator(tenant.Auth{Token: "s3cret-token"})
	require.NoError(t, err)
	f := front.New(front.Options{
		Engine: e, Logger: o.Logger, Authenticate: auth.Identify, Public: a.tel.Public(), Routes: a.tel.Private(),
		Use: []front.Middleware{a.tel.Middleware(), tenants.Middleware(), check.Middleware(find, nil), a.background, a.tel.Queued(), taken, a.tel.Started()},
	})
	web := httptest.NewServer(f.Handler())
	a.url = web.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		assert.NoError(t, f.Close(ctx))
		web.Close()
		http.DefaultClient.CloseIdleConnections()
		_ = a.tel.Close(ctx) // a collector that is away is what some tests are about
	})
	return a
}

type takenKey struct{}

// taken says that a call in the background is behind Queued, which a call is before it is answered as a task.
func taken(next front.Next) front.Next {
	return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
		if begun, ok := ctx.Value(takenKey{}).(chan struct{}); ok {
			close(begun)
		}
		return next(ctx, x)
	}
}

// background answers calls of the tool later before they ran, as what makes tasks of calls does.
func (a *agent) background(next front.Next) front.Next {
	return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
		if !bytes.Contains(x.Params, []byte(`"later"`)) {
			return next(ctx, x)
		}
		begun := make(chan struct{})
		a.running.Go(func() {
			_, _ = next(context.WithValue(x.Detach(ctx), takenKey{}, begun), x)
		})
		<-begun
		return json.RawMessage(`{"content":[]}`), nil
	}
}

// post sends one frame with header lines "Name: value".
func (a *agent) post(body string, headers ...string) string {
	a.t.Helper()
	r, err := http.NewRequest(http.MethodPost, a.url+"/mcp", strings.NewReader(body))
	require.NoError(a.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer s3cret-token")
	for _, h := range headers {
		k, v, _ := strings.Cut(h, ": ")
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(a.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(a.t, err)
	return string(raw)
}

func (a *agent) call(tool, args string, headers ...string) string {
	a.t.Helper()
	return a.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`, headers...)
}

// get reads a page; token says whether to show one.
func (a *agent) get(path string, token bool) (int, string) {
	a.t.Helper()
	r, err := http.NewRequest(http.MethodGet, a.url+path, nil)
	require.NoError(a.t, err)
	if token {
		r.Header.Set("Authorization", "Bearer s3cret-token")
	}
	res, err := http.DefaultClient.Do(r)
	require.NoError(a.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(a.t, err)
	return res.StatusCode, string(raw)
}

// close stops telemetry, so that everything is at the collector.
func (a *agent) close() {
	a.t.Helper()
	assert.NoError(a.t, a.tel.Close(context.Background()))
}
