// Command bareserver is a real server of budget size, made with mcp-go as a server author would make it: 5,000 tools in
// a list of 6.7 MB, and a tool that returns one text of 50,000,000 bytes. The time that it needs to answer is the base
// of the ratios that mcphud's budgets are stated in.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	tools    = 5000
	textSize = 50_000_000
	lineSize = 100
)

func main() {
	s := server.NewMCPServer("bareserver", "1.0.0", server.WithToolCapabilities(true))
	line := strings.Repeat("the quick brown fox jumps over the lazy dog ", 3)[:lineSize-1] + "\n"
	text := strings.Repeat(line, textSize/lineSize)
	s.AddTool(mcp.NewTool("big", mcp.WithDescription("Returns 50 MB of text")), returns(text))
	for i := range tools - 1 {
		s.AddTool(mcp.NewTool(fmt.Sprintf("tool_%04d", i), options(i)...), returns("done"))
	}
	if err := server.ServeStdio(s); err != nil {
		log.Fatal(err)
	}
}

// returns is a handler that answers with a fixed text.
func returns(text string) server.ToolHandlerFunc {
	return func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(text), nil
	}
}

// options is a description and a schema of eight properties, about 1,350 bytes on the wire.
func options(i int) []mcp.ToolOption {
	opts := []mcp.ToolOption{mcp.WithDescription(strings.Repeat("Looks up records by the given fields and returns them. ", 9))}
	for p := range 8 {
		opts = append(opts, mcp.WithString(fmt.Sprintf("field_%d", p),
			mcp.Description(fmt.Sprintf("Field %d of tool %04d", p, i)), mcp.MaxLength(1000)))
	}
	return opts
}
