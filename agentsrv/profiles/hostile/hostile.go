// Package hostile is the agent's profile of the same name: it serves, by name, what a client must survive. Each payload
// of the table in payloads.go is a tool, a resource and a prompt that carries it in its title, its description and its
// schema, and answers with it. Other tools flood, ask for things under false pretences, or answer in ways that the
// protocol does not allow; list_mode makes the list of tools itself a trap.
//
// There are three layers. Tools are ordinary tools of the engine. Middleware answers lists, payloads and floods with
// results written by hand, which are valid JSON-RPC nevertheless. Wrap (HTTP) and Stdio misbehave below JSON-RPC: wrong
// ids, half frames, no answer, an exit.
//
// [Faults] is the profile "fault": tools that switch faults of the transport on and off while the agent runs, and one that panics.
package hostile

import (
	"context"
	"encoding/json"
	"os"
	"sync/atomic"

	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/serve/fault"
)

// Options are what a Server needs of its surroundings; the zero value is complete.
type Options struct {
	Changed func()         // tells clients that the list of tools changed
	Exit    func(code int) // ends the process for the tool exit; nil is os.Exit
}

// Server is the profile. It is safe for concurrent use.
type Server struct {
	o    Options
	mode atomic.Int64 // of the list of tools, which of modes
	list atomic.Int64 // how often it was asked for, for lists that change
}

// New returns the profile; it starts nothing.
func New(o Options) *Server {
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.Exit == nil {
		o.Exit = os.Exit
	}
	return &Server{o: o}
}

// Middleware answers what is this profile's own, and leaves the rest to the engine. Since its tools are not in the
// engine it goes before whatever looks them up there.
func (s *Server) Middleware(next front.Next) front.Next {
	return func(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
		if x.ID == nil {
			return next(ctx, x)
		}
		list, result, name := true, "", jsonrpc.GetString(x.Params, "name")
		switch x.Method {
		case "tools/list":
			result = s.tools(jsonrpc.GetString(x.Params, "cursor"))
		case "resources/list":
			result = resources()
		case "resources/templates/list":
			result = templates()
		case "prompts/list":
			result = prompts()
		case "resources/read":
			result = read(jsonrpc.GetString(x.Params, "uri"))
		case "prompts/get":
			result = prompt(name)
		case "tools/call":
			list = false
			var err error
			if result, err = s.call(ctx, x, name, jsonrpc.Get(x.Params, "arguments")); err != nil {
				return nil, err
			}
		}
		if result == "" {
			return next(ctx, x)
		}
		return complete(result, x.Modern, list && x.Method != "prompts/get"), nil
	}
}

// number is a whole number among the arguments, between 0 and most; def if it is missing.
func number(args []byte, key string, def, most int) int {
	n := def
	if raw := jsonrpc.Get(args, key); raw != nil {
		var f float64
		if json.Unmarshal(raw, &f) != nil {
			return def
		}
		n = int(min(max(f, 0), float64(most)))
	}
	return n
}

// find is the payload with a slug.
func find(slug string) (fault.Payload, bool) {
	for _, p := range fault.Payloads() {
		if p.Slug() == slug {
			return p, true
		}
	}
	return fault.Payload{}, false
}
