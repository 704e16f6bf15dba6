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

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
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

// sessionAt initializes, with a token if there is one, and returns the headers of the session.
func sessionAt(t *testing.T, url, token string) http.Header {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Authorization", "Bearer "+token)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_ = res.Body.Close()
	header.Set("Mcp-Session-Id", res.Header.Get("Mcp-Session-Id"))
	return header
}

// TestBudgetAgentEcho is a call of echo, with the token, the limits, the checks, the queue, the metrics and a log line of
// every call, against a bare mcp-go server.
func TestBudgetAgentEcho(t *testing.T) {
	budget.Skip(t)
	compareEcho(t, 1, 64)
}

func TestBudgetPushAgentEcho(t *testing.T) {
	budget.Push(t)
	compareEcho(t, 16)
}

// compareEcho compares as many clients at a time.
func compareEcho(t *testing.T, atOnce ...int) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	a, err := New(Options{
		Token: "sesame", Concurrency: 4, RateLimit: 1_000_000_000, TenantConcurrency: 10_000,
		Logger: slog.New(slog.NewJSONHandler(null, nil)),
	})
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	defer a.Close(context.Background())
	bare := bareEcho(t)
	const n = 6400
	calls := func(url string, header http.Header, clients int) time.Duration {
		const echo = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"hello"}}}`
		res, err := budget.RunLoad(t.Context(), budget.EqualLoad(url, header, echo, "hello", clients, n))
		if err == nil {
			err = res.Err()
		}
		require.NoError(t, err)
		return res.Took
	}
	ours, theirs := sessionAt(t, a.URL(), "sesame"), sessionAt(t, bare, "")
	for _, clients := range atOnce {
		got, base := budget.Pair(
			func() time.Duration { return calls(a.URL(), ours, clients) },
			func() time.Duration { return calls(bare, theirs, clients) },
		)
		budget.Ratio(t, fmt.Sprintf("%d echo calls, %d clients: the agent's time against a bare mcp-go server", n, clients), got, base, 1/0.85)
		t.Logf("%d clients: %.0f against %.0f calls/s", clients, n/got.Seconds(), n/base.Seconds())
	}
}

// TestBudgetExecuteCode is short code of 16 callers at a time, against as many of those calls at the best of 1, 2, 4 and 8
// callers: who adds callers must not get less done.
func TestBudgetExecuteCode(t *testing.T) {
	budget.Skip(t)
	a, err := New(Options{Concurrency: 16, RateLimit: 1_000_000_000, TenantConcurrency: 10_000})
	require.NoError(t, err)
	require.NoError(t, a.Start(t.Context()))
	defer a.Close(context.Background())
	const n = 600
	session := sessionAt(t, a.URL(), "")
	calls := func(clients int) time.Duration {
		const code = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"1 + 1"}}}`
		res, err := budget.RunLoad(t.Context(), budget.EqualLoad(a.URL(), session, code, `\"result\":2`, clients, n))
		if err == nil {
			err = res.Err()
		}
		require.NoError(t, err)
		t.Logf("%d callers: %.0f calls/s, p99 %v", clients, res.PerSecond(), res.Percentile(99).Round(time.Millisecond))
		return res.Took
	}
	calls(16) // starts the workers
	fewer := []int{1, 2, 4, 8}
	round := 0
	got, base := budget.Pair(
		func() time.Duration { return calls(16) },
		func() time.Duration {
			round++
			best := calls(fewer[round%4])
			return min(best, calls(fewer[(round+2)%4]))
		},
	)
	budget.Ratio(t, fmt.Sprintf("%d calls of execute_code, 16 callers at --concurrency 16, time against the best of fewer callers", n), got, base, 1/0.9)
}
