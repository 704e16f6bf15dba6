// Package checktest calls tools for tests as the agent does: with arguments that were held against the tool's input schema before.
package checktest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/check"
	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Call calls a tool with arguments as they are sent. Those that do not fit are a *jsonrpc.RequestError, as up to 2025-06-18.
func Call(t testing.TB, tool server.ServerTool, args string) (res *mcp.CallToolResult, err error) {
	t.Helper()
	params := `{"name":` + string(jsonrpc.Quote(tool.Tool.Name)) + `,"arguments":` + args + `}`
	var r mcp.CallToolRequest
	if err := json.Unmarshal([]byte(`{"params":`+params+`}`), &r); err != nil {
		t.Fatal(err)
	}
	find := func(string) (check.Tool, bool) { return check.Tool{Input: tool.Tool.RawInputSchema}, true }
	_, err = check.Middleware(find, nil)(func(ctx context.Context, _ *front.Exchange) (_ json.RawMessage, err error) {
		res, err = tool.Handler(ctx, r)
		return nil, err
	})(t.Context(), &front.Exchange{Method: string(mcp.MethodToolsCall), Params: []byte(params)})
	return res, err
}
