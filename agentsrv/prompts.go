package agentsrv

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// values are what the completions choose from, by argument name.
var values = map[string][]string{
	"name":     {"Ada", "Alan", "Barbara", "Dennis", "Edsger", "Grace", "Ken", "Margaret"},
	"language": {"c", "c++", "clojure", "css", "go", "haskell", "java", "javascript", "kotlin", "python", "ruby", "rust", "swift", "typescript", "zig"},
	"id":       {"groceries", "ideas", "minutes", "today", "tomorrow"},
}

func prompts() []server.ServerPrompt {
	return []server.ServerPrompt{
		{
			Prompt: mcp.NewPrompt("greet", mcp.WithPromptDescription("A greeting"),
				mcp.WithArgument("name", mcp.ArgumentDescription("Whom to greet"), mcp.RequiredArgument()),
				mcp.WithArgument("language", mcp.ArgumentDescription("A programming language to mention"))),
			Handler: greet,
		},
		{
			Prompt: mcp.NewPrompt("review", mcp.WithPromptDescription("Asks for a code review: several messages, one with an embedded resource"),
				mcp.WithArgument("language", mcp.ArgumentDescription("Language of the code"), mcp.RequiredArgument()),
				mcp.WithArgument("code", mcp.ArgumentDescription("The code"), mcp.RequiredArgument())),
			Handler: review,
		},
	}
}

func greet(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	name := r.Params.Arguments["name"]
	if name == "" {
		return nil, fmt.Errorf("greet: name is required")
	}
	text := "Please greet " + name + " warmly."
	if l := r.Params.Arguments["language"]; l != "" {
		text += " Mention that you have heard of their work in " + l + "."
	}
	return mcp.NewGetPromptResult("A greeting for "+name, []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text)),
	}), nil
}

func review(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	language, code := r.Params.Arguments["language"], r.Params.Arguments["code"]
	if language == "" || code == "" {
		return nil, fmt.Errorf("review: language and code are required")
	}
	return mcp.NewGetPromptResult("A review of "+language+" code", []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Review this "+language+" code:\n\n```"+language+"\n"+code+"\n```\n")),
		mcp.NewPromptMessage(mcp.RoleAssistant, mcp.NewTextContent("By which rules?")),
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "demo://note/rules", MIMEType: "text/markdown", Text: "# Rules\n\n1. Correct first.\n2. Then clear.\n3. Then fast.\n"})),
	}), nil
}

// completer answers completion/complete for prompt arguments and the template's variable.
type completer struct{}

// CompletePromptArgument offers the known values that start with what was typed, in any case of letters.
func (completer) CompletePromptArgument(_ context.Context, prompt string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	switch {
	case prompt == "greet" && (arg.Name == "name" || arg.Name == "language"), prompt == "review" && arg.Name == "language":
		return complete(arg), nil
	}
	return &mcp.Completion{}, nil
}

// CompleteResourceArgument does the same for demo://note/{id}.
func (completer) CompleteResourceArgument(_ context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if uri == noteTemplate && arg.Name == "id" {
		return complete(arg), nil
	}
	return &mcp.Completion{}, nil
}

func complete(arg mcp.CompleteArgument) *mcp.Completion {
	c := &mcp.Completion{}
	for _, v := range values[arg.Name] {
		if strings.HasPrefix(strings.ToLower(v), strings.ToLower(arg.Value)) {
			c.Values = append(c.Values, v)
		}
	}
	c.Total = len(c.Values)
	return c
}
