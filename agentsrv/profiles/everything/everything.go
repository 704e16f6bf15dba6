// Package everything has one tool, resource or prompt for each feature of the protocol, in both eras, under the names
// that the official conformance suite calls (github.com/modelcontextprotocol/conformance, src/scenarios/server). It is
// what the profile of that name serves, for the suite and for people who want to see what their client does with a
// feature.
//
// Tools that ask the client something (an elicitation, a completion, its roots) answer with input_required, as revision
// 2026-07-28 wants; for clients of earlier revisions mcp-go sends the requests itself and calls the handler again.
package everything

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
)

// Registry is the server that the features are registered with. Adding and removing announces itself to its clients.
type Registry interface {
	AddTools(tools ...server.ServerTool)
	DeleteTools(names ...string)
	AddPrompts(prompts ...server.ServerPrompt)
	DeletePrompts(names ...string)
	AddResources(resources ...server.ServerResource)
	DeleteResources(uris ...string)
}

// Options says what the features that change the server act on.
type Options struct {
	Registry Registry         // where test_trigger_*_change adds and removes an item; required
	Updated  func(uri string) // tells subscribers that a resource changed; required
	// HangUp ends the connection that the answer to ctx's request is on, for the client to come back after retry and
	// fetch the rest. It is false where that cannot be; nil is never.
	HangUp func(ctx context.Context, retry time.Duration) bool
	Key    []byte // seals the states that clients hold; secret, the same at all that clients may come back to, required
}

// Features are the tools, resources and prompts. They hold no goroutine and need no closing.
type Features struct {
	options Options
	seal    sealer
	dynamic toggles
}

// New makes the features. The states that it hands to clients are valid wherever the key is the same.
func New(o Options) *Features { return &Features{options: o, seal: sealer{o.Key}} }

// Tools are all tools, except the one that test_trigger_tool_change adds.
func (f *Features) Tools() []server.ServerTool {
	var all []server.ServerTool
	for _, group := range [][]server.ServerTool{contentTools(), schemaTools(), f.reportTools(), f.askTools(), f.roundTools(), f.changeTools(), taskTools()} {
		all = append(all, group...)
	}
	return all
}

const none = `{"type":"object","properties":{}}`

// tool declares one that changes nothing.
func tool(name, title, description string, h server.ToolHandlerFunc) server.ServerTool {
	return kit.Tool(name, title, description, kit.ReadOnly, h, none, "")
}

func text(s string) (*mcp.CallToolResult, error) { return mcp.NewToolResultText(s), nil }
