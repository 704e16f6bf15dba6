package everything

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

const (
	contactForm = `{"type":"object","properties":{"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`

	// defaultsForm has a default for each primitive type (SEP-1034), enumsForm each way to write a choice (SEP-1330).
	defaultsForm = `{"type":"object","properties":{"name":{"type":"string","description":"User name","default":"John Doe"},` +
		`"age":{"type":"integer","description":"User age","default":30},"score":{"type":"number","description":"User score","default":95.5},` +
		`"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},` +
		`"verified":{"type":"boolean","description":"Verification status","default":true}},"required":[]}`
	enumsForm = `{"type":"object","properties":{` +
		`"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},` +
		`"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},` +
		`"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},` +
		`"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},` +
		`"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}},"required":[]}`
	confirmForm = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
)

// askTools ask one thing and say what was answered.
func (f *Features) askTools() []server.ServerTool {
	return []server.ServerTool{
		kit.Tool("test_sampling", "Sampling", "Asks the client's model for a completion of the prompt.", kit.ReadOnly, kit.Args(sample),
			`{"type":"object","properties":{"prompt":{"type":"string","description":"The prompt to send to the LLM"}},"required":["prompt"]}`, ""),
		kit.Tool("test_elicitation", "Elicitation", "Asks the user for a name and an address in a form.", kit.ReadOnly,
			elicit("contact", contactForm, "User response", messageOf),
			`{"type":"object","properties":{"message":{"type":"string","description":"The message to show the user"}},"required":["message"]}`, ""),
		tool("test_elicitation_sep1034_defaults", "Elicitation with defaults", "Asks with a form that has a default value for each primitive type.",
			elicit("defaults", defaultsForm, "Elicitation completed", said("Please review and update the form fields with defaults"))),
		tool("test_elicitation_sep1330_enums", "Elicitation with choices", "Asks with a form that has each kind of choice: one or several, with and without titles.",
			elicit("enums", enumsForm, "Elicitation completed", said("Please select options from the enum fields"))),
		tool("test_streaming_elicitation", "Elicitation after progress", "Reports progress, and then asks the user to confirm.", askAfterProgress),
		tool("test_elicitation_url", "Elicitation by URL", "Asks the user to open an address in the browser.", visit),
		tool("test_missing_capability", "Missing capability", "Needs the client's model, and refuses a client that does not declare sampling.", missing),
	}
}

func said(message string) func(mcp.CallToolRequest) (string, *mcp.CallToolResult) {
	return func(mcp.CallToolRequest) (string, *mcp.CallToolResult) { return message, nil }
}

func messageOf(r mcp.CallToolRequest) (string, *mcp.CallToolResult) {
	var in struct{ Message string }
	if bad := kit.Arguments(r, &in); bad != nil {
		return "", bad
	}
	if in.Message == "" {
		return "", mcp.NewToolResultErrorf("%s: message is required", r.Params.Name)
	}
	return in.Message, nil
}

// elicit is a handler that shows the user a form, and returns what was answered after title.
func elicit(key, form, title string, message func(mcp.CallToolRequest) (string, *mcp.CallToolResult)) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if a := answer(r.Params.InputResponses, key, form); a != nil {
			content, err := json.Marshal(a.Content)
			if err != nil {
				return nil, fmt.Errorf("%s: show the answer: %w", r.Params.Name, err)
			}
			return text(fmt.Sprintf("%s: action=%s, content=%s", title, a.Action, content))
		}
		m, bad := message(r)
		if bad != nil {
			return bad, nil
		}
		if bad, err := require(ctx, elicitation); bad != nil || err != nil {
			return bad, err
		}
		return server.NewInputRequestBuilder("").Elicit(key, formParams(m, form)).ToolResult(), nil
	}
}

func formParams(message, form string) mcp.ElicitationParams {
	return mcp.ElicitationParams{Message: message, RequestedSchema: json.RawMessage(form)}
}

