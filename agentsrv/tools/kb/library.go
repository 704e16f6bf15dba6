package kb

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/text"
)

// Library is what an agent's callers search: the base of their tenant, or the one that all tenants without a base of their own
// share. Each has an index of its own, so that neither results nor scores nor corrected spellings tell one tenant what another has.
type Library struct {
	shared *KB
	own    map[string]*KB // by tenant
}

// NewLibrary makes a library of knowledge bases, which stay the caller's to close.
func NewLibrary(shared *KB, own map[string]*KB) *Library { return &Library{shared, own} }

// of is the one that a tenant searches and reads.
func (l *Library) of(tenant string) *KB {
	if k := l.own[tenant]; k != nil {
		return k
	}
	return l.shared
}

// Start is KB.Start for all.
func (l *Library) Start() {
	l.shared.Start()
	for _, k := range l.own {
		k.Start()
	}
}

// Search is KB.Search in the base of the tenant.
func (l *Library) Search(ctx context.Context, tenant, query string, o SearchOptions) (Results, error) {
	return l.of(tenant).Search(ctx, tenant, query, o)
}

// Status is the state of all bases. It names no tenant.
type Status struct {
	State
	Tenants []State `json:"tenants,omitempty"` // of those that are not shared, in no order
}

// Status is how far indexing is now.
func (l *Library) Status() Status {
	s := Status{State: l.shared.State()}
	for _, k := range l.own {
		s.Tenants = append(s.Tenants, k.State())
	}
	return s
}

// Pending reports whether some base has not been indexed yet, and how many files of all are.
func (s Status) Pending() (pending bool, files int) {
	for _, one := range append(s.Tenants, s.State) {
		pending = pending || !one.Ready && one.Err == ""
		files += one.Files
	}
	return pending, files
}

// Load loads the built-in texts where they are what is shared; the first search would.
func (l *Library) Load(ctx context.Context) error {
	if l.shared.root != nil {
		return nil
	}
	return l.shared.Reindex(ctx)
}

// Tools is search_knowledge_base.
func (l *Library) Tools() []server.ServerTool {
	how := "Full-text search"
	switch {
	case l.shared.local():
		how = "Hybrid search, by words and by built-in vectors of English words,"
	case l.shared.o.Embed != nil:
		how = "Hybrid search, by words and by meaning,"
	}
	return []server.ServerTool{kit.Tool("search_knowledge_base", "Search the knowledge base",
		how+" over the files that this agent was given for the tenant or for all, or over what it knows about MCP and mcphud. Forgives typing errors.",
		kit.ReadOnly, kit.Args(l.tool), toolIn, toolOut)}
}

// Templates is the one template under which everything that a search finds can be read, by the tenant that found it.
func (l *Library) Templates() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{{
		Template: mcp.NewResourceTemplate(template, "knowledge-base",
			mcp.WithTemplateTitle("Knowledge base"),
			mcp.WithTemplateDescription("A file of the knowledge base of the tenant in _meta.tenant_id, or with line the passage that starts there. A file above "+text.Bytes(PageSize)+" comes in pages; _meta.next of the contents is the next one.")),
		Handler: func(ctx context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			c, err := l.of(kit.TenantOf(ctx)).Read(ctx, r.Params.URI)
			if err != nil {
				return nil, err
			}
			return []mcp.ResourceContents{c}, nil
		},
	}}
}
