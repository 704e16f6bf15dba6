package basics

import (
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// values are what the completions choose from, by argument name.
var values = map[string][]string{
	"name":     {"Ada", "Alan", "Barbara", "Dennis", "Edsger", "Grace", "Ken", "Margaret"},
	"language": {"c", "c++", "clojure", "css", "go", "haskell", "java", "javascript", "kotlin", "python", "ruby", "rust", "swift", "typescript", "zig"},
	"id":       {"groceries", "ideas", "minutes", "today", "tomorrow"},
}

// completed are the arguments of prompts that have values.
var completed = map[string][]string{"greet": {"name", "language"}, "review": {"language"}}

// Prompts are the prompts.
func (a *Set) Prompts() []server.ServerPrompt {
	return []server.ServerPrompt{
		kit.Prompt("greet", "A greeting", greet, kit.Needed("name", "Whom to greet"), kit.Argument("language", "A programming language to mention")),
		kit.Prompt("review", "Asks for a code review: several messages, one with an embedded resource", review, kit.Needed("language", "Language of the code"), kit.Needed("code", "The code")),
	}
}

func greet(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	name := r.Params.Arguments["name"]
	text := "Please greet " + name + " warmly."
	if l := r.Params.Arguments["language"]; l != "" {
		text += " Mention that you have heard of their work in " + l + "."
	}
	return kit.Says("A greeting for "+name, mcp.NewTextContent(text))
}

func review(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	language, code := r.Params.Arguments["language"], r.Params.Arguments["code"]
	return mcp.NewGetPromptResult("A review of "+language+" code", []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Review this "+language+" code:\n\n```"+language+"\n"+code+"\n```\n")),
		mcp.NewPromptMessage(mcp.RoleAssistant, mcp.NewTextContent("By which rules?")),
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "demo://note/rules", MIMEType: "text/markdown", Text: "# Rules\n\n1. Correct first.\n2. Then clear.\n3. Then fast.\n"})),
	}), nil
}

// CompletePromptArgument implements mcp-go's provider for prompts.
func (a *Set) CompletePromptArgument(_ context.Context, prompt string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if !slices.Contains(completed[prompt], arg.Name) {
		return kit.Complete(nil, "", ""), nil
	}
	return kit.Complete(values[arg.Name], "", arg.Value), nil
}

// CompleteResourceArgument implements mcp-go's provider for resource templates.
func (a *Set) CompleteResourceArgument(_ context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if uri != noteTemplate {
		return kit.Complete(nil, "", ""), nil
	}
	return kit.Complete(values[arg.Name], "", arg.Value), nil
}
