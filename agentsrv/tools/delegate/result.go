package delegate

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// block is a block of content with the bytes that the other agent sent, also of a kind that nobody here knows.
type block struct {
	mcp.TextContent // makes it content
	raw             json.RawMessage
}

// MarshalJSON is what was sent.
func (b block) MarshalJSON() ([]byte, error) { return b.raw, nil }

// passOn makes the result of the tool here of the one that was called: content, structuredContent, isError and _meta stay
// what they were.
func passOn(raw json.RawMessage) (*mcp.CallToolResult, error) {
	res := &mcp.CallToolResult{Content: []mcp.Content{}}
	found := false
	var bad error
	err := jsonrpc.Members(raw, func(key string, value []byte) bool {
		switch key {
		case "content":
			if value[0] != '[' {
				bad = errors.New("its content is not a list")
				break
			}
			found = true
			odd := false
			bad = jsonrpc.Elements(value, func(e []byte) bool {
				odd = odd || e[0] != '{'
				res.Content = append(res.Content, block{raw: e})
				return !odd
			})
			if odd {
				bad = errors.New("its content has an item that is not an object")
			}
		case "structuredContent":
			if value[0] != 'n' {
				res.RawStructuredContent = value
			}
		case "isError":
			res.IsError = string(value) == "true"
		case "_meta":
			res.Meta, bad = metaOf(value)
		}
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return nil, err
	}
	if !found {
		return nil, errors.New("it has no content")
	}
	return res, nil
}

func metaOf(raw []byte) (*mcp.Meta, error) {
	if raw[0] == 'n' {
		return nil, nil
	}
	m := &mcp.Meta{AdditionalFields: map[string]any{}}
	err := jsonrpc.Members(raw, func(key string, value []byte) bool {
		m.AdditionalFields[key] = json.RawMessage(value)
		return true
	})
	if err != nil {
		return nil, fmt.Errorf("its _meta: %w", err)
	}
	return m, nil
}

// reason is what structuredContent tells programs about a call that had no result.
type reason struct {
	Kind    failure.Kind    `json:"kind"`
	Code    *int64          `json:"code,omitempty"` // of JSON-RPC
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
	Status  int             `json:"status,omitempty"` // of HTTP
}

// errorResult is the result for a call that had none.
func (d *Delegate) errorResult(err error) *mcp.CallToolResult {
	res := mcp.NewToolResultErrorf("%s through the router at %s: %v", Tool, d.client.Router(), err)
	var e *failure.Error
	if errors.As(err, &e) {
		// Without it the text says as much.
		res.RawStructuredContent, _ = kit.Marshal(map[string]reason{"error": {e.Kind, e.Code, e.Message, e.Data, e.Status}})
	}
	return res
}
