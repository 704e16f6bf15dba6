// Package basics is the part of the agent that needs nothing and keeps nothing: one tool, resource or prompt for each
// thing that a client must be able to show.
package basics

import (
	"context"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
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

// CompletePromptArgument implements mcp-go's provider for prompts.
func (a *Set) CompletePromptArgument(_ context.Context, prompt string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return completion(completePrompt(prompt, arg.Name, arg.Value)), nil
}

// CompleteResourceArgument implements mcp-go's provider for resource templates.
func (a *Set) CompleteResourceArgument(_ context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return completion(completeResource(uri, arg.Name, arg.Value)), nil
}

func completion(found []string) *mcp.Completion {
	return &mcp.Completion{Values: found, Total: len(found)}
}
