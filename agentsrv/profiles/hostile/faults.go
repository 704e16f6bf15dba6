package hostile

import (
	"context"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/serve/fault"
)

const (
	setTool    = "fault_set"
	nextTool   = "fault_next"
	statusTool = "fault_status"
)

const setInput = `{
  "type": "object",
  "properties": {
    "delay_ms": {"type": "integer", "description": "How long a delayed request waits", "default": 0, "minimum": 0, "maximum": 300000},
    "delay_percent": {"type": "number", "description": "Requests that wait first", "default": 0, "minimum": 0, "maximum": 100},
    "drop_percent": {"type": "number", "description": "Requests whose connection is closed without an answer", "default": 0, "minimum": 0, "maximum": 100},
    "error_percent": {"type": "number", "description": "Requests that get status 500 or a JSON-RPC error", "default": 0, "minimum": 0, "maximum": 100},
    "partial_percent": {"type": "number", "description": "Requests that get half an answer", "default": 0, "minimum": 0, "maximum": 100},
    "seed": {"type": "integer", "description": "The same seed and the same requests have the same faults", "default": 1, "minimum": 0}
  }
}`

const nextInput = `{
  "type": "object",
  "properties": {
    "kind": {"type": "string", "enum": ["delay", "drop", "http_500", "jsonrpc_error", "partial_json", "truncated_sse", "slow_body", "wrong_id"]},
    "method": {"type": "string", "description": "Whose next request suffers; empty for any", "default": "tools/call"}
  },
  "required": ["kind"]
}`

const statusOutput = `{
  "type": "object",
  "properties": {
    "delay_ms": {"type": "integer"}, "delay_percent": {"type": "number"}, "drop_percent": {"type": "number"},
    "error_percent": {"type": "number"}, "partial_percent": {"type": "number"}, "seed": {"type": "integer"},
    "pending": {"type": "array", "items": {"type": "object", "properties": {"kind": {"type": "string"}, "method": {"type": "string"}}}},
    "requests": {"type": "integer", "description": "Requests that could have suffered"},
    "injected": {"type": "object", "additionalProperties": {"type": "integer"}, "description": "How many did, by kind"}
  },
  "required": ["pending", "requests", "injected"]
}`

// Faults is the profile. It starts without any fault.
type Faults struct{ i fault.Injector }

// NewFaults returns a profile without faults.
func NewFaults() *Faults { return &Faults{} }

// Wrap puts the faults in front of the agent's HTTP handler. The tools that control them never suffer.
func (f *Faults) Wrap(next http.Handler) http.Handler {
	return f.i.Wrap(next, setTool, nextTool, statusTool)
}

// Tools are fault_set, fault_next, fault_status and panic.
func (f *Faults) Tools() []server.ServerTool {
	return []server.ServerTool{
		kit.Tool(setTool, "Set faults", "Makes a share of all requests over HTTP suffer; without arguments none. This tool, fault_next and fault_status never suffer.",
			kit.Destructive, kit.ArgsOver(settings{Seed: 1}, f.set), setInput, statusOutput),
		kit.Tool(nextTool, "Fault of the next request", "Makes exactly one request over HTTP suffer: the next one, of a method.",
			kit.Additive, kit.ArgsOver(fault.Pick{Method: "tools/call"}, f.next), nextInput, statusOutput),
		kit.Tool(statusTool, "Faults", "Tells which faults are set, and how many requests have suffered.",
			kit.ReadOnly, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { return f.status() }, `{"type":"object"}`, statusOutput),
		kit.Tool("panic", "Panic", "Panics in its handler; the agent answers an internal error and goes on.",
			kit.ReadOnly, func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				panic("the tool panic was called")
			}, `{"type":"object"}`, ""),
	}
}

// settings is a plan as the tools spell it.
type settings struct {
	DelayMS        int64   `json:"delay_ms"`
	DelayPercent   float64 `json:"delay_percent"`
	DropPercent    float64 `json:"drop_percent"`
	ErrorPercent   float64 `json:"error_percent"`
	PartialPercent float64 `json:"partial_percent"`
	Seed           uint64  `json:"seed"`
}

func (f *Faults) set(_ context.Context, _ mcp.CallToolRequest, in settings) (*mcp.CallToolResult, error) {
	// A number too large for a duration must not wrap round to a small one.
	delay := time.Duration(min(max(in.DelayMS, -1), fault.MaxDelay.Milliseconds()+1)) * time.Millisecond
	if err := f.i.Set(fault.Plan{
		Delay: delay, DelayPercent: in.DelayPercent, DropPercent: in.DropPercent,
		ErrorPercent: in.ErrorPercent, PartialPercent: in.PartialPercent, Seed: in.Seed,
	}); err != nil {
		return mcp.NewToolResultErrorf("%s: %v", setTool, err), nil
	}
	return f.status()
}

func (f *Faults) next(_ context.Context, _ mcp.CallToolRequest, in fault.Pick) (*mcp.CallToolResult, error) {
	if err := f.i.Next(in); err != nil {
		return mcp.NewToolResultErrorf("%s: %v", nextTool, err), nil
	}
	return f.status()
}

func (f *Faults) status() (*mcp.CallToolResult, error) {
	s := f.i.Status()
	out := struct {
		settings
		Pending  []fault.Pick         `json:"pending"`
		Requests int64                `json:"requests"`
		Injected map[fault.Kind]int64 `json:"injected"`
	}{settings{
		s.Plan.Delay.Milliseconds(), s.Plan.DelayPercent, s.Plan.DropPercent, s.Plan.ErrorPercent, s.Plan.PartialPercent, s.Plan.Seed,
	}, s.Pending, s.Requests, s.Injected}
	if out.Pending == nil {
		out.Pending = []fault.Pick{}
	}
	return kit.JSON(out)
}
