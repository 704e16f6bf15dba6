// Package basics is the part of the agent that needs nothing and keeps nothing: one tool, resource or prompt for each
// thing that a client must be able to show.
package basics

import (
	"sync/atomic"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// Set is one server's set of tools.
type Set struct {
	counter atomic.Int64 // tool calls answered since the start or the last reset_counter
}

// NewServer is an MCP server with the basics alone, for mcp-go's in-process transport. It starts nothing and needs no
// closing. Version "" is "dev"; extra options come after its own.
func NewServer(version string, extra ...server.ServerOption) *server.MCPServer {
	if version == "" {
		version = "dev"
	}
	set := &Set{}
	s := server.NewMCPServer("mcphud-demo", version, append([]server.ServerOption{
		server.WithTitle("mcphud demo agent"),
		server.WithInstructions("A small server to try a client on: one tool, resource and prompt for each thing the protocol knows."),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithPromptCapabilities(false),
		server.WithLogging(),
		server.WithCompletions(),
		server.WithPromptCompletionProvider(set),
		server.WithResourceCompletionProvider(set),
		server.WithToolHandlerMiddleware(kit.Settle),
		server.WithToolHandlerMiddleware(set.count),
		server.WithRecovery(),
	}, extra...)...)
	s.AddTools(set.Tools()...)
	s.AddResources(set.Resources()...)
	s.AddResourceTemplates(set.Templates()...)
	s.AddPrompts(set.Prompts()...)
	return s
}
