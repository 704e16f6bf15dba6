package lint_test

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/lint"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// A section looks at one connected server. What it finds says by which rule, how bad it is, where, and what to do.
func Example() {
	bare := server.NewMCPServer("bare", "1.0", server.WithToolCapabilities(false))
	bare.AddTool(mcp.NewTool("x", mcp.WithString("q")), nil)
	m := session.NewManager(session.Options{Dial: func(config.Server) (transport.Transport, bool) {
		return transport.NewMemory(server.NewStdioServer(bare).Listen), true
	}})
	defer m.Close()
	s, err := m.Register(config.Server{Name: "bare"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	section, err := lint.New(lint.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := s.Connect(ctx); err != nil {
		fmt.Println(err)
		return
	}
	lists, err := check.Take(ctx, s)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := check.Run(ctx, &check.Subject{Offer: lists, Session: s}, []check.Section{section}, check.Tool{}, check.Watch{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range report.Findings {
		fmt.Println(f.Severity, f.ID, f.Message)
	}
	// Output:
	// warning lint/description-missing the tool has no description
	// warning lint/parameter-description 1 of 1 parameters: q
	// info lint/title-missing 1 of 1 tools: x
}
