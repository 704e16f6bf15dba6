package kit

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Prompt declares a prompt. Its handler is called with all arguments that are required; blank ones are missing.
func Prompt(name, description string, h server.PromptHandlerFunc, options ...mcp.PromptOption) server.ServerPrompt {
	p := mcp.NewPrompt(name, append([]mcp.PromptOption{mcp.WithPromptDescription(description)}, options...)...)
	return server.ServerPrompt{Prompt: p, Handler: func(ctx context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		for _, a := range p.Arguments {
			if a.Required && strings.TrimSpace(r.Params.Arguments[a.Name]) == "" {
				return nil, Invalid(a.Name, Required)
			}
		}
		return h(ctx, r)
	}}
}

// Argument is an argument of a prompt that may be left out.
func Argument(name, description string) mcp.PromptOption {
	return mcp.WithArgument(name, mcp.ArgumentDescription(description))
}

// Needed is an argument of a prompt that must be given.
func Needed(name, description string) mcp.PromptOption {
	return mcp.WithArgument(name, mcp.ArgumentDescription(description), mcp.RequiredArgument())
}

// Says answers with one message of the user for each content.
func Says(description string, contents ...mcp.Content) (*mcp.GetPromptResult, error) {
	var messages []mcp.PromptMessage
	for _, c := range contents {
		messages = append(messages, mcp.NewPromptMessage(mcp.RoleUser, c))
	}
	return mcp.NewGetPromptResult(description, messages), nil
}

// maxCompletions is how many values MCP lets a completion have.
const maxCompletions = 100

// Complete are the values that begin with what was typed, in any case of letters. before is what stands before each of them.
func Complete(all []string, before, typed string) *mcp.Completion {
	c := &mcp.Completion{Values: []string{}}
	for _, v := range all {
		if !strings.HasPrefix(strings.ToLower(v), strings.ToLower(typed)) {
			continue
		}
		if c.Total++; len(c.Values) < maxCompletions {
			c.Values = append(c.Values, before+v)
		}
	}
	c.HasMore = c.Total > len(c.Values)
	return c
}
