package tenant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/mcphud/mcphud/session/base/store"
)

// maxRemembered bounds the tenants that naming them creates; those named later are served all the same.
const maxRemembered = 10_000

// Registry is the table of tenants that were created, by this process or others that share the database.
type Registry struct {
	db    *store.DB
	cache *lru.Cache[string, struct{}] // ids that are in the table, or that it has no room for
}

// NewRegistry opens the table in db, and makes it if it is missing.
func NewRegistry(ctx context.Context, db *store.DB) (*Registry, error) {
	if err := db.Migrate(ctx, "tenant", store.Steps{
		SQLite: []string{`CREATE TABLE tenants (
		id TEXT PRIMARY KEY, created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')) ) WITHOUT ROWID`},
		Postgres: []string{`CREATE TABLE tenants (id TEXT COLLATE "C" PRIMARY KEY, created TIMESTAMPTZ NOT NULL DEFAULT now())`},
	}); err != nil {
		return nil, err
	}
	cache, err := lru.New[string, struct{}](maxRemembered)
	return &Registry{db: db, cache: cache}, err
}

// isKnown reports whether id is in the table; with create it puts it there first.
func (r *Registry) isKnown(ctx context.Context, id string, create bool) (bool, error) {
	if _, ok := r.cache.Get(id); ok {
		return true, nil
	}
	var one int
	err := r.db.QueryRowContext(ctx, `SELECT 1 FROM tenants WHERE id = ?`, id).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		if !create {
			return false, nil
		}
		err = r.create(ctx, id)
	}
	if err == nil {
		r.cache.Add(id, struct{}{})
	}
	return err == nil, err
}

// create puts a tenant into the table, if that has room for one more.
func (r *Registry) create(ctx context.Context, id string) error {
	if err := r.db.Exclusive(ctx, "tenants", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO tenants (id) SELECT ? WHERE (SELECT count(*) FROM tenants) < ? ON CONFLICT DO NOTHING`, id, maxRemembered)
		return err
	}); err != nil {
		return fmt.Errorf("create the tenant: %w", err)
	}
	return nil
}
