package agentclient

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/session/base/failure"
)

// maxPages bounds a list that does not end.
const maxPages = 1000

// ListTools is all tools of an agent, page by page.
func (c *Client) ListTools(ctx context.Context, agent string) ([]mcp.Tool, error) {
	return list(ctx, c, agent, mcp.MethodToolsList, func(p page) []mcp.Tool { return p.Tools })
}

// ListResources is all resources of an agent, page by page.
func (c *Client) ListResources(ctx context.Context, agent string) ([]mcp.Resource, error) {
	return list(ctx, c, agent, mcp.MethodResourcesList, func(p page) []mcp.Resource { return p.Resources })
}

// CallTool calls a tool of an agent. arguments are JSON, nil for none. The result is what the agent sent, which may have
// isError set.
func (c *Client) CallTool(ctx context.Context, agent, tool string, arguments json.RawMessage) (json.RawMessage, error) {
	if arguments == nil {
		arguments = json.RawMessage("{}")
	}
	return c.Request(ctx, agent, string(mcp.MethodToolsCall), map[string]any{"name": tool, "arguments": arguments})
}

// ReadResource is the text of the first of a resource's contents, "" if that has none.
func (c *Client) ReadResource(ctx context.Context, agent, uri string) (string, error) {
	result, err := c.Request(ctx, agent, string(mcp.MethodResourcesRead), map[string]any{"uri": uri})
	if err != nil {
		return "", err
	}
	var out struct{ Contents []struct{ Text string } }
	if err := json.Unmarshal(result, &out); err != nil {
		return "", c.malformedError(agent, mcp.MethodResourcesRead, err)
	}
	if len(out.Contents) == 0 {
		return "", nil
	}
	return out.Contents[0].Text, nil
}

type page struct {
	Tools      []mcp.Tool
	Resources  []mcp.Resource
	NextCursor string
}

func list[T any](ctx context.Context, c *Client, agent string, method mcp.MCPMethod, items func(page) []T) (all []T, err error) {
	params := map[string]any{}
	seen := map[string]bool{}
	for range maxPages {
		result, err := c.Request(ctx, agent, string(method), params)
		if err != nil {
			return nil, err
		}
		var p page
		if err := json.Unmarshal(result, &p); err != nil {
			return nil, c.malformedError(agent, method, err)
		}
		all = append(all, items(p)...)
		if p.NextCursor == "" {
			return all, nil
		}
		if seen[p.NextCursor] {
			return nil, c.malformedError(agent, method, fmt.Errorf("the cursor %.80q is repeated", p.NextCursor))
		}
		seen[p.NextCursor] = true
		params["cursor"] = p.NextCursor
	}
	return nil, c.malformedError(agent, method, fmt.Errorf("the list has more than %d pages", maxPages))
}

func (c *Client) malformedError(agent string, method mcp.MCPMethod, err error) error {
	e := errorMaker{c, agent, string(method)}.error(failure.Protocol, "the result has another shape than the method's: "+err.Error(), "see the agent's own log")
	e.Err = err
	return e
}
