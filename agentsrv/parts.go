package agentsrv

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/text"
)

// parts are the tools, resources and prompts of an agent, from wherever they come.
type parts struct {
	tools     []server.ServerTool
	resources []server.ServerResource
	templates []server.ServerResourceTemplate
	prompts   []server.ServerPrompt
	complete  completer
}

// toolset, and those after it, are what a feature may have. A feature implements those that apply to it, and add finds out which.
type (
	toolset     interface{ Tools() []server.ServerTool }
	resourceset interface {
		Resources() []server.ServerResource
	}
	templateset interface {
		Templates() []server.ServerResourceTemplate
	}
	promptset interface{ Prompts() []server.ServerPrompt }
)

// add takes whatever each feature has.
func (p *parts) add(features ...any) {
	for _, f := range features {
		if s, ok := f.(toolset); ok {
			p.tools = append(p.tools, s.Tools()...)
		}
		if s, ok := f.(resourceset); ok {
			p.resources = append(p.resources, s.Resources()...)
		}
		if s, ok := f.(templateset); ok {
			p.templates = append(p.templates, s.Templates()...)
		}
		if s, ok := f.(promptset); ok {
			p.prompts = append(p.prompts, s.Prompts()...)
		}
		if s, ok := f.(server.PromptCompletionProvider); ok {
			p.complete.prompts = append(p.complete.prompts, s)
		}
		if s, ok := f.(server.ResourceCompletionProvider); ok {
			p.complete.resources = append(p.complete.resources, s)
		}
	}
}

// register puts everything on a server. Of two tools of one name the later one would win in silence; RegisterTools looks for that.
func (p *parts) register(s *server.MCPServer) {
	s.AddTools(p.tools...)
	s.AddResources(p.resources...)
	s.AddResourceTemplates(p.templates...)
	s.AddPrompts(p.prompts...)
}

// completer asks each feature that completes; mcp-go takes one provider only. Names are unique, so that at most one has
// an answer.
type completer struct {
	known     func(prompt string) bool // whether there is a prompt of that name; set once the engine is made
	prompts   []server.PromptCompletionProvider
	resources []server.ResourceCompletionProvider
}

// CompletePromptArgument implements mcp-go's provider for prompts.
func (c *completer) CompletePromptArgument(ctx context.Context, prompt string, arg mcp.CompleteArgument, already mcp.CompleteContext) (*mcp.Completion, error) {
	for _, p := range c.prompts {
		if found, err := p.CompletePromptArgument(ctx, prompt, arg, already); err != nil || found != nil && len(found.Values) > 0 {
			return found, err
		}
	}
	if !c.known(prompt) {
		return nil, front.Fail(ctx, jsonrpc.Errorf(jsonrpc.KindInvalidParams, "Prompt '%s' not found; see prompts/list", text.Clip(prompt, 100)).With("field", "ref.name").With("reason", "unknown"))
	}
	return &mcp.Completion{}, nil
}

// CompleteResourceArgument implements mcp-go's provider for resource templates.
func (c *completer) CompleteResourceArgument(ctx context.Context, uri string, arg mcp.CompleteArgument, already mcp.CompleteContext) (*mcp.Completion, error) {
	for _, p := range c.resources {
		if found, err := p.CompleteResourceArgument(ctx, uri, arg, already); err != nil || found != nil && len(found.Values) > 0 {
			return found, err
		}
	}
	return &mcp.Completion{}, nil
}
