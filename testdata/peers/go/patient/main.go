// Patient is a server of go-sdk with a tool that ends only when it is cancelled and one that counts how often that
// happened: over stdin and stdout, or over HTTP at /mcp (sessions, legacy revisions), /modern (no sessions) and /sse
// (HTTP+SSE).
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	addr := flag.String("http", "", "serve HTTP at this address instead of stdin and stdout")
	flag.Parse()

	var waiting, cancelled atomic.Int64
	server := mcp.NewServer(&mcp.Implementation{Name: "patient", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "wait"}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
		waiting.Add(1)
		<-ctx.Done()
		waiting.Add(-1)
		cancelled.Add(1)
		return nil, nil, ctx.Err()
	})
	mcp.AddTool(server, &mcp.Tool{Name: "count"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
		text := fmt.Sprintf("%d waiting, %d cancelled", waiting.Load(), cancelled.Load())
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})

	if *addr == "" {
		if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
			log.Fatal(err)
		}
		return
	}
	same := func(*http.Request) *mcp.Server { return server }
	http.Handle("/mcp", mcp.NewStreamableHTTPHandler(same, nil))
	http.Handle("/modern", mcp.NewStreamableHTTPHandler(same, &mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
	http.Handle("/sse", mcp.NewSSEHandler(same, nil))
	log.Fatal(http.ListenAndServe(*addr, nil))
}
