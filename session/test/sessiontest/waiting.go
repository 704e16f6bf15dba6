package sessiontest

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// WaitingServer has an echo tool that reports progress first, and a tool that waits to be cancelled.
func WaitingServer(started, ended chan<- struct{}) *server.MCPServer {
	s := server.NewMCPServer("peer", "1.0", server.WithToolCapabilities(true), server.WithRecovery())
	s.AddTool(mcp.NewTool("echo", mcp.WithString("text")), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if m := r.Params.Meta; m != nil && m.ProgressToken != nil {
			_ = s.SendNotificationToClient(ctx, "notifications/progress", map[string]any{"progressToken": m.ProgressToken, "progress": 1})
		}
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	s.AddTool(mcp.NewTool("wait"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		started <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	})
	return s
}
