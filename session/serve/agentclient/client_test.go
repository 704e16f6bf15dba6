package agentclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/telemetry"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// router answers like one, and keeps the last request.
type router struct {
	mu     sync.Mutex
	path   string
	header http.Header
	body   string
	conns  atomic.Int64
}

func (r *router) seen() (path string, h http.Header, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.path, r.header, r.body
}

// result answers any request with this result.
func result(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		e, _ := jsonrpc.Scan(raw)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(jsonrpc.NewResult(e.ID, []byte(text)))
	}
}

// serve is a router whose answers answer makes, and a client of it.
func serve(t *testing.T, o Options, answer http.HandlerFunc) (*router, *Client) {
	t.Helper()
	r := &router{}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		raw, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.path, r.header, r.body = req.Method+" "+req.RequestURI, req.Header.Clone(), string(raw)
		r.mu.Unlock()
		req.Body = io.NopCloser(strings.NewReader(string(raw)))
		answer(w, req)
	}))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			r.conns.Add(1)
		}
	}
	srv.Start()
	u, err := url.Parse(srv.URL)
	require.NoError(t, err)
	o.RouterPort, _ = strconv.Atoi(u.Port())
	c, err := New(o)
	require.NoError(t, err)
	t.Cleanup(func() {
		c.Close()
		srv.CloseClientConnections()
		srv.Close()
	})
	return r, c
}

// plain is the request of the design: nothing but the two headers, and a random UUID.
var plain = regexp.MustCompile(`^\{"jsonrpc":"2.0","id":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}","method":"tools/call","params":\{"arguments":\{"a":9007199254740993,"b":"<&>"\},"name":"add"\}\}$`)

func TestR15_ARequestIsOnePost(t *testing.T) {
	r, c := serve(t, Options{AuthToken: "s3cret"}, result(`{"content":[{"type":"odd","n":9007199254740993}],"x":1}`))
	got, err := c.CallTool(t.Context(), "b.one", "add", json.RawMessage(`{"a":9007199254740993,"b":"<&>"}`))
	if err != nil || string(got) != `{"content":[{"type":"odd","n":9007199254740993}],"x":1}` {
		t.Errorf("%s %v", got, err)
	}
	path, h, body := r.seen()
	if path != "POST /mcps/b.one/mcp" || !plain.MatchString(body) {
		t.Errorf("%s %s", path, body)
	}
	h.Del("Content-Length") // of the transport, as Host is
	if len(h) != 2 || h.Get("Content-Type") != "application/json" || h.Get("Authorization") != "Bearer s3cret" {
		t.Errorf("headers %v", h)
	}
	first := body
	if _, err := c.CallTool(t.Context(), "b.one", "add", nil); err != nil {
		t.Error(err)
	}
	if _, _, body = r.seen(); body[:60] == first[:60] || !strings.Contains(body, `"arguments":{}`) {
		t.Errorf("%s after %s", body, first)
	}
	assert.Equalf(t, r.conns.Load(), 1, "connections for two requests")
}

func TestR16_TheAPI(t *testing.T) {
	pages := map[string]string{
		"tools/list":     `{"tools":[{"name":"one","inputSchema":{"type":"object"}}],"nextCursor":"2"}`,
		"resources/list": `{"resources":[{"uri":"x://1","name":"x"}]}`,
		"resources/read": `{"contents":[{"uri":"x://1","text":"first"},{"uri":"x://2","text":"second"}]}`,
	}
	_, c := serve(t, Options{}, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		e, _ := jsonrpc.Scan(raw)
		out := pages[e.Method]
		if strings.Contains(string(e.Params), `"cursor":"2"`) {
			out = `{"tools":[{"name":"two","inputSchema":{"type":"object"}}]}`
		}
		if strings.Contains(string(e.Params), "none") {
			out = `{"contents":[]}`
		}
		result(out)(w, &http.Request{Body: io.NopCloser(strings.NewReader(string(raw)))})
	})
	ctx := t.Context()
	if tools, err := c.ListTools(ctx, "b"); err != nil || len(tools) != 2 || tools[0].Name != "one" || tools[1].Name != "two" {
		t.Errorf("%v %v", tools, err)
	}
	if all, err := c.ListResources(ctx, "b"); err != nil || len(all) != 1 || all[0].URI != "x://1" {
		t.Errorf("%v %v", all, err)
	}
	if text, err := c.ReadResource(ctx, "b", "x://1"); err != nil || text != "first" {
		t.Errorf("%q %v", text, err)
	}
	if text, err := c.ReadResource(ctx, "b", "x://none"); err != nil || text != "" {
		t.Errorf("%q %v", text, err)
	}
	pages["tools/list"] = `{"tools":[],"nextCursor":"1"}` // and again
	if _, err := c.ListTools(ctx, "b"); failure.KindOf(err) != failure.Protocol {
		t.Error(err)
	}
}

