package session

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/tasks"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// conn is one connection: a mux, and what the handshake found out about the server. It belongs to the session that made it, and is used by all
// its goroutines: what is not atomic is set before ready is closed, or owned by one of them.
type conn struct {
	*rpc.Mux
	id     uint64           // counts the connections of its session
	traits transport.Traits // of the transport
	ready  chan struct{}    // closed when the session has it: what is lost before is reported by the handshake

	info, caps, modernCaps []byte // our clientInfo and capabilities, as JSON

	// Set by the handshake, before ready is closed.
	era          Era
	version      string
	serverInfo   json.RawMessage
	capabilities json.RawMessage
	instructions string
	runsTasks    bool      // it has tools that can be called with params.task
	connectedAt  time.Time // when the handshake was over

	listens   chan struct{} // closed once the server answered subscriptions/listen, or nothing asks for it
	dirty     chan struct{} // cap 1: some list is out of date
	refreshed time.Time     // of the last automatic refresh; owned by refreshLoop

	latency  atomic.Int64           // of the last health check or of the handshake, in nanoseconds
	answered atomic.Pointer[string] // the method of the handshake that the server answered last, also with an error; nil for none
	logLevel atomic.Pointer[string] // modern: what requests ask for; nil for nothing, which servers take for no log messages
}

// Implementation identifies this client to servers, as clientInfo
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization).
type Implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitempty"`
	Version string `json:"version"`
}

// completeForEra completes a request for the era: the modern one wants protocol version, capabilities and client in each
// request's _meta, and over HTTP some of it once more in headers.
func (c *conn) completeForEra(s *rpc.Request, schema json.RawMessage) {
	if c.era == Modern {
		c.modernize(s, c.version, schema)
	}
}

// modernize adds what each request of the modern era carries. schema is the input schema of the tool that is called, by which
// arguments are repeated in headers (Mcp-Param-*, SEP-2243); nil where it is not known.
func (c *conn) modernize(s *rpc.Request, version string, schema json.RawMessage) {
	s.SetMeta(mcp.MetaKeyProtocolVersion, jsonrpc.Quote(version))
	s.SetMeta(mcp.MetaKeyClientInfo, c.info)
	s.SetMeta(mcp.MetaKeyClientCapabilities, c.modernCaps)
	if l := c.logLevel.Load(); l != nil {
		s.SetMeta(mcp.MetaKeyLogLevel, jsonrpc.Quote(*l))
	}
	if c.traits.HTTP == nil {
		return
	}
	h := http.Header{}
	// The header must say what the body says, also where the caller chose another version to see what happens.
	said, _ := jsonrpc.String(s.MetaValue(mcp.MetaKeyProtocolVersion))
	h.Set("MCP-Protocol-Version", said)
	for k, v := range mcp.StandardHeaders(version, mcp.MCPMethod(s.Method), s.Params) {
		h.Set(k, v)
	}
	if s.Method == string(mcp.MethodToolsCall) && bytes.Contains(schema, []byte("x-mcp-header")) {
		for k, v := range mcp.GenerateParamHeaders(&mcp.Tool{Name: s.Target, RawInputSchema: schema}, s.Params) {
			h.Set(k, v)
		}
	}
	s.Header = h
}

// supports reports whether the server advertised what method needs. Methods that need nothing are supported, and those that nobody here knows:
// the server says so itself. Versions before 2025-03-26 had no capability for completions, so that any of their servers may complete.
func (c *conn) supports(method string) bool {
	has := func(path ...string) bool {
		v := []byte(c.capabilities)
		for _, p := range path {
			v = jsonrpc.Get(v, p)
		}
		return v != nil && string(v) != "null" && string(v) != "false"
	}
	switch method {
	case "tools/list", "tools/call":
		return has("tools")
	case "resources/list", "resources/read", "resources/templates/list":
		return has("resources")
	case "resources/subscribe", "resources/unsubscribe":
		return has("resources", "subscribe")
	case "prompts/list", "prompts/get":
		return has("prompts")
	case "completion/complete":
		return has("completions") || c.version < mcp.ProtocolVersion20250326
	case "logging/setLevel":
		return has("logging")
	case "notifications/tools/list_changed":
		return has("tools", "listChanged")
	case "notifications/resources/list_changed":
		return has("resources", "listChanged")
	case "notifications/prompts/list_changed":
		return has("prompts", "listChanged")
	case "skills/list", "skills/get":
		return has("extensions", offer.SkillsExtension)
	case "resources/directory/read":
		return string(jsonrpc.Get(c.capabilities, "extensions", offer.SkillsExtension, "directoryRead")) == "true"
	case "tasks/list":
		return has("tasks", "list")
	case "tasks/cancel":
		return has("tasks", "cancel") || has("extensions", tasks.Extension)
	case "tasks/get":
		return has("tasks") || has("extensions", tasks.Extension)
	case "tasks/result":
		return has("tasks")
	}
	return true
}
