package pending

import (
	"encoding/json"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Message is the result of a sampling request (2025-11-25, client/sampling).
type Message struct {
	Role       string            `json:"role"` // "" is assistant
	Content    []json.RawMessage `json:"-"`    // blocks: text, image, audio, tool_use
	Model      string            `json:"model"`
	StopReason string            `json:"stopReason,omitempty"`
}

// Result is the message as it is sent. One block stands by itself, as revisions before 2025-11-25 want it; several are an array.
func (m Message) Result() json.RawMessage {
	if m.Role == "" {
		m.Role = "assistant"
	}
	content := json.RawMessage("[]")
	if len(m.Content) == 1 {
		content = m.Content[0]
	} else if b, err := json.Marshal(m.Content); err == nil && m.Content != nil { // blocks are JSON
		content = b
	}
	head, err := json.Marshal(m)
	if err != nil { // three strings always marshal
		head = []byte(`{}`)
	}
	out, err := jsonrpc.Update(head, jsonrpc.Set(content, "content"))
	if err != nil {
		return head
	}
	return out
}

// Text is a content block of text.
func Text(s string) json.RawMessage {
	return append(append([]byte(`{"type":"text","text":`), jsonrpc.Quote(s)...), '}')
}

// ToolUse is a content block that calls one of the offered tools; input is a JSON object.
func ToolUse(id, name string, input json.RawMessage) json.RawMessage {
	out := append([]byte(`{"type":"tool_use","id":`), jsonrpc.Quote(id)...)
	out = append(append(out, `,"name":`...), jsonrpc.Quote(name)...)
	return append(append(append(out, `,"input":`...), input...), '}')
}

// Image is a content block of a picture; data is base64.
func Image(mime, data string) json.RawMessage {
	out := append([]byte(`{"type":"image","data":`), jsonrpc.Quote(data)...)
	return append(append(append(out, `,"mimeType":`...), jsonrpc.Quote(mime)...), '}')
}
