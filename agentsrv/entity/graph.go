// Package entity is the agent's graph of things: who and what there is (carriers, services, people, places, systems),
// and how they hang together. Each tenant has a graph of its own, filled with Import; a demonstration graph of an
// invented logistics company lies under all of them, readable by every tenant and changed by none.
package entity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed" // the demonstration graph
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcphud/mcphud/session/store"
)

// shared is the tenant of the demonstration graph.
const shared = ""

//go:embed demo.jsonl
var demo []byte

// Entity is one thing of the graph.
type Entity struct {
	ID         string          `json:"id"`         // unique within its tenant
	Type       string          `json:"type"`       // such as carrier, service, person
	Name       string          `json:"name"`       // what people call it
	Properties json.RawMessage `json:"properties"` // a JSON object, as imported
}

// Related is an entity at the other end of an edge.
type Related struct {
	Relation  string `json:"relation"`  // such as operates_from
	Direction string `json:"direction"` // "out": the edge leads from the entity asked for to this one; "in": the other way
	ID        string `json:"id"`
	Type      string `json:"type"`
	Name      string `json:"name"`
}

// Graph is all tenants' graphs in one database. Its methods may be called from any goroutine.
type Graph struct {
	db *store.DB

	mu    sync.Mutex
	ready bool
}

// New keeps the graphs in db, which stays the caller's to close. It touches nothing; the first use makes the tables.
func New(db *store.DB) *Graph { return &Graph{db: db} }

// A name is what an entity is found by: its own, or an alias, folded. A term is a trigram of those ("3") or a word of its
// properties ("w").
const tables = `
CREATE TABLE entities (tenant TEXT NOT NULL, id TEXT NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL, properties TEXT NOT NULL,
	PRIMARY KEY (tenant, id)) WITHOUT ROWID;
CREATE INDEX entities_type ON entities (tenant, type);
CREATE TABLE entity_names (tenant TEXT NOT NULL, type TEXT NOT NULL, fold TEXT NOT NULL, id TEXT NOT NULL,
	PRIMARY KEY (tenant, type, fold, id)) WITHOUT ROWID;
CREATE INDEX entity_names_id ON entity_names (tenant, id);
CREATE INDEX entity_names_fold ON entity_names (tenant, fold);
CREATE TABLE entity_terms (tenant TEXT NOT NULL, type TEXT NOT NULL, term TEXT NOT NULL, id TEXT NOT NULL,
	PRIMARY KEY (tenant, type, term, id)) WITHOUT ROWID;
CREATE INDEX entity_terms_id ON entity_terms (tenant, id);
CREATE TABLE entity_edges (tenant TEXT NOT NULL, src TEXT NOT NULL, relation TEXT NOT NULL, dst TEXT NOT NULL,
	PRIMARY KEY (tenant, src, relation, dst)) WITHOUT ROWID;
CREATE INDEX entity_edges_dst ON entity_edges (tenant, dst);
CREATE TABLE entity_seed (only INTEGER PRIMARY KEY CHECK (only = 1), digest TEXT NOT NULL);`

// open makes the tables and the demonstration graph where they are missing or of another version of it. A failure is
// tried again by the next use, since a full or locked disk may recover.
func (g *Graph) open(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ready {
		return nil
	}
	if err := g.db.Migrate(ctx, "entity", tables); err != nil {
		return fmt.Errorf("entity: %w", err)
	}
	sum := sha256.Sum256(demo)
	digest := hex.EncodeToString(sum[:])
	var have string
	err := g.db.QueryRowContext(ctx, `SELECT digest FROM entity_seed`).Scan(&have)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("entity: read the version of the demonstration graph: %w", err)
	}
	if have != digest {
		if err := g.seed(ctx, digest); err != nil {
			return fmt.Errorf("entity: write the demonstration graph: %w", err)
		}
	}
	g.ready = true
	return nil
}

func (g *Graph) seed(ctx context.Context, digest string) error {
	ctx = store.Derived(ctx)
	lines, err := parse(bytes.NewReader(demo))
	if err != nil {
		return err
	}
	tx, err := g.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	for _, table := range []string{"entities", "entity_names", "entity_terms", "entity_edges"} {
		if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE tenant = ?`, shared); err != nil {
			return err
		}
	}
	if err := write(ctx, tx, shared, lines); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO entity_seed VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET digest = excluded.digest`, digest); err != nil {
		return err
	}
	return tx.Commit()
}

// Types are the types of the entities that a tenant sees, in alphabetical order.
func (g *Graph) Types(ctx context.Context, tenant string) ([]string, error) {
	if err := g.open(ctx); err != nil {
		return nil, err
	}
	rows, err := g.db.QueryContext(ctx, `SELECT DISTINCT type FROM entities WHERE tenant IN (?, '') ORDER BY type LIMIT 100`, tenant)
	if err != nil {
		return nil, fmt.Errorf("entity: list types: %w", err)
	}
	return collect(rows, func(r *sql.Rows) (s string, err error) { return s, r.Scan(&s) })
}

// collect reads all rows and closes them, so that the one connection of a database in memory is free again.
func collect[T any](rows *sql.Rows, scan func(*sql.Rows) (T, error)) ([]T, error) {
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("entity: read a row: %w", err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("entity: read rows: %w", err)
	}
	return all, nil
}
