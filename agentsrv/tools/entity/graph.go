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

	"github.com/mcphud/mcphud/session/base/store"
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

	mu       sync.Mutex
	ready    bool
	trigrams bool // pg_trgm finds similar names
}

// New keeps the graphs in db, which stays the caller's to close. It touches nothing; the first use makes the tables.
func New(db *store.DB) *Graph { return &Graph{db: db} }

// open makes the tables and the demonstration graph where they are missing or of another version of it. A failure is
// tried again by the next use, since a full or locked disk may recover.
func (g *Graph) open(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.ready {
		return nil
	}
	if err := g.db.Migrate(ctx, "entity", store.Steps{SQLite: []string{tables}, Postgres: []string{sharedTables}}); err != nil {
		return fmt.Errorf("entity: %w", err)
	}
	if g.isShared() {
		if err := g.db.QueryRowContext(ctx, `SELECT to_regclass('entity_names_trigrams') IS NOT NULL`).Scan(&g.trigrams); err != nil {
			return fmt.Errorf("entity: look for pg_trgm: %w", err)
		}
	}
	sum := sha256.Sum256(demo)
	digest := hex.EncodeToString(sum[:])
	have, err := seedVersion(ctx, g.db)
	if err != nil {
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

// Prepare makes the tables now, and says how similar names are found where that may be other than expected.
func (g *Graph) Prepare(ctx context.Context) (notice string, err error) {
	if err := g.open(ctx); err != nil {
		return "", err
	}
	if g.isShared() && !g.trigrams {
		return "PostgreSQL has no pg_trgm for this user: similar names are found by a table of trigrams, which is larger", nil
	}
	return "", nil
}

// isShared reports whether other processes may write to the graphs as well.
func (g *Graph) isShared() bool { return g.db.Dialect() == store.Postgres }

// seedVersion is the version of the demonstration graph that is there, "" for none.
func seedVersion(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
},
) (digest string, err error) {
	if err = q.QueryRowContext(ctx, `SELECT digest FROM entity_seed`).Scan(&digest); errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return digest, err
}

func (g *Graph) seed(ctx context.Context, digest string) error {
	ctx = store.Derived(ctx)
	lines, err := parse(bytes.NewReader(demo))
	if err != nil {
		return err
	}
	return g.db.Exclusive(ctx, writing, func(tx *sql.Tx) error {
		if have, err := seedVersion(ctx, tx); err != nil || have == digest { // another process was faster
			return err
		}
		for _, table := range []string{"entities", "entity_names", "entity_terms", "entity_edges"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE tenant = ?`, shared); err != nil {
				return err
			}
		}
		if err := g.write(ctx, tx, shared, lines); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO entity_seed VALUES (1, ?) ON CONFLICT ("only") DO UPDATE SET digest = excluded.digest`, digest)
		return err
	})
}

// writing is what only one process does at a time: two that bring the same entities would wait for each other for ever.
const writing = "entities"

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
