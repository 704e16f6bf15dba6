package agentlet

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/base/text"
)

// The URIs of the lists of agents, and the template of an agent's own.
const (
	SystemAgents = "system-agents://list"
	MyAgents     = "my-agents://list"
	Template     = Scheme + "{+uri}"
)

const mime = "application/json"

// Resources are the two lists: JSON arrays of agents.
func (r *Registry) Resources() []server.ServerResource {
	return []server.ServerResource{
		{
			Resource: mcp.NewResource(SystemAgents, "system-agents", mcp.WithResourceDescription("The agents that come with this server"), mcp.WithMIMEType(mime)),
			Handler: func(_ context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				return contents(req.Params.URI, r.systemAgents())
			},
		},
		{
			Resource: mcp.NewResource(MyAgents, "my-agents", mcp.WithResourceDescription("The agents that were made with create_agent in your tenant, by you if the server knows who you are"), mcp.WithMIMEType(mime)),
			Handler: func(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
				all, err := r.mine(ctx, kit.TenantOf(ctx), kit.Caller(ctx).User)
				if err != nil {
					return nil, unreadable(err)
				}
				return contents(req.Params.URI, all)
			},
		},
	}
}

// Templates is agentlet://{+uri}: one agent, by its full name.
func (r *Registry) Templates() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{{
		Template: mcp.NewResourceTemplate(Template, "agentlet", mcp.WithTemplateDescription("One agent: its system prompt, the JSON Schema of its answers, and its tools; uri is system/NAME or user/USER/NAME"), mcp.WithTemplateMIMEType(mime)),
		Handler:  r.readAgent,
	}}
}

func (r *Registry) readAgent(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	ref, ok := parseReference(req.Params.URI)
	if !ok || !strings.HasPrefix(req.Params.URI, Scheme) {
		return nil, kit.Invalid("uri", "must have system/NAME or user/USER/NAME after "+Scheme)
	}
	a, err := r.find(ctx, kit.TenantOf(ctx), kit.Caller(ctx).User, ref)
	switch {
	case err == errAmbiguous:
		return nil, kit.Invalid("uri", "is ambiguous: several users have an agent of this name; write "+Scheme+"user/USER/NAME")
	case err != nil:
		return nil, unreadable(err)
	case a == nil:
		return nil, jsonrpc.Errorf(jsonrpc.KindResourceNotFound, "Resource not found: %s", text.Clip(req.Params.URI, 200)).With("uri", text.Clip(req.Params.URI, 200))
	}
	return contents(req.Params.URI, a)
}

// AfterList adds the agents of the caller's tenant to the last page of resources/list; it is a hook of mcp-go's.
func (r *Registry) AfterList(ctx context.Context, _ any, _ *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
	if result == nil || result.NextCursor != "" {
		return
	}
	all, err := r.mine(ctx, kit.TenantOf(ctx), kit.Caller(ctx).User)
	if err != nil {
		r.o.Logger.Error("cannot read the agents for resources/list", "error", err)
		return
	}
	for _, a := range all {
		result.Resources = append(result.Resources, mcp.NewResource(a.URI, a.FullName, mcp.WithResourceDescription(text.Clip(a.Description, 200)), mcp.WithMIMEType(mime)))
	}
}

// systemAgents are those that come with the program, by name.
func (r *Registry) systemAgents() []*Agent {
	all := []*Agent{}
	for name, a := range r.system() {
		if name == a.Name {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *Agent) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

func contents(uri string, v any) ([]mcp.ResourceContents, error) {
	raw, err := kit.Marshal(v)
	if err != nil {
		return nil, unreadable(err)
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: mime, Text: string(raw)}}, nil
}

func unreadable(err error) error {
	if store.Down(err) {
		return again("cannot read the agents, since the store cannot be reached; try again: %w", err)
	}
	return jsonrpc.Errorf(jsonrpc.KindToolExecution, "cannot read the agents; see the server's log: %w", err)
}
