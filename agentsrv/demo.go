package agentsrv

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcphud/mcphud/agentsrv/check"
	"github.com/mcphud/mcphud/agentsrv/front"
	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/agentsrv/queue"
	"github.com/mcphud/mcphud/agentsrv/telemetry"
	"github.com/mcphud/mcphud/agentsrv/tools/agentlet"
	"github.com/mcphud/mcphud/agentsrv/tools/bulk"
	"github.com/mcphud/mcphud/agentsrv/tools/entity"
	"github.com/mcphud/mcphud/agentsrv/tools/kb"
	"github.com/mcphud/mcphud/agentsrv/tools/sandbox"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/serve/chat"
)

// demo adds what makes the agent useful. The features know each other by functions alone, which are joined here: an agentlet searches, looks up entities
// and calls tools without knowing where they are.
func (a *Agent) demo(p *parts) error {
	base, err := a.library()
	if err != nil {
		return err
	}
	a.kb = base
	code := sandbox.New(sandbox.Options{Parallel: a.o.Concurrency, Wait: queue.Pause, Logger: a.log})
	a.closes = append(a.closes, code.Close)
	graph := entity.New(a.db)
	if err := a.importEntities(graph); err != nil {
		return err
	}
	a.agents, err = agentlet.New(agentlet.Options{
		DB:       a.db,
		Model:    a.o.Model,
		Search:   searchIn(base),
		Mentions: mentionsIn(graph),
		Lookup:   a.toolNamed,
		Call:     a.callTool,
		// a.front is there before anybody can call.
		Updated:     func(tenant, uri string) { a.front.ResourceUpdatedOf(tenant, uri) },
		ListChanged: func(tenant string) { a.front.BroadcastOf(tenant, mcp.MethodNotificationResourcesListChanged, nil) },
		Cached:      func(hit bool) { a.telemetry.Cache(hit) },
		Trace:       telemetry.Trace,
		Logger:      a.log,
	})
	if err != nil {
		return err
	}
	a.closes = append(a.closes, func() error { a.agents.Close(); return nil })
	p.add(base, bulk.Source{}, graph, code, a.agents)
	return nil
}

// pdfTime is how long reading one PDF document may take.
const pdfTime = 30 * time.Second

// library opens the knowledge bases of Options.KB. The one that is shared has its index in the store; each other has a file of
// its own beside that.
func (a *Agent) library() (*kb.Library, error) {
	dirs, err := a.o.bases()
	if err != nil {
		return nil, err
	}
	reader := sandbox.New(sandbox.Options{Parallel: 1, Logger: a.log}) // of its own: who calls execute_code does not wait for it
	a.closes = append(a.closes, reader.Close)
	pages := func(ctx context.Context, document []byte) ([]string, error) {
		return reader.Pages(ctx, document, pdfTime)
	}
	var embed kb.Embedder
	switch m := a.o.Embeddings; {
	case m.URL != "":
		c, err := chat.New(m)
		if err != nil {
			return nil, fmt.Errorf("the embeddings' API: %w", err)
		}
		a.closes = append(a.closes, func() error { c.Close(); return nil })
		embed = kb.Endpoint(c)
	case !a.o.FullText:
		embed = kb.WordVectors()
	}
	open := func(tenant string) (*kb.KB, error) {
		index := a.db
		switch {
		case store.Remote(a.o.Store): // which keeps embeddings, by the bases' keys
		case a.o.Store == "":
			index = nil // its own memory: that has one connection, which indexing would keep from everybody else
		case tenant != "":
			sum := sha256.Sum256([]byte(tenant)) // whose name may be no file's, or differ from another by case alone
			if index, err = store.Open(fmt.Sprintf("%s.kb-%x", a.o.Store, sum[:8])); err != nil {
				return nil, err
			}
			a.closes = append(a.closes, index.Close)
		}
		base, err := kb.New(kb.Options{DB: index, Dir: dirs[tenant], Key: a.o.Name + "/" + tenant, Embed: embed, Pages: pages, Log: a.log, Trace: telemetry.Trace})
		if err == nil {
			a.closes = append(a.closes, base.Close)
		}
		return base, err
	}
	shared, err := open("")
	if err != nil {
		return nil, err
	}
	own := map[string]*kb.KB{}
	for tenant := range dirs {
		if tenant == "" {
			continue
		}
		if own[tenant], err = open(tenant); err != nil {
			return nil, err
		}
	}
	return kb.NewLibrary(shared, own), nil
}

