package main

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// exampleServer is a value of asServer for what the examples of the help are about.
const exampleServer = "examples"

// examples is the server that the examples of the help call: its tools, prompt, resources and template are named in them.
func examples() *server.MCPServer {
	s := server.NewMCPServer("examples", "1.0.0", server.WithToolCapabilities(true), server.WithResourceCapabilities(true, true), server.WithPromptCapabilities(true), server.WithCompletions(),
		server.WithPromptCompletionProvider(words{}), server.WithResourceCompletionProvider(words{}))
	answer := func(text func(mcp.CallToolRequest) string) server.ToolHandlerFunc {
		return func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(text(r)), nil
		}
	}
	s.AddTool(mcp.NewTool("add", mcp.WithDescription("Add two numbers."), mcp.WithNumber("a", mcp.Required()), mcp.WithNumber("b", mcp.Required())),
		answer(func(r mcp.CallToolRequest) string { return fmt.Sprint(r.GetFloat("a", 0) + r.GetFloat("b", 0)) }))
	for _, name := range []string{"search", "search_repos"} {
		s.AddTool(mcp.NewTool(name, mcp.WithDescription("Search."), mcp.WithString("query", mcp.Required()), mcp.WithNumber("limit"), mcp.WithReadOnlyHintAnnotation(true)),
			answer(func(r mcp.CallToolRequest) string { return "found " + r.GetString("query", "") }))
	}
	s.AddTool(mcp.NewTool("echo", mcp.WithDescription("Echo a message."), mcp.WithString("message", mcp.Required())),
		answer(func(r mcp.CallToolRequest) string { return r.GetString("message", "") }))
	s.AddPrompt(mcp.NewPrompt("greet", mcp.WithArgument("name", mcp.RequiredArgument())), func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return mcp.NewGetPromptResult("", []mcp.PromptMessage{mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Greet "+r.Params.Arguments["name"]))}), nil
	})
	read := func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "text/plain", Text: "127.0.0.1 localhost\n"}}, nil
	}
	for _, uri := range []string{"file:///etc/hosts", "file:///etc/motd"} {
		s.AddResource(mcp.NewResource(uri, uri[len("file:///etc/"):]), read)
	}
	s.AddResourceTemplate(mcp.NewResourceTemplate("file:///{path}", "file"), server.ResourceTemplateHandlerFunc(read))
	return s
}

// words completes everything with the same two words.
type words struct{}

func (words) CompletePromptArgument(context.Context, string, mcp.CompleteArgument, mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{"Ada", "Alan"}}, nil
}

func (words) CompleteResourceArgument(context.Context, string, mcp.CompleteArgument, mcp.CompleteContext) (*mcp.Completion, error) {
	return &mcp.Completion{Values: []string{"README.md"}}, nil
}
