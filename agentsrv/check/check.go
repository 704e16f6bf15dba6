// Package check refuses tool calls whose arguments do not fit the tool's input schema, before they wait for anything or
// run. The engine's own validation stays off: it knows only some keywords and says neither field nor reason. Package checktest does the same in
// tests of single tools.
package check

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// Tool is what a check needs to know of one.
type Tool struct {
	Input  json.RawMessage // its input schema; nil allows everything
	Output bool            // it declares an output schema
}

// Lookup finds a tool by name, as the registry is now.
type Lookup func(name string) (Tool, bool)

// Engine looks tools up in mcp-go's registry.
func Engine(s *server.MCPServer) Lookup {
	return func(name string) (Tool, bool) {
		t := s.GetTool(name)
		if t == nil {
			return Tool{}, false
		}
		out := Tool{Input: t.Tool.RawInputSchema, Output: t.Tool.RawOutputSchema != nil || t.Tool.OutputSchema.Type != ""}
		if out.Input == nil {
			raw, err := json.Marshal(t.Tool.InputSchema)
			if err != nil {
				return out, true
			}
			out.Input = raw
		}
		return out, true
	}
}

// Middleware answers tools/call itself where no such tool exists or the arguments do not fit; asResult says in which
// form. A schema that does not compile is logged once, and then checks nothing.
func Middleware(find Lookup, log *slog.Logger) front.Middleware {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	known := newValidators(log)
	return func(next front.Next) front.Next {
		return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
			if x.Method != "tools/call" {
				return next(ctx, x)
			}
			call, bad := kit.ParseCall(x.Params)
			if bad != nil {
				return nil, bad
			}
			tool, ok := find(call.Name)
			if !ok {
				return nil, jsonrpc.Errorf(jsonrpc.KindToolNotFound, "Tool '%s' not found", kit.Shown(call.Name))
			}
			if tool.Input == nil {
				return next(ctx, x)
			}
			if bad := known.of(call.Name, tool.Input).check(call.Arguments); bad != nil {
				return kit.Refuse(bad, x.Modern, x.Version, tool.Output)
			}
			return next(ctx, x)
		}
	}
}