// importEntities fills tenants' graphs from the files of Options.Entities. What a file names again takes the place of what
// was there.
func (a *Agent) importEntities(graph *entity.Graph) error {
	for _, arg := range a.o.Entities {
		tenant, path := tenantPath(arg)
		tenant = cmp.Or(tenant, kit.DefaultTenant)
		f, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("entities: %w; give a file of JSON lines", err)
		}
		sum, err := graph.Import(context.Background(), tenant, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("entities: %s: %w", path, err)
		}
		a.log.Info("entities imported", "file", path, "tenant_id", tenant, "entities", sum.Entities)
	}
	return nil
}

// afterList adds to resources/list what only the caller's tenant has.
func (a *Agent) afterList(ctx context.Context, id any, r *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
	if a.agents != nil {
		a.agents.AfterList(ctx, id, r, result)
	}
}

// searchIn is the search of agentlets in the knowledge base of a tenant.
func searchIn(base *kb.Library) func(context.Context, string, string, int) ([]agentlet.Hit, error) {
	return func(ctx context.Context, tenant, query string, limit int) ([]agentlet.Hit, error) {
		// What is quoted without a model is sentences with words of the question.
		found, err := base.Search(ctx, tenant, query, kb.SearchOptions{Limit: limit, Mode: kb.FullText})
		if err != nil {
			return nil, err
		}
		hits := make([]agentlet.Hit, len(found.Hits))
		for i, h := range found.Hits {
			hits[i] = agentlet.Hit{Content: h.Content, Source: h.Source, Title: h.Title, Score: h.Score, Base: h.Base}
		}
		return hits, nil
	}
}

// mentionsIn finds the entities of a tenant that a text names.
func mentionsIn(graph *entity.Graph) func(context.Context, string, string, int) ([]agentlet.Mention, error) {
	return func(ctx context.Context, tenant, text string, limit int) ([]agentlet.Mention, error) {
		found, err := graph.Mentions(ctx, tenant, text, limit)
		if err != nil {
			return nil, err
		}
		all := make([]agentlet.Mention, len(found))
		for i, e := range found {
			all[i] = agentlet.Mention{ID: e.ID, Type: e.Type, Name: e.Name}
		}
		return all, nil
	}
}

// toolNamed is the declaration of a tool, as it is registered now.
func (a *Agent) toolNamed(name string) (mcp.Tool, bool) {
	if t := a.engine.GetTool(name); t != nil {
		return t.Tool, true
	}
	return mcp.Tool{}, false
}

// callTool calls a tool for a call that is running: for the same tenant, in the same slot of the queue, with its
// arguments checked like everybody's.
func (a *Agent) callTool(ctx context.Context, name string, arguments json.RawMessage) (*mcp.CallToolResult, error) {
	params, err := json.Marshal(struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments,omitempty"`
	}{name, arguments})
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", name, err)
	}
	x := front.NewExchange(front.From(ctx), []byte("1"), string(mcp.MethodToolsCall), params)
	raw, err := check.Middleware(a.schemaOf, a.log)(a.run)(front.WithExchange(ctx, x), x)
	if err != nil {
		return nil, err
	}
	res, err := mcp.ParseCallToolResult(&raw)
	if err != nil {
		return nil, fmt.Errorf("call %s: its result: %w", name, err)
	}
	return res, nil
}

// run is the engine alone, without a transport around it. An error of the engine is told as text: who calls a tool from within another one has a tool
// result to put it into.
func (a *Agent) run(ctx context.Context, x *front.Exchange) (json.RawMessage, error) {
	switch m := a.engine.HandleMessage(ctx, jsonrpc.NewRequest(x.ID, x.Method, x.Params)).(type) {
	case mcp.JSONRPCResponse:
		return json.Marshal(m.Result)
	case mcp.JSONRPCError:
		return nil, fmt.Errorf("%s (code %d)", m.Error.Message, m.Error.Code)
	default:
		return nil, fmt.Errorf("%s: no answer", x.Method)
	}
}