func TestAgentURL(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, "http://127.0.0.1:8088/mcps/b/mcp"},
		{Options{RouterHost: "localhost", RouterPort: 8080}, "http://127.0.0.1:8080/mcps/b/mcp"},
		{Options{RouterHost: "0.0.0.0"}, "http://127.0.0.1:8088/mcps/b/mcp"},
		{Options{RouterHost: "router.example", RouterPort: 1}, "http://router.example:1/mcps/b/mcp"},
		{Options{RouterHost: "[::1]"}, "http://[::1]:8088/mcps/b/mcp"},
		{Options{RouterHost: "::1"}, "http://[::1]:8088/mcps/b/mcp"},
		{Options{RouterHost: "http://localhost"}, "http://127.0.0.1:8088/mcps/b/mcp"},
		{Options{RouterHost: "HTTPS://router.example"}, "https://router.example:8088/mcps/b/mcp"},
		{Options{RouterHost: "https://localhost", RouterPort: 443}, "https://localhost:443/mcps/b/mcp"},
		{Options{RouterHost: "https://[::1]"}, "https://[::1]:8088/mcps/b/mcp"},
		{Options{RouterHost: "https://::1"}, "https://[::1]:8088/mcps/b/mcp"},
		{Options{RouterHost: "https://[::]"}, "https://127.0.0.1:8088/mcps/b/mcp"},
	} {
		client, err := New(c.o)
		if err != nil || client.AgentURL("b") != c.want {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	for _, o := range []Options{
		{RouterHost: "user:secret@host"},
		{RouterHost: "https://user:secret@host"},
		{RouterHost: "https://host/"},
		{RouterHost: "https://host?x"},
		{RouterHost: "https://host:443"},
		{RouterHost: "https://"},
		{RouterHost: "https:host"},
		{RouterHost: "://host"},
		{RouterHost: "ftp://host"},
		{RouterHost: "https://http://host"},
		{RouterHost: "https://[::1]:1"},
		{RouterHost: "host/path"},
		{RouterHost: "host:1"},
		{RouterHost: "a b"},
		{RouterHost: "ho?st"},
		{RouterHost: "h#"},
		{RouterHost: "[x]]"},
		{RouterPort: -1},
		{RouterPort: 65536},
		{AuthToken: "se cret"},
		{AuthToken: "secret\r\nX: y"},
	} {
		if _, err := New(o); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Nothing that an agent can be called leads anywhere but to the router.
func TestNamesOfAgentsAreChecked(t *testing.T) {
	r, c := serve(t, Options{}, result(`{}`))
	for _, name := range []string{"", "../b", "b/mcp?x=", "b%2f", "b#", "@host", "b\r\nX: y", ".b", "-b", "é", strings.Repeat("a", 65)} {
		if _, err := c.Request(t.Context(), name, "ping", nil); failure.KindOf(err) != failure.Usage {
			t.Errorf("%q: %v", name, err)
		}
	}
	assert.Equalf(t, r.conns.Load(), 0, "connections")
}

func TestO5_TraceAndHopsGoAlong(t *testing.T) {
	r, c := serve(t, Options{}, result(`{}`))
	id, _ := trace.TraceIDFromHex("4bf92f3577b34da6a3ce929d0e0e4736")
	span, _ := trace.SpanIDFromHex("00f067aa0ba902b7")
	ctx := trace.ContextWithSpanContext(t.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: span, TraceFlags: 1}))
	parent := telemetry.Traceparent(ctx)
	for _, p := range []struct{ params, want string }{
		{`{}`, `{"_meta":{"traceparent":"` + parent + `"}}`},
		{`{"a":1}`, `{"a":1,"_meta":{"traceparent":"` + parent + `"}}`},
		{`{"a":1,"_meta":{}}`, `{"a":1,"_meta":{"traceparent":"` + parent + `"}}`},
		{`{"_meta":{"k":[1]},"a":1}`, `{"_meta":{"k":[1],"traceparent":"` + parent + `"},"a":1}`},
		{`{"_meta":{"traceparent":"mine"}}`, `{"_meta":{"traceparent":"mine"}}`},
	} {
		if _, err := c.Request(WithHops(ctx, 3), "b", "x", json.RawMessage(p.params)); err != nil {
			t.Error(err)
		}
		_, h, body := r.seen()
		if e, err := jsonrpc.Scan([]byte(body)); err != nil || string(e.Params) != p.want {
			t.Errorf("%s became %s, %v", p.params, body, err)
		}
		if h.Get("Traceparent") != parent || h.Get("Mcphud-Hops") != "3" {
			t.Errorf("%v", h)
		}
	}
	if _, err := c.Request(ctx, "b", "x", []int{1}); failure.KindOf(err) != failure.Usage {
		t.Errorf("an array as params: %v", err)
	}
}

func TestWhatCanBeWrongWithAnAnswer(t *testing.T) {
	const token = "t0p-secret"
	other := jsonrpc.NewResult([]byte("1"), nil)
	for name, c := range map[string]struct {
		status       int
		body         string
		kind         failure.Kind
		code         int64
		says, advice string
	}{
		"agent's error": {200, `{"jsonrpc":"2.0","id":$,"error":{"code":-32602,"message":"no ` + token + `","data":{"k":"` + token + `"}}}`, failure.RpcError, -32602, "no ***", ""},
		"no such agent": {404, `{"jsonrpc":"2.0","id":$,"error":{"code":-32601,"message":"Agent 'b' not found"}}`, failure.RpcError, -32601, "Agent 'b' not found", "lists the agents"},
		"loop":          {508, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"too many routers"}}`, failure.RpcError, -32000, "too many routers", "in a loop"},
		"no token":      {401, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Unauthorized"}}`, failure.OAuth, -32000, "Unauthorized", "AGENT_TOKEN"},
		"forbidden":     {403, `{"error":"forbidden","detail":"Agent 'a' is not authorized, ` + token + `"}`, failure.OAuth, 0, "403 Forbidden: {", "allowedTargets"},
		"unreachable":   {502, `{"jsonrpc":"2.0","id":$,"error":{"code":-32603,"message":"Failed to reach agent"}}`, failure.RpcError, -32603, "Failed to reach", "check that the agent is running"},
		"redirect":      {307, ``, failure.Transport, 0, "307", ""},
		"html":          {200, `<html>`, failure.Protocol, 0, "not a JSON-RPC message", "check that a router"},
		"nothing":       {200, ``, failure.Protocol, 0, "not a JSON-RPC message", ""},
		"another id":    {200, string(other), failure.Protocol, 0, "another request", ""},
		"a request":     {200, `{"jsonrpc":"2.0","id":1,"method":"x"}`, failure.Protocol, 0, "another request", ""},
		"too large":     {200, `{"jsonrpc":"2.0","id":$,"result":"` + strings.Repeat("x", 4096) + `"}`, failure.Protocol, 0, "larger than", "request less"},
		"bad error":     {200, `{"jsonrpc":"2.0","id":$,"error":{"code":"x"}}`, failure.Protocol, 0, "malformed error", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, client := serve(t, Options{AuthToken: token, MaxBody: 2048}, func(w http.ResponseWriter, r *http.Request) {
				raw, _ := io.ReadAll(r.Body)
				e, _ := jsonrpc.Scan(raw)
				w.Header().Set("Location", "http://127.0.0.1:1/")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, strings.Replace(c.body, "$", string(e.ID), 1))
			})
			_, err := client.Request(t.Context(), "b", "tools/call", nil)
			var e *failure.Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			if e.Kind != c.kind || e.Status != c.status && e.Status != 0 || !strings.Contains(err.Error(), c.says) || !strings.Contains(e.Next, c.advice) || strings.Contains(err.Error()+string(e.Data), token) {
				t.Errorf("%s %d: %v (next %q, data %s)", e.Kind, e.Status, err, e.Next, e.Data)
			}
			if (c.code != 0) != (e.Code != nil) || e.Code != nil && *e.Code != c.code {
				t.Errorf("code %v", e.Code)
			}
		})
	}
}

