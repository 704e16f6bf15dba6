// Package delegate is the tool with which an agent has another one do something: through the router, which knows where the
// others are and who may call whom.
package delegate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/serve/agentclient"
	"github.com/mcphud/mcphud/session/wire/span"
)

// Tool is the name of the tool.
const Tool = "call_agent"

const (
	maxAnswer = 10 << 20        // bytes that another agent may answer with; several calls wait at a time
	patience  = 2 * time.Minute // for another agent's answer; the router has limits of its own, mostly lower ones

	input = `{"type":"object","properties":{` +
		`"agent":{"type":"string","minLength":1,"maxLength":64,"description":"Name of the agent, as the router knows it"},` +
		`"tool":{"type":"string","minLength":1,"description":"Which of its tools to call"},` +
		`"args":{"type":"object","description":"Arguments for that tool"}},` +
		`"required":["agent","tool"]}`
)

// Options say how other agents are reached, and what a call of one belongs to.
type Options struct {
	Router agentclient.Options // the zero value is the router on this machine

	// Hops is how many routers the request went through that ctx belongs to; nil for none.
	Hops func(ctx context.Context) int
	// Wait runs f, which waits for another agent, while the request that ctx belongs to occupies no place that others wait
	// for: the agent that is called may call this one. nil runs it as it is.
	Wait func(ctx context.Context, f func())

	// Trace begins a step of a trace, which the function ends; nil for none.
	Trace func(ctx context.Context, name string, attrs map[string]string) (ended func(error))

	Timeout time.Duration // of a call; default 2 min
}

// Delegate offers the tool. It must be closed.
type Delegate struct {
	o      Options
	client *agentclient.Client
}

// New makes the tool, or says why there can be no such router. It connects to nothing yet.
func New(o Options) (*Delegate, error) {
	o.Router.MaxBody = cmp.Or(o.Router.MaxBody, maxAnswer)
	o.Timeout = cmp.Or(o.Timeout, patience)
	if o.Hops == nil {
		o.Hops = func(context.Context) int { return 0 }
	}
	if o.Wait == nil {
		o.Wait = func(_ context.Context, f func()) { f() }
	}
	if o.Trace == nil {
		o.Trace = func(context.Context, string, map[string]string) func(error) { return func(error) {} }
	}
	client, err := agentclient.New(o.Router)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Tool, err)
	}
	return &Delegate{o, client}, nil
}

// Close gives up the connections to the router.
func (d *Delegate) Close() error {
	d.client.Close()
	return nil
}

// Tools is call_agent.
func (d *Delegate) Tools() []server.ServerTool {
	t := kit.Tool(Tool, "Call another agent",
		"Calls a tool of another agent through the router and returns what it returned. What goes wrong on the way is an error that says where.",
		kit.Destructive, kit.Args(d.call), input, "") // the other tool may be so
	no, yes := false, true
	t.Tool.Annotations.IdempotentHint, t.Tool.Annotations.OpenWorldHint = &no, &yes
	return []server.ServerTool{t}
}

type callArgs struct {
	Agent, Tool string
	Args        json.RawMessage
}

func (d *Delegate) call(ctx context.Context, r mcp.CallToolRequest, in callArgs) (*mcp.CallToolResult, error) {
	var raw json.RawMessage
	var err error
	d.o.Wait(ctx, func() {
		ctx, cancel := context.WithTimeout(agentclient.WithHops(ctx, d.o.Hops(ctx)), d.o.Timeout)
		defer cancel()
		if string(in.Args) == "null" {
			in.Args = nil
		}
		end := d.o.Trace(ctx, Tool, map[string]string{span.AttrAgent: in.Agent, span.AttrTool: in.Tool})
		raw, err = d.client.CallTool(ctx, in.Agent, in.Tool, in.Args)
		end(err)
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // nobody waits for the answer; the queue says why
	}
	if err != nil {
		return d.errorResult(err), nil
	}
	res, err := passOn(raw)
	if err != nil {
		return mcp.NewToolResultErrorf("%s through the router at %s: %s: invalid tool result from %s: %v; see that agent's log", Tool, d.client.Router(), in.Agent, in.Tool, err), nil
	}
	return res, nil
}
