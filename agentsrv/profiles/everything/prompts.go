package everything

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

const contextForm = `{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`

// Prompts are one for each kind of message, and one that asks the user something first.
func (f *Features) Prompts() []server.ServerPrompt {
	return []server.ServerPrompt{
		kit.Prompt("test_simple_prompt", "Shows a prompt without arguments", says("A simple prompt", mcp.NewTextContent("This is a simple prompt for testing."))),
		kit.Prompt("test_prompt_with_arguments", "Shows arguments, which complete", withArguments, kit.Needed("arg1", "First test argument"), kit.Needed("arg2", "Second test argument")),
		kit.Prompt("test_prompt_with_embedded_resource", "Shows a message that is a resource", withResource, kit.Needed("resourceUri", "URI of the resource to embed")),
		kit.Prompt("test_prompt_with_image", "Shows a message that is a picture",
			says("A prompt with a picture", mcp.NewImageContent(redPixel, "image/png"), mcp.NewTextContent("Please analyze the image above.")),
			mcp.WithPromptTitle("Prompt with a picture"), mcp.WithPromptIcons(icon())),
		kit.Prompt("test_input_required_result_prompt", "Asks the user for the context first", withContext),
	}
}

// says always answers the same.
func says(description string, contents ...mcp.Content) server.PromptHandlerFunc {
	return func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return kit.Says(description, contents...)
	}
}

func withArguments(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	in := r.Params.Arguments
	return kit.Says("A prompt with arguments", mcp.NewTextContent(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", in["arg1"], in["arg2"])))
}

func withResource(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return kit.Says("A prompt with a resource",
		mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: r.Params.Arguments["resourceUri"], MIMEType: "text/plain", Text: "Embedded resource content for testing."}),
		mcp.NewTextContent("Please process the embedded resource above."))
}

func withContext(ctx context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	if a := answer(r.Params.InputResponses, "user_context", contextForm); a != nil {
		said := "The user gave no context."
		if a.Action == mcp.ElicitationResponseActionAccept {
			said = "Use this context: " + field(a, "context")
		}
		return kit.Says("A prompt with context", mcp.NewTextContent(said))
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
		return kit.Complete(nil, "", ""), nil
	}
	return kit.Complete(values[arg.Name], "", arg.Value), nil
}

// CompleteResourceArgument does the same for the template's id.
func (f *Features) CompleteResourceArgument(_ context.Context, uri string, arg mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if uri != dataTemplate || arg.Name != "id" {
		return kit.Complete(nil, "", ""), nil
	}
	return kit.Complete(values[arg.Name], "", arg.Value), nil
}
