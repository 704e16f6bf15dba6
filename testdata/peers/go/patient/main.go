// Patient is a server of go-sdk with a tool that ends only when it is cancelled, one that counts how often that happened, and one
// that asks for all that can be asked for, in two rounds: over stdin and stdout, or over HTTP at /mcp (sessions, legacy revisions), /modern (no sessions) and /sse
// (HTTP+SSE).
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"sync/atomic"

	"github.com/google/jsonschema-go/jsonschema"
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
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, ask)

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

// ask needs a message and the roots first, and then a name.
func ask(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	in := r.Params.InputResponses
	if name, ok := in["name"].(*mcp.ElicitResult); ok {
		text := fmt.Sprintf("%s; %s %v", r.Params.RequestState, name.Action, name.Content["name"])
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	}
	if message, ok := in["message"].(*mcp.CreateMessageWithToolsResult); ok {
		state := message.Content[0].(*mcp.TextContent).Text
		if roots := in["roots"].(*mcp.ListRootsResult).Roots; len(roots) > 0 {
			state += "; " + roots[0].URI
		}
		form := &jsonschema.Schema{Type: "object", Required: []string{"name"}, Properties: map[string]*jsonschema.Schema{"name": {Type: "string"}}}
		return &mcp.CallToolResult{RequestState: state, InputRequests: mcp.InputRequestMap{"name": &mcp.ElicitParams{Message: "Who?", RequestedSchema: form}}}, nil, nil
	}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"message": &mcp.CreateMessageParams{MaxTokens: 10}, "roots": &mcp.ListRootsParams{}}}, nil, nil
}
