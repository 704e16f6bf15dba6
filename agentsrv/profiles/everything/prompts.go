package everything

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

const contextForm = `{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`

// Prompts are one for each kind of message, and one that asks the user something first.
func (f *Features) Prompts() []server.ServerPrompt {
	return []server.ServerPrompt{
		{
			Prompt:  mcp.NewPrompt("test_simple_prompt", mcp.WithPromptDescription("Shows a prompt without arguments")),
			Handler: says("A simple prompt", mcp.NewTextContent("This is a simple prompt for testing.")),
		},
		{
			Prompt: mcp.NewPrompt("test_prompt_with_arguments", mcp.WithPromptDescription("Shows arguments, which complete"),
				mcp.WithArgument("arg1", mcp.ArgumentDescription("First test argument"), mcp.RequiredArgument()),
				mcp.WithArgument("arg2", mcp.ArgumentDescription("Second test argument"), mcp.RequiredArgument())),
			Handler: withArguments,
		},
		{
			Prompt: mcp.NewPrompt("test_prompt_with_embedded_resource", mcp.WithPromptDescription("Shows a message that is a resource"),
				mcp.WithArgument("resourceUri", mcp.ArgumentDescription("URI of the resource to embed"), mcp.RequiredArgument())),
			Handler: withResource,
		},
		{
			Prompt:  mcp.NewPrompt("test_prompt_with_image", mcp.WithPromptTitle("Prompt with a picture"), mcp.WithPromptIcons(icon()), mcp.WithPromptDescription("Shows a message that is a picture")),
			Handler: says("A prompt with a picture", mcp.NewImageContent(redPixel, "image/png"), mcp.NewTextContent("Please analyze the image above.")),
		},
		{
			Prompt:  mcp.NewPrompt("test_input_required_result_prompt", mcp.WithPromptDescription("Asks the user for the context first")),
			Handler: withContext,
		},
	}
}

// says answers with one message of the user for each content.
func says(description string, contents ...mcp.Content) server.PromptHandlerFunc {
	return func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		var messages []mcp.PromptMessage
		for _, c := range contents {
			messages = append(messages, mcp.NewPromptMessage(mcp.RoleUser, c))
		}
		return mcp.NewGetPromptResult(description, messages), nil
	}
}

// argument is a required argument of a prompt.
func argument(r mcp.GetPromptRequest, name string) (string, error) {
	v := r.Params.Arguments[name]
	if v == "" {
		return "", kit.Invalid(name, kit.Required)
	}
	return v, nil
}

func withArguments(ctx context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	arg1, err := argument(r, "arg1")
	if err != nil {
		return nil, err
	}
	arg2, err := argument(r, "arg2")
	if err != nil {
		return nil, err
	}
	return says("A prompt with arguments", mcp.NewTextContent(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", arg1, arg2)))(ctx, r)
}

func withResource(ctx context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	uri, err := argument(r, "resourceUri")
	if err != nil {
		return nil, err
	}
	return says("A prompt with a resource",
		mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: uri, MIMEType: "text/plain", Text: "Embedded resource content for testing."}),
		mcp.NewTextContent("Please process the embedded resource above."))(ctx, r)
}

func withContext(ctx context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if a := answer(r.Params.InputResponses, "user_context", contextForm); a != nil {
		said := "The user gave no context."
		if a.Action == mcp.ElicitationResponseActionAccept {
			said = "Use this context: " + field(a, "context")
		}
		return says("A prompt with context", mcp.NewTextContent(said))(ctx, r)
	}
	if bad, err := require(ctx, elicitation); err != nil {
		return nil, err
	} else if bad != nil {
		// A prompt has no result that says isError.
		return nil, jsonrpc.Errorf(jsonrpc.KindToolExecution, "test_input_required_result_prompt: the client does not declare elicitation, which this prompt needs; get another prompt")
	}
	res := server.NewInputRequestBuilder("").Elicit("user_context", formParams("What context should the prompt use?", contextForm)).PromptResult()
	res.Messages = []mcp.PromptMessage{}
	return res, nil
}

// values are what completions choose from.
var values = map[string][]string{
	"arg1": {"paris", "park", "party", "test", "testValue1", "tokyo"},
	"arg2": {"hello", "help", "test", "testValue2", "world"},
	"id":   {"1", "12", "123", "example"},
}

// CompletePromptArgument offers the values of test_prompt_with_arguments that start with what was typed.
func (f *Features) CompletePromptArgument(_ context.Context, prompt string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if prompt != "test_prompt_with_arguments" || arg.Name == "id" {
		return &mcp.Completion{Values: []string{}}, nil
	}
	return complete(arg), nil
}

// CompleteResourceArgument does the same for the template's id.
func (f *Features) CompleteResourceArgument(_ context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if uri != dataTemplate || arg.Name != "id" {
		return &mcp.Completion{Values: []string{}}, nil
	}
	return complete(arg), nil
}

func complete(arg mcp.CompleteArgument) *mcp.Completion {
	c := &mcp.Completion{Values: []string{}}
	for _, v := range values[arg.Name] {
		if strings.HasPrefix(v, arg.Value) {
			c.Values = append(c.Values, v)
		}
	}
	c.Total = len(c.Values)
	return c
}
