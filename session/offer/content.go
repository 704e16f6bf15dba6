package offer

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Content is one piece of a result: of tools/call's content, a message of prompts/get, or of resources/read's contents.
type Content struct {
	Type        string          // text, image, audio, resource_link, resource; of contents "text" or "blob"; anything else as sent
	Role        string          // of a prompt message: user or assistant
	Text        string          // of text, and of embedded text resources
	MIME        string          // mimeType
	URI         string          // of links and resources
	Name        string          // of links
	Data        []byte          // image, audio or blob, decoded
	Raw         json.RawMessage // the piece as sent
	Annotations json.RawMessage // nil if absent
	Flaw        error           // what is wrong with it, such as data that is not base64; nil if nothing is
}

// Result is what a result of tools/call, prompts/get or resources/read holds.
type Result struct {
	Contents   []Content
	Structured json.RawMessage // structuredContent, nil if absent
	IsError    bool
	Meta       json.RawMessage // _meta, nil if absent
	Type       string          // resultType, "" if absent
	Text       string          // description of prompts/get
}

// ParseResult reads a result in one pass. Unknown types of content are kept with their Raw; an error means that the
// result is not JSON or not an object, or a list in it no array. What was read until then is returned with it.
func ParseResult(result []byte) (Result, error) {
	var r Result
	var bad error
	w := jsonrpc.Walk(result)
	_, ok := w.Object(func(key string) {
		switch key {
		case "content", "contents", "messages":
			if _, ok := w.Array(func() { r.Contents = append(r.Contents, readContent(w)) }); !ok {
				bad = fmt.Errorf("%s is not an array", key)
			}
		case "structuredContent":
			r.Structured = w.Raw()
		case "isError":
			r.IsError = string(w.Raw()) == "true"
		case "_meta":
			r.Meta = w.Raw()
		case "resultType":
			r.Type, _ = w.Str()
		case "description":
			r.Text, _ = w.Str()
		}
	})
	switch {
	case w.Err() != nil:
		bad = w.Err()
	case !ok:
		bad = fmt.Errorf("the result is not an object")
	}
	if bad != nil {
		bad = &failure.Error{Kind: failure.Protocol, Message: "the result cannot be shown: " + bad.Error(), Next: "see it as JSON", Err: bad}
	}
	return r, bad
}

// Contents is ParseResult for callers who want the contents only.
func Contents(result []byte) ([]Content, error) {
	r, err := ParseResult(result)
	return r.Contents, err
}

// StructuredContent is the result's structuredContent as sent, nil if absent.
func StructuredContent(result []byte) json.RawMessage {
	return jsonrpc.Get(result, "structuredContent")
}

// IsError reports whether a tool reported an error.
func IsError(result []byte) bool { return string(jsonrpc.Get(result, "isError")) == "true" }

// readContent reads the piece at w.
func readContent(w *jsonrpc.Walker) Content {
	var c Content
	raw, ok := w.Object(func(key string) { c.member(w, key) })
	c.Raw = raw
	switch {
	case !ok:
		c.Flaw = fmt.Errorf("the piece is not an object")
	case c.Type == "" && c.Data != nil:
		c.Type = "blob"
	case c.Type == "":
		c.Type = "text"
	}
	return c
}

// member reads one member of a piece, or of what is nested in it: an embedded resource, or the content of a message.
func (c *Content) member(w *jsonrpc.Walker, key string) {
	text := func(to *string) {
		s, ok := w.Str()
		if !ok {
			c.Flaw = fmt.Errorf("%s is not a string", key)
		}
		*to = s
	}
	switch key {
	case "type":
		text(&c.Type)
	case "role":
		text(&c.Role)
	case "text":
		text(&c.Text)
	case "mimeType":
		text(&c.MIME)
	case "uri":
		text(&c.URI)
	case "name":
		text(&c.Name)
	case "annotations":
		c.Annotations = w.Raw()
	case "data", "blob":
		var s string
		text(&s)
		data, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			c.Flaw = fmt.Errorf("%s is not base64: %w", key, err)
		}
		c.Data = data
	case "resource", "content":
		if w.Peek() == '[' { // some servers send messages with several pieces
			first := true
			w.Array(func() {
				if first {
					w.Object(func(key string) { c.member(w, key) })
				}
				first = false
			})
			return
		}
		w.Object(func(key string) { c.member(w, key) })
	}
}
