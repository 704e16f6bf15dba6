package basics

import (
	"context"
	"strings"

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

// Prompts are the prompts.
func (a *Set) Prompts() []server.ServerPrompt {
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
		return nil, kit.Invalid("name", kit.Required)
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
	if language == "" {
		return nil, kit.Invalid("language", kit.Required)
	}
	if code == "" {
		return nil, kit.Invalid("code", kit.Required)
	}
	return mcp.NewGetPromptResult("A review of "+language+" code", []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent("Review this "+language+" code:\n\n```"+language+"\n"+code+"\n```\n")),
		mcp.NewPromptMessage(mcp.RoleAssistant, mcp.NewTextContent("By which rules?")),
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: "demo://note/rules", MIMEType: "text/markdown", Text: "# Rules\n\n1. Correct first.\n2. Then clear.\n3. Then fast.\n"})),
	}), nil
}

// completePrompt offers the known values of a prompt's argument that start with what was typed, in any case of letters.
func completePrompt(prompt, argument, typed string) []string {
	if prompt == "greet" && (argument == "name" || argument == "language") || prompt == "review" && argument == "language" {
		return startingWith(values[argument], typed)
	}
	return nil
}

// completeResource does the same for the variable of demo://note/{id}.
func completeResource(uri, argument, typed string) []string {
	if uri != noteTemplate {
		return nil
	}
	return startingWith(values[argument], typed)
}

func startingWith(all []string, typed string) (found []string) {
	for _, v := range all {
		if strings.HasPrefix(strings.ToLower(v), strings.ToLower(typed)) {
			found = append(found, v)
		}
	}
	return found
}
