// Package agentlet is the agent's registry of agents and what runs them. An agent here is a name, a description that
// serves as its system prompt, a JSON Schema that its answers fit, and the tools it may use. Some come with the program
// ("system"), others are made by users with create_agent and kept in the database.
//
// Who answers for an agent is whatever there is, in this order: a configured OpenAI-compatible model; the client's own
// model, by MCP sampling; for system agents a deterministic answer quoted from the knowledge base. Where there is
// nothing, asking is an error that says what to configure.
package agentlet

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/serve/chat"
)

// Hit is a passage of the knowledge base.
type Hit struct {
	Content string  // the passage
	Source  string  // its URI
	Title   string  // what it is part of
	Score   float64 // 0 to 1
	Base    string  // part of the knowledge base: general, codebase or documents
}

// Mention is an entity whose name occurs in a text.
type Mention struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Name string `json:"name"`
}

// Options are what the registry works with. DB is required. What is nil is not there: without Search, system agents have
// nothing to quote; without Call, agents have no tools.
type Options struct {
	DB    *store.DB
	Model chat.Model
	// Search finds passages, best first.
	Search func(ctx context.Context, tenant, query string, limit int) ([]Hit, error)
	// Mentions finds the entities named in a text, first ones first.
	Mentions func(ctx context.Context, tenant, text string, limit int) ([]Mention, error)
	// Lookup says whether the server has a tool of this name, and how it is declared.
	Lookup func(name string) (mcp.Tool, bool)
	// Call calls one of the server's tools with the caller's rights. It is given values of the context of the call that
	// asks the agent, and is called from several goroutines at a time.
	Call func(ctx context.Context, name string, arguments json.RawMessage) (*mcp.CallToolResult, error)
	// Updated and ListChanged hear that a resource has other contents, and that the list of resources has another member.
	// Both get the tenant whose it is: no other may hear of it.
	Updated     func(tenant, uri string)
	ListChanged func(tenant string)
	// Cached hears of each look for an agent's schema whether it was ready.
	Cached func(hit bool)
	// Trace opens a span and returns what closes it.
	Trace  func(ctx context.Context, name string, attributes map[string]string) (context.Context, func(error))
	Logger *slog.Logger // nil discards
}

// cacheSize is how many agents are kept ready.
const cacheSize = 100

// Registry has all agents. Its methods may be called from any goroutine.
type Registry struct {
	o     Options
	chat  *chat.Client // nil without a model
	cache *lru.Cache[string, *Agent]

	mu    sync.Mutex
	ready bool

	origin string // of the agents that this process makes, where others share the database
	stop   func() // ends watch; nil before Start
	watch  sync.WaitGroup

	system func() map[string]*Agent // by name and alias
}

// New makes a registry. It touches nothing; the first use makes its tables. The error is about the model.
func New(o Options) (*Registry, error) {
	if o.Trace == nil {
		o.Trace = func(ctx context.Context, _ string, _ map[string]string) (context.Context, func(error)) {
			return ctx, func(error) {}
		}
	}
	if o.Lookup == nil || o.Call == nil {
		o.Lookup = func(string) (t mcp.Tool, ok bool) { return t, false }
	}
	if o.Updated == nil {
		o.Updated = func(string, string) {}
	}
	if o.ListChanged == nil {
		o.ListChanged = func(string) {}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Cached == nil {
		o.Cached = func(bool) {}
	}
	r := &Registry{o: o, origin: rand.Text(), system: sync.OnceValue(loadSystem)}
	r.cache, _ = lru.New[string, *Agent](cacheSize) // fails for sizes below 1 only
	if o.Model.URL != "" {
		var err error
		if r.chat, err = chat.New(o.Model); err != nil {
			return nil, fmt.Errorf("the model's API: %w", err)
		}
	}
	return r, nil
}

// Close drops the connections to the model, and ends what Start began. The database stays open.
func (r *Registry) Close() {
	if r.stop != nil {
		r.stop()
		r.watch.Wait()
	}
	if r.chat != nil {
		r.chat.Close()
	}
}

// Tools are create_agent, ask_agent and ask_agent_stream.
func (r *Registry) Tools() []server.ServerTool {
	return append(r.createTool(), r.askTools()...)
}
