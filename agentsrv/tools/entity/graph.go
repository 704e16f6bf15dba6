// Package entity is the agent's graph of things: who and what there is (carriers, services, people, places, systems),
// and how they hang together. Each tenant has a graph of its own, filled with Import; a demonstration graph of an
// invented logistics company lies under all of them, readable by every tenant and changed by none.
//
// The database keeps a tenant's entities as the lines that were imported. A look-up reads them once, into a view in memory, and then only
// asks whether they are still the same.
package entity

import (
	"bytes"
	"context"
	"database/sql"
	_ "embed" // the demonstration graph
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/mcphud/mcphud/session/base/store"
)

//go:embed demo.jsonl
var demo []byte

// demoLines are the demonstration graph, which is part of the program: a test reads it.
var demoLines = sync.OnceValue(func() []line {
	lines, _ := parse(bytes.NewReader(demo))
	return lines
})

// Entity is one thing of the graph.
type Entity struct {
	ID         string          `json:"id"`         // unique within its tenant
	Type       string          `json:"type"`       // such as carrier, service, person
	Name       string          `json:"name"`       // what people call it
	Properties json.RawMessage `json:"properties"` // a JSON object, as imported
}

// Graph is all tenants' graphs in one database. Its methods may be called from any goroutine.
type Graph struct {
	db *store.DB

	mu    sync.Mutex
	ready bool // whether the tables are there

	views *lru.Cache[string, *view] // by tenant, of those with entities of their own
	load  chan struct{}             // capacity 1: held by the one look-up that may read a graph
	demo  func() *view
}

// maxViews is how many tenants' graphs are in memory.
const maxViews = 16

// maxCached is how many bytes of lines the views in memory are made of, unless it is one alone.
const maxCached = 256 << 20

// tables take the place of those of names, terms and edges, the entities of which become lines. Their aliases are folded.
const tables = `CREATE TABLE IF NOT EXISTS entities (tenant TEXT, id TEXT, type TEXT, name TEXT, properties TEXT);
CREATE TABLE IF NOT EXISTS entity_names (tenant TEXT, type TEXT, fold TEXT, id TEXT);
CREATE TABLE IF NOT EXISTS entity_edges (tenant TEXT, src TEXT, relation TEXT, dst TEXT);
CREATE TABLE entity_lines (tenant TEXT NOT NULL, id TEXT NOT NULL, line TEXT NOT NULL, PRIMARY KEY (tenant, id));
CREATE TABLE entity_versions (tenant TEXT PRIMARY KEY, version BIGINT NOT NULL);
INSERT INTO entity_lines SELECT tenant, id, '{"properties":' || properties ||
	',"aliases":' || coalesce((SELECT CAST(json_group_array(fold) AS TEXT) FROM entity_names n WHERE n.tenant = e.tenant AND n.id = e.id), '[]') ||
	',"related":' || coalesce((SELECT CAST(json_group_array(json_object('relation', relation, 'id', dst)) AS TEXT) FROM entity_edges r WHERE r.tenant = e.tenant AND src = e.id), '[]') ||
	',' || substr(CAST(json_object('id', id, 'type', type, 'name', name) AS TEXT), 2) FROM entities e WHERE tenant <> '';
INSERT INTO entity_versions SELECT DISTINCT tenant, 1 FROM entity_lines;
DROP TABLE entities; DROP TABLE entity_names; DROP TABLE entity_edges; DROP TABLE IF EXISTS entity_terms; DROP TABLE IF EXISTS entity_seed;`

var postgresTables = strings.NewReplacer("json_group_array", "json_agg", "json_object", "json_build_object").Replace(tables)

// New keeps the graphs in db, which stays the caller's to close. It touches nothing; the first use makes the tables.
func New(db *store.DB) *Graph {
	g := &Graph{db: db, load: make(chan struct{}, 1), demo: sync.OnceValue(func() *view { return newView(0, nil) })}
	g.views, _ = lru.New[string, *view](maxViews) // fails for sizes below 1 only
	return g
}

// open makes the tables. A failure is tried again by the next use, since a full or locked disk may recover.
func (g *Graph) open(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ready {
		return nil
	}
	if err := g.db.Migrate(ctx, "entity_lines", store.Steps{SQLite: []string{tables}, Postgres: []string{postgresTables}}); err != nil {
		return fmt.Errorf("entity: %w", err)
	}
	g.ready = true
	return nil
}

// view is what a tenant sees now.
func (g *Graph) view(ctx context.Context, tenant string) (*view, error) {
	if err := g.open(ctx); err != nil {
		return nil, err
	}
	var version int64
	err := g.db.QueryRowContext(ctx, `SELECT version FROM entity_versions WHERE tenant = ?`, tenant).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		return g.demo(), nil
	}
	if err != nil {
		return nil, fmt.Errorf("entity: read the graph: %w", err)
	}
	cached := func() *view {
		if v, ok := g.views.Get(tenant); ok && v.version == version {
			return v
		}
		return nil
	}
	if v := cached(); v != nil {
		return v, nil
	}
	select {
	case g.load <- struct{}{}:
		defer func() { <-g.load }()
	case <-ctx.Done():
		return nil, fmt.Errorf("entity: wait for the graph: %w", ctx.Err())
	}
	if v := cached(); v != nil { // another look-up made it
		return v, nil
	}
	rows, err := g.db.QueryContext(ctx, `SELECT line FROM entity_lines WHERE tenant = ?`, tenant)
	own, err := store.Collect(rows, err, func(r *sql.Rows) (l line, err error) {
		if err = r.Scan(&l.raw); err == nil {
			err = l.decode(l.raw) // it was checked when it was imported
		}
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("entity: read the graph: %w", err)
	}
	v := newView(version, own)
	g.keep(tenant, v, maxCached)
	return v, nil
}

// keep has a view in memory, and as many of the others used last as have no more bytes than most with it.
func (g *Graph) keep(tenant string, v *view, most int) {
	g.views.Add(tenant, v)
	size := 0
	for _, other := range g.views.Values() {
		size += other.size
	}
	for size > most && g.views.Len() > 1 {
		_, oldest, _ := g.views.RemoveOldest()
		size -= oldest.size
	}
}

// Types are the types of the entities that a tenant sees, in alphabetical order.
func (g *Graph) Types(ctx context.Context, tenant string) ([]string, error) {
	v, err := g.view(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return v.types, nil
}
