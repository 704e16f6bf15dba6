package front

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

var callParams = []string{
	`{"name":"echo"}`,
	`{"name":"echo","arguments":{}}`,
	` { "arguments" : {"a":[1,2.5,1e400,"x"],"b":null} , "name" : "echo" } `,
	`{"name":"echo","arguments":{"n":9007199254740993,"n2":1.0,"s":"\ud83d\ude42 \u003c <","deep":{"a":{"b":[{}]}}}}`,
	`{"name":"\u0065cho","arguments":{"a":1}}`,
	`{"name":"echo","arguments":null}`,
	`{"name":"echo","arguments":[]}`,
	`{"name":"echo","arguments":"x"}`,
	`{"name":"echo","arguments":{"a":1},"arguments":{"b":1}}`,
	`{"name":"echo","name":"add"}`,
	`{"Name":"echo","arguments":{}}`,
	`{"name":"echo","Arguments":{}}`,
	`{"name":null}`,
	`{"name":1}`,
	`{"name":"echo","_meta":{"progressToken":"p"}}`,
	`{"name":"echo","arguments":{"a":"b"},"_meta":{"progressToken":7,"x":{"y":[1]}}}`,
	`{"name":"echo","_meta":null}`,
	`{"name":"echo","_meta":[]}`,
	`{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2025-06-18"}}`,
	`{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`,
	`{"name":"echo","task":{"ttl":1}}`,
	`{"name":"echo","inputResponses":{}}`,
	`{"name":"echo","requestState":"s"}`,
	`{"arguments":{}}`,
	`{}`,
	`[]`,
	`{"name":"echo","arguments":{"a":1e}}`,
	"",
}

// FuzzPlainCall: what a direct call takes for the request is what mcp-go decodes. Params are part of a scanned frame.
func FuzzPlainCall(f *testing.F) {
	for _, p := range callParams {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, params string) {
		got, plain := plainCall([]byte(params))
		if !plain || !json.Valid([]byte(params)) || !utf8.ValidString(params) {
			return
		}
		var want mcp.CallToolRequest
		if err := json.Unmarshal([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`), &want); err != nil {
			t.Fatalf("%s: plain, but %v", params, err)
		}
		want.Header = http.Header{}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%#v\nmcp-go has\n%#v", params, got, want)
		}
	})
}

func TestPlainCalls(t *testing.T) {
	var plain int
	for _, p := range callParams {
		if _, ok := plainCall([]byte(p)); ok {
			plain++
		}
	}
	assert.Equalf(t, plain, 6, "are plain")
}

// odd are outcomes that no tool of the fixture has.
func odd(e *server.MCPServer) []string {
	tools := map[string]server.ToolHandlerFunc{
		"nothing": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return nil, nil },
		"denied": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, mcp.URLElicitationRequiredError{}
		},
		"empty": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{}, nil
		},
		"endless": func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return server.NewInputRequestBuilder("s").ToolResult(), nil
		},
		"context": func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(fmt.Sprint(server.ServerFromContext(ctx) == e, *server.RequestProtocolInfoFromContext(ctx), server.IsModernRequest(ctx),
				server.RequestProtocolVersion(ctx), server.ClientSessionFromContext(ctx) == From(ctx).peer, From(ctx).Method)), nil
		},
	}
	var names []string
	for name, h := range tools {
		e.AddTools(tool(name, h))
		names = append(names, name)
	}
	return names
}

// TestDirectIsTheSame: every outcome of a handler reaches the client as it does through the engine.
func TestDirectIsTheSame(t *testing.T) {
	f := start(t, nil)
	g := start(t, func(o *Options) { o.Direct = false })
	odd(g.engine)
	names := append(odd(f.engine), "echo", "panic", "broken", "full", "ask", "input", "log", "engine_notify", "hangup", "none")
	for _, accept := range []string{"application/json", "text/event-stream", "application/json, text/event-stream"} {
		for _, session := range []bool{true, false} {
			var s, u []string
			if session {
				s, u = f.login(t, "2025-06-18", "{}"), g.login(t, "2025-06-18", "{}")
			}
			for _, name := range names {
				if name == "hangup" && session && accept != "application/json" {
					continue // waits for the client to come back
				}
				for _, id := range []string{`1`, `"x"`, `1.50`} {
					body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":{"a":"<&>"}}}`, id, name)
					got, want := f.post(t, body, append(s, "Accept", accept)...), g.post(t, body, append(u, "Accept", accept)...)
					if got.status != want.status || got.body != want.body || got.header.Get("Content-Type") != want.header.Get("Content-Type") || got.body == "" {
						t.Errorf("%s, %s, session %v:\n%d %q, through the engine\n%d %q", body, accept, session, got.status, got.body, want.status, want.body)
					}
				}
			}
		}
	}
}
