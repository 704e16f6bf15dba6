package front

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// outcome is what a tool's handler returned.
type outcome struct {
	result *mcp.CallToolResult
	err    error
}

// direct calls the handler of a plain tool call: one of the legacy era that asks for nothing special. HandleMessage would
// decode the message four times to find that out. It is true if the result is all that the engine
// would have answered; x.tried has any other outcome, for the engine to go on from.
func (s *Server) direct(ctx context.Context, x *Exchange) (*mcp.CallToolResult, bool) {
	if s.handlers == nil || x.Modern || x.ID == nil || x.Method != string(mcp.MethodToolsCall) {
		return nil, false
	}
	r, ok := plainCall(x.Params)
	if !ok {
		return nil, false
	}
	t := s.o.Engine.GetTool(r.Params.Name)
	if t == nil || t.Handler == nil || t.Tool.Execution != nil {
		return nil, false
	}
	result, err := handle(handlerContext{s.o.Engine.WithContext(ctx, x.peer), s.handlers}, t.Handler, r)
	if err != nil || result == nil || result.NeedsInput() {
		x.tried = &outcome{result, err}
		return nil, false
	}
	return result, true
}

// plainCall is what mcp-go decodes from params, false if they have other members than a name, arguments and _meta, or name
// a protocol version.
func plainCall(params []byte) (r mcp.CallToolRequest, plain bool) {
	named := false
	plain = true
	err := jsonrpc.Members(params, func(key string, value []byte) bool {
		switch {
		case key == "name" && !named:
			r.Params.Name, named = jsonrpc.String(value)
			plain = named
		case key == "arguments" && r.Params.RawArguments == nil && value[0] == '{':
			r.Params.RawArguments = append(json.RawMessage(nil), value...)
			plain = json.Unmarshal(value, &r.Params.Arguments) == nil
		case key == "_meta" && r.Params.Meta == nil && value[0] == '{':
			plain = json.Unmarshal(value, &r.Params.Meta) == nil && r.Params.Meta.ProtocolVersion() == ""
		default:
			plain = false
		}
		return plain
	})
	r.Method, r.Header = string(mcp.MethodToolsCall), http.Header{}
	return r, plain && named && err == nil
}

// handle survives the handler.
func handle(ctx context.Context, h server.ToolHandlerFunc, r mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, panicError(v)
		}
	}()
	return h(ctx, r)
}

// handlerContext is a request's context with what mcp-go's own have in addition. It ends with the request; engine is only asked for values.
type handlerContext struct {
	context.Context
	engine context.Context
}

// Value is the engine's, else the request's.
func (c handlerContext) Value(key any) any {
	if v := c.engine.Value(key); v != nil {
		return v
	}
	return c.Context.Value(key)
}

// engineContext has the values that mcp-go gives to the handlers of legacy requests that name no protocol version. The key of one is its
// secret, so that it has to be fetched from a handler.
func engineContext(e *server.MCPServer) context.Context {
	const method = "notifications/mcphud/context"
	var once sync.Once // clients can send it too
	got := context.Background()
	e.AddNotificationHandler(method, func(ctx context.Context, _ mcp.JSONRPCNotification) {
		once.Do(func() { got = ctx })
	})
	e.HandleMessage(context.Background(), jsonrpc.NewNotification(method, nil))
	return server.WithRequestProtocolInfo(got, &server.RequestProtocolInfo{})
}
