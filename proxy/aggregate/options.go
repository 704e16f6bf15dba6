package aggregate

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
)

// Options configures a Server. Router, Agents and Identify are required.
type Options struct {
	Name, Version string // of the server that clients see; default mcphud-router, 1.0.0

	// Router serves the requests to agents at /mcps/NAME/mcp. The context of a request is what Inside made of its own.
	Router         http.Handler
	InternalCaller func(ctx context.Context, principal string) context.Context
	// Direct does with a request that was read and checked what Router does with others; its context is made by InternalCaller.
	// nil has all go to Router.
	Direct func(*flow.Call)
	// Refused records a request about a tool, prompt or resource that was answered with an error before any agent was asked; nil
	// where nobody does. The agent is "" where it is not clear.
	Refused func(*flow.Call)
	// Agents are the names of the agents that there are now, sorted. What it returns is not modified.
	Agents func() []string
	// Identify authenticates a request, or answers it itself and returns false.
	Identify func(http.ResponseWriter, *http.Request) (Caller, bool)

	// Offers reports whether a tool of an agent can be called; nil for all.
	Offers func(agent, tool string) bool
	// Selects reports whether the endpoint has a tool or prompt of an agent; nil for all.
	Selects func(agent, name string) bool
	// Merged is how tools and prompts are named, and what clients can take of them; nil for the zero value.
	Merged func() *routes.Merged
	// Bind returns a context for an event stream that is cancelled when the principal loses its rights; free is called
	// in the end. nil for principals that never do.
	Bind func(ctx context.Context, principal string) (bound context.Context, free func())

	// Sole makes the endpoint that of one server, which all callers share; nil for that of all agents.
	Sole *Sole
	// AskTime is how long a caller has to answer what an agent asks, default 4 h: who never does holds a call until then.
	AskTime time.Duration

	Page     int           // items on a page of a list, default 250
	Patience time.Duration // how long a list waits for an agent, default 5 s
	Timeout  time.Duration // of a call without progress, default 30 s
	// Limit is Timeout for one agent; nil for the same for all.
	Limit      func(agent string) time.Duration
	MaxRequest int64         // bytes of a body, default 10 MiB
	Max        int           // sessions at once, default 1000
	TTL        time.Duration // life of a session that nobody uses, default 30 min

	BodyTimeout  time.Duration // for the body of a request to arrive, default 30 s
	WriteTimeout time.Duration // for a client to read what is written to it, default 30 s
	// Drain is done when event streams that have no end shall end; nil for when the server is closed.
	Drain  context.Context
	Logger *slog.Logger
}

// Caller is who calls, and which agents that one may call.
type Caller struct {
	Principal string
	May       func(agent string) bool
}

// complete fills in what is not said.
func (o *Options) complete() {
	o.Name = cmp.Or(o.Name, "mcphud-router")
	o.Version = cmp.Or(o.Version, "1.0.0")
	o.Page = cmp.Or(o.Page, 250)
	o.Patience = cmp.Or(o.Patience, 5*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MaxRequest = cmp.Or(o.MaxRequest, 10<<20)
	o.Max = cmp.Or(o.Max, 1000)
	o.AskTime = cmp.Or(o.AskTime, maxAsk)
	o.TTL = cmp.Or(o.TTL, 30*time.Minute)
	o.BodyTimeout = cmp.Or(o.BodyTimeout, 30*time.Second)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, 30*time.Second)
	if o.Limit == nil {
		o.Limit = func(string) time.Duration { return o.Timeout }
	}
	if o.Offers == nil {
		o.Offers = func(string, string) bool { return true }
	}
	if o.Selects == nil {
		o.Selects = func(string, string) bool { return true }
	}
	if o.Merged == nil {
		o.Merged = func() *routes.Merged { return &routes.Merged{} }
	}
	if o.Bind == nil {
		o.Bind = func(ctx context.Context, _ string) (context.Context, func()) { return ctx, func() {} }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Drain == nil {
		o.Drain = context.Background()
	}
	if o.InternalCaller == nil {
		o.InternalCaller = func(ctx context.Context, _ string) context.Context { return ctx }
	}
}
