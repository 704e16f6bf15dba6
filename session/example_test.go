package session_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// A server is registered, connected, listed and called. This one runs in the same process; a config.Server with a Command or
// a URL, and no Dial, reaches one elsewhere.
func Example() {
	adder := server.NewMCPServer("adder", "1.0", server.WithToolCapabilities(true))
	adder.AddTool(mcp.NewTool("add", mcp.WithNumber("a"), mcp.WithNumber("b")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(fmt.Sprint(r.GetFloat("a", 0) + r.GetFloat("b", 0))), nil
	})
	m := session.NewManager(session.Options{Dial: func(config.Server) (transport.Transport, bool) {
		return transport.NewMemory(server.NewStdioServer(adder).Listen), true
	}})
	defer m.Close()

	s, err := m.Register(config.Server{Name: "adder"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	if err := s.Connect(ctx); err != nil {
		fmt.Println(err)
		return
	}
	tools, err := s.List(ctx, offer.Tools)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range tools.Items {
		fmt.Println(t.Name)
	}
	reply, err := s.CallTool(ctx, "add", json.RawMessage(`{"a":1,"b":2}`), session.CallOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	contents, err := offer.Contents(reply.Result) // which are the bytes that the server sent
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(contents[0].Text)
	// Output:
	// add
	// 3
}
