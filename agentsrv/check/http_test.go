package check

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestD7_A5_E6_OverHTTP(t *testing.T) {
	e := server.NewMCPServer("fixture", "1", append(front.EngineOptions(), server.WithToolCapabilities(true))...)
	e.AddTools(kit.Tool("ask", "", "", kit.ReadOnly, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("ran"), nil
	}, askSchema, ""))
	f := front.New(front.Options{Engine: e, Use: []front.Middleware{Middleware(Engine(e), nil)}})
	web := httptest.NewServer(f.Handler())
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		assert.NoError(t, f.Close(ctx))
		web.Close()
		http.DefaultClient.CloseIdleConnections()
	}()
	modern := map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask"}
	const meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for _, c := range []struct {
		params string
		header map[string]string
		want   []string
	}{
		{`{"name":"ask","arguments":{}}`, nil, []string{`"error":{"code":-32602,"message":"Invalid params: tenant_id is required"`, `"field":"tenant_id"`, `"reason":"Field required"`, `"kind":"invalid_params"`}},
		{`{"name":"ask","arguments":{"tenant_id":"a","limit":21}}`, nil, []string{`"code":-32602`, `"field":"limit"`, `"reason":"must be at most 20"`}},
		{`{"name":"ask","arguments":{"tenant_id":"a"}}`, nil, []string{`"text":"ran"`}},
		{`{"name":"nope","arguments":{}}`, nil, []string{`"error":{"code":-32602,"message":"Tool 'nope' not found"`, `"kind":"tool_not_found"`}},
		{`{"name":"ask","arguments":{}` + meta + `}`, modern, []string{`"isError":true`, `"text":"Invalid params: tenant_id is required"`, `"reason":"Field required"`, `"resultType":"complete"`}},
		{`{"name":"ask","arguments":{"tenant_id":"a"}` + meta + `}`, modern, []string{`"text":"ran"`}},
	} {
		r, err := http.NewRequest(http.MethodPost, web.URL+front.Path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+c.params+`}`))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for k, v := range c.header {
			r.Header.Set(k, v)
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !json.Valid(raw) {
			t.Fatalf("%s %v", raw, err)
		}
		for _, part := range c.want {
			if !strings.Contains(string(raw), part) {
				t.Errorf("%s: %s has no %s", c.params, raw, part)
			}
		}
	}
}