// answer is what the user did with the form of the given key; nil if nobody answered, or not so that the form's required
// fields are there, in which case it is to be asked again.
func answer(responses mcp.InputResponses, key, form string) *mcp.ElicitationResult {
	a := server.ElicitationResponse(responses, key)
	if a == nil || !isDecision(a) {
		return nil
	}
	if a.Action != mcp.ElicitationResponseActionAccept {
		return a
	}
	content, ok := a.Content.(map[string]any)
	var want struct{ Required []string }
	if err := json.Unmarshal([]byte(form), &want); err != nil || !ok {
		return nil
	}
	for _, name := range want.Required {
		if _, there := content[name]; !there {
			return nil
		}
	}
	return a
}

// isDecision reports whether the answer says one of the three things that one can.
func isDecision(a *mcp.ElicitationResult) bool {
	switch a.Action {
	case mcp.ElicitationResponseActionAccept, mcp.ElicitationResponseActionDecline, mcp.ElicitationResponseActionCancel:
		return true
	}
	return false
}

// field is a string of an answered form, "" if it is something else.
func field(a *mcp.ElicitationResult, name string) string {
	content, _ := a.Content.(map[string]any)
	s, _ := content[name].(string)
	return s
}

func sample(ctx context.Context, r mcp.CallToolRequest, in struct{ Prompt string }) (*mcp.CallToolResult, error) {
	if a := server.SamplingResponse(r.Params.InputResponses, "completion"); a != nil {
		return text("LLM response: " + completionText(a))
	}
	if bad, err := require(ctx, sampling); bad != nil || err != nil {
		return bad, err
	}
	return server.NewInputRequestBuilder("").Sample("completion", prompt(in.Prompt, 100)).ToolResult(), nil
}

func prompt(s string, maxTokens int) mcp.CreateMessageParams {
	return mcp.CreateMessageParams{
		Messages:  []mcp.SamplingMessage{{Role: mcp.RoleUser, Content: mcp.NewTextContent(s)}},
		MaxTokens: maxTokens,
	}
}

// completionText is the text of what the client's model said, or the content as JSON if it is not text.
func completionText(a *mcp.CreateMessageResult) string {
	switch c := a.Content.(type) {
	case mcp.TextContent:
		return c.Text
	case map[string]any:
		if s, ok := c["text"].(string); ok {
			return s
		}
	}
	raw, err := json.Marshal(a.Content)
	if err != nil {
		return fmt.Sprint(a.Content)
	}
	return string(raw)
}

func askAfterProgress(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if a := answer(r.Params.InputResponses, "confirm", confirmForm); a != nil {
		return text("Elicitation completed: action=" + string(a.Action))
	}
	if bad, err := require(ctx, elicitation); bad != nil || err != nil {
		return bad, err
	}
	if err := kit.Progress(ctx, r, 1, 2, "about to ask"); err != nil {
		return nil, fmt.Errorf("report progress: %w", err)
	}
	return server.NewInputRequestBuilder("").Elicit("confirm", formParams("Please confirm", confirmForm)).ToolResult(), nil
}

func visit(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if a := server.ElicitationResponse(r.Params.InputResponses, "visit"); a != nil && isDecision(a) {
		return text("Elicitation completed: action=" + string(a.Action))
	}
	if bad, err := require(ctx, browsing); bad != nil || err != nil {
		return bad, err
	}
	return server.NewInputRequestBuilder("").Elicit("visit", mcp.ElicitationParams{
		Mode: mcp.ElicitationModeURL, Message: "Please read the specification", URL: "https://modelcontextprotocol.io/specification",
		ElicitationID: "everything-visit",
	}).ToolResult(), nil
}

func missing(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if bad, err := require(ctx, sampling); bad != nil || err != nil {
		return bad, err
	}
	if a := server.SamplingResponse(r.Params.InputResponses, "completion"); a != nil {
		return text("LLM response: " + completionText(a))
	}
	return server.NewInputRequestBuilder("").Sample("completion", prompt("Say that sampling works.", 50)).ToolResult(), nil
}
