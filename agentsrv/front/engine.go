package front

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
)

// EngineOptions are the options that an engine needs so that what its handlers return as errors reaches the wire as it
// is, and a panic of theirs does not reach the transport.
func EngineOptions() []server.ServerOption {
	return []server.ServerOption{
		server.WithToolHandlerMiddleware(func(next server.ToolHandlerFunc) server.ToolHandlerFunc {
			return func(ctx context.Context, r mcp.CallToolRequest) (res *mcp.CallToolResult, err error) {
				defer recoverError(ctx, &err)
				if x := From(ctx); x != nil && x.tried != nil {
					o := *x.tried
					x.tried = nil
					return o.result, o.err
				}
				return next(ctx, r)
			}
		}),
		server.WithResourceHandlerMiddleware(func(next server.ResourceHandlerFunc) server.ResourceHandlerFunc {
			return func(ctx context.Context, r mcp.ReadResourceRequest) (res []mcp.ResourceContents, err error) {
				defer recoverError(ctx, &err)
				return next(ctx, r)
			}
		}),
		server.WithPromptHandlerMiddleware(func(next server.PromptHandlerFunc) server.PromptHandlerFunc {
			return func(ctx context.Context, r mcp.GetPromptRequest) (res *mcp.GetPromptResult, err error) {
				defer recoverError(ctx, &err)
				return next(ctx, r)
			}
		}),
	}
}

// recoverError turns a panic into an error and remembers the error with its type, of which mcp-go keeps the text only.
func recoverError(ctx context.Context, err *error) {
	if v := recover(); v != nil {
		*err = panicError(v)
	}
	if x := From(ctx); x != nil && *err != nil {
		x.failure.Store(err)
	}
}

// Fail returns err, and remembers it with its type for the answer: that of a provider of completions, around which mcp-go has no
// middleware.
func Fail(ctx context.Context, err error) error {
	if x := From(ctx); x != nil {
		x.failure.Store(&err)
	}
	return err
}

// panicError is the error of a handler that panicked: the client gets no word of why, the log the stack with secrets hidden.
func panicError(v any) error {
	return &jsonrpc.RequestError{
		Kind: jsonrpc.KindInternal, Message: "internal error", Data: map[string]any{"reason": "panic"},
		Err: fmt.Errorf("panic: %s\n%s", mask.Log(fmt.Sprint(v)), debug.Stack()),
	}
}

// engine is the innermost Next.
func (s *Server) engine(ctx context.Context, x *Exchange) (result json.RawMessage, err error) {
	if From(ctx) != x {
		ctx = WithExchange(ctx, x)
	}
	if x.Method == string(mcp.MethodResourcesSubscribe) && x.Session == nil && !x.Modern {
		f := jsonrpc.Errorf(jsonrpc.KindSessionInvalid, "resources/subscribe needs a session: updates are sent on its stream; call initialize first")
		f.Status = http.StatusBadRequest // 404 is for sessions that are over
		return nil, f
	}
	p := x.peer
	if p == nil || p.x != x { // a request inside another: its own notifications, the same client
		p = s.newPeer(x, p)
		x.peer = p
		defer p.flush()
	}
	if result, ok := s.direct(ctx, x); ok {
		return encode(x, result)
	}
	frame := x.Frame
	if frame == nil || x.ID != nil && !plainID(x.ID) {
		id := x.ID
		if id != nil {
			id = []byte("1") // mcp-go's is not used, and would not survive every id
		}
		if frame = jsonrpc.NewRequest(id, x.Method, x.Params); id == nil {
			frame = jsonrpc.NewNotification(x.Method, x.Params)
		}
	}
	switch m := s.o.Engine.HandleMessage(s.o.Engine.WithContext(ctx, p), frame).(type) {
	case nil:
		return nil, nil
	case mcp.JSONRPCResponse:
		if err := s.inputAllowed(x, m.Result); err != nil {
			return nil, err
		}
		return encode(x, m.Result)
	case mcp.JSONRPCError:
		return nil, s.engineError(x, m.Error)
	default:
		return nil, fmt.Errorf("the engine answered %s with a %T", x.Method, m)
	}
}

// plainID reports whether mcp-go decodes the id without complaint: a number that it can hold, or a short string.
func plainID(id []byte) bool {
	if id[0] == '"' {
		return len(id) <= 100
	}
	return len(id) <= 15 && !bytes.ContainsAny(id, "eE.")
}

// encode is the result as JSON. That of subscriptions/listen names its request, as all that comes on its stream does.
func encode(x *Exchange, result any) (json.RawMessage, error) {
	if l, ok := result.(mcp.SubscriptionsListenResult); ok {
		l.EnsureResultMeta().SetSubscriptionID(json.RawMessage(x.ID))
		result = l
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return nil, fmt.Errorf("%s: encode the result: %w", x.Method, err)
	}
	return raw, nil
}

// wireError finds an error that determines what goes on the wire.
func wireError(err error) (error, bool) {
	if f, ok := jsonrpc.AsRequestError(err); ok {
		return f, true
	}
	var rpc *jsonrpc.Error
	if errors.As(err, &rpc) {
		return rpc, true
	}
	var missing mcp.MissingRequiredClientCapabilityError
	if errors.As(err, &missing) {
		return missingCapability(missing.Capability), true
	}
	return nil, false
}

// missingCapability is the error of 2026-07-28 for a client that cannot do what the request needs.
func missingCapability(names ...string) *jsonrpc.Error {
	required := map[string]any{}
	for _, n := range names {
		required[n] = struct{}{}
	}
	raw, _ := json.Marshal(map[string]any{"kind": "missing_client_capability", "requiredCapabilities": required}) // maps of strings
	return &jsonrpc.Error{
		Code: jsonrpc.CodeMissingCapability, Data: raw,
		Message: "the request needs a client capability that was not declared: " + strings.Join(names, ", "),
	}
}

// inputAllowed refuses to ask a modern client for input that it declared no capability for.
func (s *Server) inputAllowed(x *Exchange, result any) error {
	var asked mcp.InputRequests
	switch r := result.(type) {
	case *mcp.CallToolResult:
		asked = r.InputRequests
	case mcp.CallToolResult:
		asked = r.InputRequests
	case *mcp.GetPromptResult:
		asked = r.InputRequests
	case mcp.GetPromptResult:
		asked = r.InputRequests
	case *mcp.ReadResourceResult:
		asked = r.InputRequests
	case mcp.ReadResourceResult:
		asked = r.InputRequests
	}
	if len(asked) == 0 || !x.Modern {
		return nil
	}
	var missing []string
	caps := x.peer.GetClientCapabilities()
	for _, r := range asked {
		if !can(caps, string(r.Method)) {
			missing = append(missing, capability(string(r.Method)))
		}
	}
	if missing == nil {
		return nil
	}
	return missingCapability(missing...)
}

// newPeer is what mcp-go sees of the client of x: that of its session, here or elsewhere; of the peer of the request that x is inside of; or one for
// this request alone.
func (s *Server) newPeer(x *Exchange, of *peer) *peer {
	p := &peer{x: x, hub: &s.hub}
	switch {
	case of != nil:
		p.client, p.id = of.client, of.id
	case x.Session != nil:
		p.client, p.id = &x.Session.client, x.Session.id
	case x.remote != nil: // which of its sessions, by a name that may be shown
		p.client, p.id = x.remote, "session-"+x.Caller.Session
	default:
		p.client = &client{version: x.Version, ready: true}
		p.id = fmt.Sprintf("request-%d", s.requests.Add(1))
	}
	return p
}