func TestCancelEndsTheRequest(t *testing.T) {
	arrived, gone := make(chan struct{}, 2), make(chan struct{}, 2)
	_, c := serve(t, Options{}, func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := c.Request(ctx, "b", "ping", nil)
		done <- err
	}()
	<-arrived
	cancel()
	if err := <-done; failure.KindOf(err) != failure.Interrupted || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	select {
	case <-gone:
	case <-time.After(30 * time.Second):
		t.Error("the router still waits")
	}
	ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Request(ctx, "b", "ping", nil); failure.KindOf(err) != failure.Timeout {
		t.Error(err)
	}
}

func TestNoRouter(t *testing.T) {
	port := nettest.FreePort(t)
	c, err := New(Options{RouterPort: port, AuthToken: "s3cret"})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.ListTools(t.Context(), "b")
	if failure.KindOf(err) != failure.Transport || !strings.Contains(err.Error(), fmt.Sprintf("no router listens at 127.0.0.1:%d; start one with mcphud router", port)) || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
	}
}

// Under load as many connections are kept as agents need: 64 callers at a time need 64, and the next 64 none.
func TestF1_ConnectionsAreKeptUnderLoad(t *testing.T) {
	const callers = 64
	var together sync.WaitGroup
	r, c := serve(t, Options{}, func(w http.ResponseWriter, req *http.Request) {
		together.Done()
		together.Wait() // so that each needs a connection of its own
		result(`{"content":[]}`)(w, req)
	})
	for range 3 {
		together.Add(callers)
		var wave sync.WaitGroup
		for range callers {
			wave.Go(func() {
				if _, err := c.CallTool(t.Context(), "b", "add", nil); err != nil {
					t.Error(err)
				}
			})
		}
		wave.Wait()
		if n := r.conns.Load(); n != callers {
			t.Fatalf("%d connections for waves of %d requests", n, callers)
		}
	}
	if idleTime != 60*time.Second {
		t.Errorf("they are kept for %v", idleTime)
	}
}
