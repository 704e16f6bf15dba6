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
	demo  func() *view
}

// maxViews is how many tenants' graphs are in memory.
const maxViews = 16

// tables take the place of those of names, terms and edges.
const tables = `DROP TABLE IF EXISTS entities; DROP TABLE IF EXISTS entity_names; DROP TABLE IF EXISTS entity_terms; DROP TABLE IF EXISTS entity_edges; DROP TABLE IF EXISTS entity_seed;
CREATE TABLE entity_lines (tenant TEXT NOT NULL, id TEXT NOT NULL, line TEXT NOT NULL, PRIMARY KEY (tenant, id));
CREATE TABLE entity_versions (tenant TEXT PRIMARY KEY, version BIGINT NOT NULL);`

// New keeps the graphs in db, which stays the caller's to close. It touches nothing; the first use makes the tables.
func New(db *store.DB) *Graph {
	g := &Graph{db: db, demo: sync.OnceValue(func() *view { return newView(0, nil) })}
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
	if err := g.db.Migrate(ctx, "entity_lines", store.Steps{SQLite: []string{tables}, Postgres: []string{tables}}); err != nil {
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
	if v, ok := g.views.Get(tenant); ok && v.version == version {
		return v, nil
	}
	rows, err := g.db.QueryContext(ctx, `SELECT line FROM entity_lines WHERE tenant = ?`, tenant)
	own, err := store.Collect(rows, err, func(r *sql.Rows) (l line, err error) {
		if err = r.Scan(&l.raw); err == nil {
			err = l.read(l.raw)
		}
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("entity: read the graph: %w", err)
	}
	v := newView(version, own)
	g.views.Add(tenant, v)
	return v, nil
}

// Types are the types of the entities that a tenant sees, in alphabetical order.
func (g *Graph) Types(ctx context.Context, tenant string) ([]string, error) {
	v, err := g.view(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return v.types, nil
}
