package front

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

// plainResult encodes the result of most tools, texts and perhaps a structured value, to the bytes that json.Marshal gives:
// that makes maps of it, encodes those, and then reads all of it again. It is false for any other result.
func plainResult(r *mcp.CallToolResult) ([]byte, bool) {
	if r == nil || len(r.InputRequests) > 0 || r.RequestState != "" || r.StructuredContent != nil {
		return nil, false
	}
	size := len(r.RawStructuredContent) + 128
	for _, c := range r.Content {
		t, ok := c.(mcp.TextContent)
		if !ok || t.Annotations != nil || t.Meta != nil || t.Type != mcp.ContentTypeText {
			return nil, false
		}
		size += len(t.Text) + len(t.Text)/8 + 40
	}
	e := encoder{buf: append(make([]byte, 0, size), '{')}
	if r.Meta != nil {
		e.member(`"_meta":`, r.Meta)
		e.text(",")
	}
	e.text(`"content":[`)
	for i, c := range r.Content {
		if i > 0 {
			e.text(",")
		}
		e.text("{")
		e.member(`"type":"text","text":`, c.(mcp.TextContent).Text)
		e.text("}")
	}
	e.text("]")
	if r.IsError {
		e.text(`,"isError":true`)
	}
	if r.ResultType != "" {
		e.member(`,"resultType":`, r.ResultType)
	}
	if len(r.RawStructuredContent) > 0 {
		e.member(`,"structuredContent":`, r.RawStructuredContent)
	}
	e.text("}")
	return e.buf, e.err == nil
}

// encoder puts JSON together, and keeps the first error.
type encoder struct {
	buf []byte
	err error
}

func (e *encoder) text(s string) { e.buf = append(e.buf, s...) }

func (e *encoder) member(before string, v any) {
	raw, err := json.Marshal(v)
	if e.err == nil {
		e.err = err
	}
	e.buf = append(append(e.buf, before...), raw...)
}
