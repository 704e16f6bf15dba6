package tenant

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/mcphud/mcphud/session/store"
)

// maxRemembered bounds the tenants that naming them creates; those named later are served all the same.
const maxRemembered = 10_000

// Registry is the table of tenants that were created.
type Registry struct {
	db    *store.DB
	cache *lru.Cache[string, struct{}] // ids that are in the table, or that it has no room for
}

// NewRegistry opens the table in db, and makes it if it is missing.
func NewRegistry(ctx context.Context, db *store.DB) (*Registry, error) {
	if err := db.Migrate(ctx, "tenant", `CREATE TABLE tenants (
		id TEXT PRIMARY KEY, created TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')) ) WITHOUT ROWID`); err != nil {
		return nil, err
	}
	cache, err := lru.New[string, struct{}](maxRemembered)
	return &Registry{db: db, cache: cache}, err
}

// Create remembers a tenant; a known one is not an error.
func (r *Registry) Create(ctx context.Context, id string) error {
	if !ValidID(id) {
		return fmt.Errorf("tenant %.140q: an id %s", id, idRule)
	}
	_, err := r.known(ctx, id, true)
	return err
}

// Count is how many tenants were created.
func (r *Registry) Count(ctx context.Context) (n int, err error) {
	if err = r.db.QueryRowContext(ctx, `SELECT count(*) FROM tenants`).Scan(&n); err != nil {
		err = fmt.Errorf("count the tenants: %w", err)
	}
	return n, err
}

// known reports whether id is in the table; with create it puts it there first.
func (r *Registry) known(ctx context.Context, id string, create bool) (bool, error) {
	if _, ok := r.cache.Get(id); ok {
		return true, nil
	}
	if create {
		if _, err := r.db.ExecContext(ctx, `INSERT INTO tenants (id) SELECT ? WHERE (SELECT count(*) FROM tenants) < ? ON CONFLICT DO NOTHING`, id, maxRemembered); err != nil {
			return false, fmt.Errorf("create the tenant: %w", err)
		}
		r.cache.Add(id, struct{}{})
		return true, nil
	}
	var one int
	err := r.db.QueryRowContext(ctx, `SELECT 1 FROM tenants WHERE id = ?`, id).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		r.cache.Add(id, struct{}{})
	}
	return err == nil, err
}
