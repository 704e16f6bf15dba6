package entity

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/store"
)

const lookupInput = `{"type":"object","properties":{
"entity_type":{"type":"string","minLength":1,"pattern":"\\S","maxLength":64,"description":"Type of the entity: carrier, service, person, place, team, system, customer, vehicle, incident, or another that was imported","examples":["carrier","service","person"]},
"query":{"type":"string","minLength":1,"pattern":"\\S","maxLength":1000,"description":"Id, name, beginning of a name, roughly the name, or words of the description"},
"tenant_id":{"type":"string","pattern":"^[!-~]{1,128}$","description":"Whose graph to search"},
"include_related":{"type":"boolean","default":false,"description":"Also return the entities one edge away"}},
"required":["entity_type","query","tenant_id"]}`

const lookupOutput = `{"type":"object","properties":{
"status":{"type":"string"},
"entity":{"type":"object","properties":{"id":{"type":"string"},"type":{"type":"string"},"name":{"type":"string"},"properties":{"type":"object"}},"required":["id","type","name","properties"]},
"related":{"type":"array","items":{"type":"object","properties":{"relation":{"type":"string"},"direction":{"type":"string","enum":["out","in"]},"id":{"type":"string"},"type":{"type":"string"},"name":{"type":"string"}},"required":["relation","direction","id","type","name"]}},
"related_total":{"type":"integer","description":"How many there are, if related does not have them all"},
"match":{"type":"object","properties":{"by":{"type":"string","enum":["id","name","prefix","fuzzy","description"]},"score":{"type":"number"},"others":{"type":"array","items":{"type":"string"},"description":"Names of entities that fit as well"}},"required":["by","score"]}},
"required":["status","entity","related"]}`

// Tools is lookup_entity.
func (g *Graph) Tools() []server.ServerTool {
	return []server.ServerTool{kit.Tool("lookup_entity", "Look up an entity",
		"Finds one entity of the graph (a carrier, service, person, place, team, system …) and, if asked, what it is related to.",
		kit.ReadOnly, kit.Args(g.lookup), lookupInput, lookupOutput)}
}

type match struct {
	By     string   `json:"by"`
	Score  float64  `json:"score"`
	Others []string `json:"others,omitempty"`
}

type answer struct {
	Status       string    `json:"status"`
	Entity       Entity    `json:"entity"`
	Related      []Related `json:"related"`
	RelatedTotal int       `json:"related_total,omitempty"`
	Match        match     `json:"match"`
}

type missing struct {
	Status  string    `json:"status"`
	Message string    `json:"message"`
	Nearest []Nearest `json:"nearest"`
}

type lookupArgs struct {
	Type    string `json:"entity_type"`
	Query   string `json:"query"`
	Tenant  string `json:"tenant_id"`
	Related bool   `json:"include_related"`
}

func (g *Graph) lookup(ctx context.Context, _ mcp.CallToolRequest, in lookupArgs) (*mcp.CallToolResult, error) {
	in.Type, in.Query = strings.ToLower(strings.TrimSpace(in.Type)), strings.TrimSpace(in.Query)
	tenant, err := kit.Tenant(ctx, in.Tenant)
	if err != nil {
		return nil, err
	}
	found, nearest, err := g.Find(ctx, tenant, in.Type, in.Query)
	if err != nil {
		return nil, unreadable(err)
	}
	if found == nil {
		return g.answerEmpty(ctx, tenant, in.Type, in.Query, nearest)
	}
	out := answer{
		Status: "success", Entity: found.Entity, Related: []Related{},
		Match: match{By: found.By, Score: math.Round(found.Score*1000) / 1000, Others: found.Others},
	}
	if in.Related {
		related, total, err := g.Related(ctx, tenant, found.Entity.ID)
		if err != nil {
			return nil, unreadable(err)
		}
		if out.Related = append(out.Related, related...); total > len(related) {
			out.RelatedTotal = total
		}
	}
	return kit.JSON(out)
}

// answerEmpty answers a query that nothing fits. It knows only what the tenant sees, so that it tells nothing about
// the graphs of others.
func (g *Graph) answerEmpty(ctx context.Context, tenant, typ, query string, nearest []Nearest) (*mcp.CallToolResult, error) {
	types, err := g.Types(ctx, tenant)
	if err != nil {
		return nil, unreadable(err)
	}
	m := missing{Status: "not_found", Nearest: append([]Nearest{}, nearest...)}
	known := false
	for _, t := range types {
		known = known || t == typ
	}
	switch {
	case !known:
		m.Message = fmt.Sprintf("unknown type %q; the types are %s", typ, strings.Join(types, ", "))
	case len(nearest) == 0:
		m.Message = fmt.Sprintf("no %s is called %q or described by it; try another word of its name, or another entity_type of %s", typ, query, strings.Join(types, ", "))
	default:
		names := make([]string, len(nearest))
		for i, n := range nearest {
			names[i] = n.Name
		}
		m.Message = fmt.Sprintf("no %s is called %q; the nearest are %s", typ, query, strings.Join(names, ", "))
	}
	return kit.ErrorJSON(m)
}

// unreadable is why a look-up failed, which may pass where the database is on another machine.
func unreadable(err error) error {
	if !store.Down(err) {
		return jsonrpc.Errorf(jsonrpc.KindToolExecution, "lookup_entity: cannot read the entity graph; see the agent's log: %w", err)
	}
	f := jsonrpc.Errorf(jsonrpc.KindToolExecution, "lookup_entity: the store cannot be reached; call again: %w", err)
	f.RetryAfter = time.Second
	return f
}
