// Package kit is what the handlers of the agent's tools, resources and prompts have in common: how a tool is declared,
// how its arguments are read and its result is made, how a handler talks to the client while it works, and who that
// client is.
package kit

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// Effect is what a tool does to the world; clients may ask before they call those that change it.
type Effect int

const (
	// ReadOnly changes nothing, and may be repeated.
	ReadOnly Effect = iota
	// Additive makes something new and leaves what is there alone.
	Additive
	// Destructive may change or remove what is there.
	Destructive
)

// Tool declares a tool. The schemas are kept as they are written, since mcp-go's typed schema knows only some keywords;
// output may be "".
func Tool(name, title, description string, e Effect, h server.ToolHandlerFunc, input, output string) server.ServerTool {
	yes, no := true, false
	t := mcp.NewToolWithRawSchema(name, description, json.RawMessage(input))
	t.Title = title
	if output != "" {
		t.RawOutputSchema = json.RawMessage(output)
	}
	t.Annotations = mcp.ToolAnnotation{ReadOnlyHint: &no, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no}
	switch e {
	case ReadOnly:
		t.Annotations.ReadOnlyHint, t.Annotations.DestructiveHint = &yes, nil
	case Additive:
		t.Annotations.IdempotentHint = &no
	case Destructive:
		t.Annotations.DestructiveHint = &yes
	}
	return server.ServerTool{Tool: t, Handler: h}
}

// Arguments decodes a call's arguments into v. A nil result means success; otherwise it is the answer: a tool error,
// which a model can read and correct.
func Arguments(r mcp.CallToolRequest, v any) *mcp.CallToolResult {
	raw := RawArguments(r)
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return mcp.NewToolResultErrorf("%s: the arguments do not fit its input schema: %v", r.Params.Name, err)
	}
	return nil
}

// Args is the handler of a tool whose function gets a call's arguments as a struct. They fit the tool's input schema: package check holds
// them against it before a call waits for anything, so that a function checks only what a schema cannot say.
func Args[In any](run func(ctx context.Context, r mcp.CallToolRequest, in In) (*mcp.CallToolResult, error)) server.ToolHandlerFunc {
	var none In
	return ArgsOver(none, run)
}

// ArgsOver is Args where defaults has what a call leaves out.
func ArgsOver[In any](defaults In, run func(ctx context.Context, r mcp.CallToolRequest, in In) (*mcp.CallToolResult, error)) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		in := defaults
		if bad := Arguments(r, &in); bad != nil {
			return bad, nil
		}
		return run(ctx, r, in)
	}
}

// RawArguments is what the client sent as arguments, byte for byte; nil if it sent none.
func RawArguments(r mcp.CallToolRequest) json.RawMessage {
	switch v := r.GetRawArguments().(type) {
	case nil:
		return nil
	case json.RawMessage:
		return v
	default: // an in-process client hands over a Go value
		raw, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		return raw
	}
}

// JSON is a result whose text is v as JSON and whose structuredContent is the same value. v must be an object.
func JSON(v any) (*mcp.CallToolResult, error) {
	raw, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	res := mcp.NewToolResultText(string(raw))
	res.RawStructuredContent = raw
	return res, nil
}

// ErrorJSON is JSON with isError set.
func ErrorJSON(v any) (*mcp.CallToolResult, error) {
	res, err := JSON(v)
	if err != nil {
		return nil, err
	}
	res.IsError = true
	return res, nil
}

// Marshal is v as JSON that leaves <, > and & as they are: the text is for people and models, not for a web page.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
