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
		kit.Tool("test_sampling", "Sampling", "Asks the client's model for a completion of the prompt.", kit.ReadOnly,
			kit.Args(func(ctx context.Context, r mcp.CallToolRequest, in struct{ Prompt string }) (*mcp.CallToolResult, error) {
				return completion("completion", in.Prompt, 100, "LLM response: ").put(ctx, r)
			}), `{"type":"object","properties":{"prompt":{"type":"string","description":"The prompt to send to the LLM"}},"required":["prompt"]}`, ""),
		kit.Tool("test_elicitation", "Elicitation", "Asks the user for a name and an address in a form.", kit.ReadOnly,
			kit.Args(func(ctx context.Context, r mcp.CallToolRequest, in struct{ Message string }) (*mcp.CallToolResult, error) {
				return form("contact", in.Message, contactForm, contentOf("User response")).put(ctx, r)
			}), `{"type":"object","properties":{"message":{"type":"string","description":"The message to show the user"}},"required":["message"]}`, ""),
		tool("test_elicitation_sep1034_defaults", "Elicitation with defaults", "Asks with a form that has a default value for each primitive type.",
			form("defaults", "Please review and update the form fields with defaults", defaultsForm, contentOf("Elicitation completed")).put),
		tool("test_elicitation_sep1330_enums", "Elicitation with choices", "Asks with a form that has each kind of choice: one or several, with and without titles.",
			form("enums", "Please select options from the enum fields", enumsForm, contentOf("Elicitation completed")).put),
		tool("test_streaming_elicitation", "Elicitation after progress", "Reports progress, and then asks the user to confirm.", askAfterProgress),
		tool("test_elicitation_url", "Elicitation by URL", "Asks the user to open an address in the browser.", visit.put),
		tool("test_missing_capability", "Missing capability", "Needs the client's model, and refuses a client that does not declare sampling.",
			completion("completion", "Say that sampling works.", 50, "LLM response: ").put),
	}
}

// question is what a tool asks its client, before it can answer by what said makes of the responses.
type question struct {
	needs capability
	ask   func(b *server.InputRequestBuilder)
	said  func(in mcp.InputResponses) (answer string, ok bool)
}

// put answers a call with what was said, or asks.
func (q question) put(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if s, ok := q.said(r.Params.InputResponses); ok {
		return text(s)
	}
	if bad, err := require(ctx, q.needs); bad != nil || err != nil {
		return bad, err
	}
	b := server.NewInputRequestBuilder("")
	q.ask(b)
	return b.ToolResult(), nil
}

// form asks the user to fill in a form.
func form(key, message, schema string, said func(a *mcp.ElicitationResult) string) question {
	return question{elicitation, func(b *server.InputRequestBuilder) { b.Elicit(key, formParams(message, schema)) }, func(in mcp.InputResponses) (string, bool) {
		a := answer(in, key, schema)
		if a == nil {
			return "", false
		}
		return said(a), true
	}}
}

// completion asks the client's model.
func completion(key, ask string, maxTokens int, before string) question {
	return question{sampling, func(b *server.InputRequestBuilder) { b.Sample(key, prompt(ask, maxTokens)) }, func(in mcp.InputResponses) (string, bool) {
		a := server.SamplingResponse(in, key)
		if a == nil {
			return "", false
		}
		return before + completionText(a), true
	}}
}

// visit asks the user to open a page.
var visit = question{browsing, func(b *server.InputRequestBuilder) {
	b.Elicit("visit", mcp.ElicitationParams{
		Mode: mcp.ElicitationModeURL, Message: "Please read the specification", URL: "https://modelcontextprotocol.io/specification",
		ElicitationID: "everything-visit",
	})
}, func(in mcp.InputResponses) (string, bool) {
	a := server.ElicitationResponse(in, "visit")
	if a == nil || !isDecision(a) {
		return "", false
	}
	return actionOf(a), true
}}

func actionOf(a *mcp.ElicitationResult) string {
	return "Elicitation completed: action=" + string(a.Action)
}

// contentOf says what the user did, and what stands in the form, after a title.
func contentOf(title string) func(a *mcp.ElicitationResult) string {
	return func(a *mcp.ElicitationResult) string {
		content, err := json.Marshal(a.Content)
		if err != nil {
			content = fmt.Append(nil, a.Content)
		}
		return fmt.Sprintf("%s: action=%s, content=%s", title, a.Action, content)
	}
}

func askAfterProgress(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	q := form("confirm", "Please confirm", confirmForm, actionOf)
	if _, ok := q.said(r.Params.InputResponses); !ok && hasCapability(ctx, elicitation) {
		if err := kit.Progress(ctx, r, 1, 2, "about to ask"); err != nil {
			return nil, fmt.Errorf("report progress: %w", err)
		}
	}
	return q.put(ctx, r)
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
