package everything

import (
	"context"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// pause is what lies between two reports, long enough that each arrives by itself.
const pause = 50 * time.Millisecond

func (f *Features) reportTools() []server.ServerTool {
	return []server.ServerTool{
		tool("test_tool_with_logging", "Log messages", "Sends three log messages at level info while it works.", logSteps),
		tool("test_logging_tool", "Log messages, modern", "The same; in the modern era nothing is sent unless the request sets a log level.", logSteps),
		tool("test_tool_with_progress", "Progress", "Reports progress 0, 50 and 100 of 100 if the request has a progress token.", progressSteps),
		tool("test_reconnection", "Reconnection", "Ends the connection before the result is there; a client of 2025-11-25 with a session comes back for it.", f.reconnect),
	}
}

func logSteps(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for i, message := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			if err := kit.Sleep(ctx, pause); err != nil {
				return nil, err
			}
		}
		if err := kit.Log(ctx, mcp.LoggingLevelInfo, "everything", message); err != nil {
			return nil, fmt.Errorf("log %q: %w", message, err)
		}
	}
	return text("Tool with logging executed successfully")
}

func progressSteps(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for _, step := range []float64{0, 50, 100} {
		if step > 0 {
			if err := kit.Sleep(ctx, pause); err != nil {
				return nil, err
			}
		}
		if err := kit.Progress(ctx, r, step, 100, fmt.Sprintf("%v of 100", step)); err != nil {
			return nil, fmt.Errorf("report progress: %w", err)
		}
	}
	return text("Tool with progress executed successfully")
}

func (f *Features) reconnect(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	hungUp := f.options.HangUp != nil && f.options.HangUp(ctx, pause)
	if err := kit.Sleep(ctx, 2*pause); err != nil {
		return nil, fmt.Errorf("test_reconnection: %w", err)
	}
	if !hungUp {
		return text("Nothing to come back for: this connection cannot be resumed")
	}
	return text("Reconnection test completed successfully")
}
