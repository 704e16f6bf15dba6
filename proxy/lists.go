package proxy

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
)

// always may be called whatever a route lists: without them nothing else can be.
var always = []string{
	string(mcp.MethodInitialize), string(mcp.MethodNotificationInitialized), string(mcp.MethodNotificationCancelled), string(mcp.MethodServerDiscover),
}

// batch is the experimental method of mcphud's own agent that calls several tools at once. A route that lists tools does not
// have it, since a list that could be got around that way would be none.
const batch = "tools/call_batch"

// lists refuses the methods and tools that a route does not list. It decides on what Scan and Inspect read, which is what any
// reader reads, since they refuse a message that can be read in two ways.
func lists(next flow.Handler) flow.Handler {
	return func(c *flow.Call) {
		r := c.Route
		if c.Env.Method == "" || r.Methods == nil && r.Tools == nil {
			next(c)
			return
		}
		m := c.Env.Method
		if r.Methods != nil && !slices.Contains(r.Methods, m) && !slices.Contains(always, m) || r.Tools != nil && m == batch {
			c.Refuse(jsonrpc.Errorf(jsonrpc.KindMethodNotFound, "Method '%.100s' is not served for agent '%s'", m, c.Agent))
			return
		}
		if r.Tools != nil && m == string(mcp.MethodToolsCall) && !slices.Contains(r.Tools, c.Name()) {
			c.Refuse(jsonrpc.Errorf(jsonrpc.KindToolNotFound, "Tool '%.100s' not found", c.Name()).With("reason", "not on the route's list of tools"))
			return
		}
		next(c)
	}
}
