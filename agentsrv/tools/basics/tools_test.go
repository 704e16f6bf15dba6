package basics

import (
	"strings"
	"testing"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestSumsBeyondFloats(t *testing.T) {
	for _, n := range []string{"1e999", strings.Repeat("9", maxDigit+1)} {
		if sum, _, err := sumOf(n, "1"); err == nil {
			t.Errorf("%.10s + 1 = %s", n, sum)
		}
	}
}

func TestInProcess(t *testing.T) {
	c, err := mcpclient.NewInProcessClient(NewServer(""))
	require.NoError(t, err)
	defer c.Close()
	ctx := t.Context()
	require.NoError(t, c.Start(ctx))
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	var req mcp.CallToolRequest
	req.Params.Name = "add"
	req.Params.Arguments = map[string]any{"a": 1, "b": 2}
	res, err := c.CallTool(ctx, req)
	if err != nil || len(res.Content) != 1 || res.Content[0].(mcp.TextContent).Text != "3" {
		t.Errorf("%+v, %v", res, err)
	}
}
