package agentsrv

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/budget"
)

// bareEcho is an mcp-go server with nothing but the tool echo, on mcp-go's own transport.
func bareEcho(t *testing.T) string {
	engine := server.NewMCPServer("bare", "1")
	engine.AddTool(mcp.NewTool("echo", mcp.WithString("message", mcp.Required())), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, err := r.RequireString("message")
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(text), nil
	})
	s := httptest.NewServer(server.NewStreamableHTTPServer(engine, server.WithStateful(true)))
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}

// sessionAt initializes, with a token if there is one, and returns the header line of the session.
func sessionAt(t *testing.T, url, token string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return "Mcp-Session-Id: " + res.Header.Get("Mcp-Session-Id")
}

// TestBudgetAgentEcho is a call of echo, with the token, the limits, the checks, the queue, the metrics and a log line of
// every call, against a bare mcp-go server.
func TestBudgetAgentEcho(t *testing.T) {
	budget.Skip(t)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	a, err := New(Options{
		Token: "sesame", Concurrency: 4, RateLimit: 1_000_000_000, TenantConcurrency: 10_000,
		Logger: slog.New(slog.NewJSONHandler(null, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer a.Close(context.Background())
	bare := bareEcho(t)
	const n = 6400
	load := func(url string, header ...string) budget.Load {
		addr, _, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
		return budget.Load{Addr: addr, Path: "/mcp", Header: header, Want: "hello", Calls: n, Body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}`}
	}
	ours := load(a.URL(), "Authorization: Bearer sesame", sessionAt(t, a.URL(), "sesame"))
	theirs := load(bare, sessionAt(t, bare, ""))
	for _, clients := range []int{1, 16, 64} {
		ours.Clients, theirs.Clients = clients, clients
		got, base := budget.Pair(func() time.Duration { return ours.Run(t) }, func() time.Duration { return theirs.Run(t) })
		budget.Ratio(t, fmt.Sprintf("%d echo calls, %d clients: the agent's time against a bare mcp-go server", n, clients), got, base, 1/0.85)
		t.Logf("%d clients: %.0f against %.0f calls/s", clients, n/got.Seconds(), n/base.Seconds())
	}
}
