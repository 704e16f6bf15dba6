package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// older is a server that speaks HTTP+SSE alone, by mcp-go. seen gets the headers of its streams, and nil for a call that waits.
func older(t *testing.T, seen chan http.Header) (url string, stop func()) {
	t.Helper()
	over := make(chan struct{})
	s := server.NewMCPServer("older", "1.0.0", server.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("echo", mcp.WithString("text")), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.Params.Meta != nil && r.Params.Meta.ProgressToken != nil {
			_ = server.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": r.Params.Meta.ProgressToken, "progress": 1})
			time.Sleep(time.Second) // mcp-go sends notifications by another goroutine than results
		}
		if text := r.GetString("text", ""); text == "wait" {
			seen <- nil
			<-over // mcp-go does not tell a tool that its client is gone
		}
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	h := server.NewSSEServer(s)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			seen <- r.Header.Clone()
		}
		if r.URL.Path == "/sse" && r.Method == http.MethodPost { // as servers of the TypeScript SDK do
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, "<pre>Cannot POST /sse</pre>")
			return
		}
		h.ServeHTTP(w, r)
	}))
	stop = sync.OnceFunc(func() {
		web.CloseClientConnections()
		close(over)
		web.Close()
	})
	t.Cleanup(stop)
	return web.URL + "/sse", stop
}

// A server of HTTP+SSE is served like any other: found out, or as the route says, at its own address and among all.
func TestR3_S5_ServersOfHTTPAndSSE(t *testing.T) {
	t.Parallel()
	seen := make(chan http.Header, 100)
	url, stop := older(t, seen)
	f := start(t, Options{},
		route("auto", url, `"headers":{"X-Key":"secret"}`), route("sse", url, `"transport":"sse"`), route("plain", url, `"transport":"http"`))
	for _, agent := range []string{"auto", "sse"} {
		path := "/mcps/" + agent + "/mcp"
		id := f.open(t, path)
		f.post(t, path, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", id)
		if got := f.post(t, path, listTools, "Mcp-Session-Id", id); got.status != 200 || !strings.Contains(got.body, `"name":"echo"`) {
			t.Errorf("%s: %+v", agent, got)
		}
		const body = `{"jsonrpc":"2.0","id":"é","method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},"_meta":{"progressToken":"mine"}}}`
		got := f.post(t, path, body, "Mcp-Session-Id", id, "Accept", accept)
		if !strings.Contains(got.body, `"id":"é"`) || !strings.Contains(got.body, `"progressToken":"mine"`) || !strings.Contains(got.body, `"text":"hello"`) {
			t.Errorf("%s: %+v", agent, got)
		}
		if got := f.post(t, path, callEcho); got.status != 200 || !strings.Contains(got.body, `"result"`) {
			t.Errorf("%s without a session: %+v", agent, got)
		}
		if got := f.send(t, "DELETE", path, "", "Mcp-Session-Id", id); got.status != 204 {
			t.Errorf("%s: %+v", agent, got)
		}
	}
	if h := <-seen; h.Get("X-Key") != "secret" {
		t.Errorf("the route's headers are not sent: %v", h)
	}
	if got := f.post(t, "/mcps/plain/mcp", initialize); got.status != 404 || !strings.Contains(got.body, "Cannot POST") {
		t.Errorf("transport http: %+v", got)
	}
	all := f.open(t, "/mcp")
	if got := f.post(t, "/mcp", `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"mcp__sse__echo","arguments":{"text":"all"}}}`, "Mcp-Session-Id", all); !strings.Contains(got.body, `"text":"all"`) {
		t.Errorf("among all: %+v", got)
	}

	// A call whose stream breaks is answered at once.
	id := f.open(t, "/mcps/sse/mcp")
	failed := make(chan response, 1)
	go func() {
		failed <- f.post(t, "/mcps/sse/mcp", `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"echo","arguments":{"text":"wait"}}}`, "Mcp-Session-Id", id)
	}()
	for h := range seen {
		if h == nil { // the call is with the server
			break
		}
	}
	stop()
	if got := <-failed; got.status != 502 || !strings.Contains(got.body, "stream") {
		t.Errorf("a broken stream: %+v", got)
	}
}

// What cannot be spoken to is said to be that, in the words of JSON-RPC.
func TestR3_D6_WhatIsNoServerIsSaid(t *testing.T) {
	for what, h := range map[string]http.HandlerFunc{
		"no event stream": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
			_, _ = fmt.Fprint(w, "<h1>welcome</h1>")
		},
		"without its endpoint event": func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				http.NotFound(w, r)
				return
			}
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprint(w, "data: {}\n\n")
		},
	} {
		web := httptest.NewServer(h)
		t.Cleanup(web.Close)
		f := start(t, Options{}, route("page", web.URL+"/sse?key=hunter2", ""))
		got := f.post(t, "/mcps/page/mcp", initialize)
		if got.status != 502 || !strings.Contains(got.body, `"error":{"code":-32603`) || !strings.Contains(got.body, "is not an MCP server: it answers POST with 40") || strings.Contains(got.body, "hunter2") {
			t.Errorf("%s: %+v", what, got)
		}
	}
}

// A server that opens its stream and says nothing is waited for as long as the route says.
func TestR3_E14_SilentEventStream(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(web.Close)
	f := start(t, Options{}, route("silent", web.URL+"/sse", `"transport": "sse", "timeout": "300ms"`))
	began := time.Now()
	got := f.post(t, "/mcps/silent/mcp", initialize)
	if took := time.Since(began); got.status != 504 || !strings.Contains(got.body, `"code":-32003`) || took > 10*time.Second {
		t.Errorf("after %v: %+v", took, got)
	}
}
