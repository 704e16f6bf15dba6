package agentlet

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
)

//go:embed system/*.json
var systemFiles embed.FS

// loadSystem reads the agents that come with the program; their files are part of it, so that a broken one is a bug that
// the tests find.
func loadSystem() map[string]*Agent {
	all := map[string]*Agent{}
	files, _ := systemFiles.ReadDir("system")
	for _, f := range files {
		raw, _ := systemFiles.ReadFile(path.Join("system", f.Name()))
		a := &Agent{}
		if json.Unmarshal(raw, a) != nil {
			continue
		}
		a.setNames()
		for _, name := range append([]string{a.Name}, a.Aliases...) {
			all[name] = a
		}
	}
	return all
}

const tables = `
CREATE TABLE agents (tenant TEXT NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
	output_schema TEXT NOT NULL, tools TEXT NOT NULL, created TEXT NOT NULL, PRIMARY KEY (tenant, user, name)) WITHOUT ROWID;
CREATE INDEX agents_name ON agents (tenant, name);`

// sharedTables are those of PostgreSQL. Agents are numbered in the order of their commits, since they are made one at a time.
const sharedTables = `
CREATE TABLE agents (seq BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE, tenant TEXT COLLATE "C" NOT NULL, "user" TEXT COLLATE "C" NOT NULL, name TEXT COLLATE "C" NOT NULL,
	description TEXT NOT NULL, output_schema TEXT NOT NULL, tools TEXT NOT NULL, created TEXT NOT NULL, PRIMARY KEY (tenant, "user", name));
CREATE INDEX agents_name ON agents (tenant, name);`

// addOrigin notes which process made an agent.
const addOrigin = `ALTER TABLE agents ADD COLUMN origin TEXT NOT NULL DEFAULT ''`

// open makes the tables. A failure is tried again by the next use, since a full or locked disk may recover.
func (r *Registry) open(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready {
		return nil
	}
	if err := r.o.DB.Migrate(ctx, "agentlet", store.Steps{SQLite: []string{tables, addOrigin}, Postgres: []string{sharedTables, addOrigin}}); err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	r.ready = true
	return nil
}

var (
	errTaken     = errors.New("taken")
	errFull      = errors.New("full")
	errAmbiguous = errors.New("ambiguous")
)

// maxAgents of one tenant.
const maxAgents = 1000

// insert stores a new agent; errTaken if the user has one of this name, errFull if the tenant has too many.
func (r *Registry) insert(ctx context.Context, tenant string, a *Agent) error {
	if err := r.open(ctx); err != nil {
		return err
	}
	tools, err := json.Marshal(a.Tools)
	if err != nil {
		return err
	}
	a.Created = r.o.DB.Now().UTC().Format(time.RFC3339)
	err = r.o.DB.Exclusive(ctx, "agents", func(tx *sql.Tx) error {
		var count int
		if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM agents WHERE tenant = ?`, tenant).Scan(&count); err != nil || count >= maxAgents {
			return cmp.Or(err, errFull)
		}
		done, err := tx.ExecContext(ctx, `INSERT INTO agents (tenant, "user", name, description, output_schema, tools, created, origin) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			tenant, a.User, a.Name, a.Description, string(a.OutputSchema), string(tools), a.Created, r.origin)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return cmp.Or(err, errTaken)
		}
		return r.o.DB.Notify(ctx, tx, notices)
	})
	if err != nil && err != errTaken && err != errFull {
		err = fmt.Errorf("agents: store: %w", err)
	}
	return err
}

// find is the agent that a tenant's caller calls so; nil if there is none that the tenant sees. user is the caller, ""
// if unknown.
func (r *Registry) find(ctx context.Context, tenant, user string, ref reference) (*Agent, error) {
	if ref.system || ref.user == "" {
		if a := r.system()[ref.name]; a != nil {
			return r.remember(shared, a), nil
		}
		if ref.system {
			return nil, nil
		}
	}
	if ref.user != "" {
		if a, ok := r.cache.Get(cacheKey(tenant, "user/"+ref.user+"/"+ref.name)); ok {
			r.o.Cached(true)
			return a, nil
		}
	}
	found, err := r.query(ctx, `tenant = ?1 AND name = ?2 AND "user" = ?3`, tenant, ref.name, cmp.Or(ref.user, user))
	if err != nil || len(found) == 1 {
		return r.first(tenant, found), err
	}
	if ref.user != "" || user != "" {
		return nil, nil
	}
	// A caller who did not say who it is means the tenant's only agent of this name.
	found, err = r.query(ctx, `tenant = ?1 AND name = ?2`, tenant, ref.name)
	if err == nil && len(found) > 1 {
		err = errAmbiguous
	}
	return r.first(tenant, found), err
}

func (r *Registry) first(tenant string, found []*Agent) *Agent {
	if len(found) == 0 {
		return nil
	}
	return r.remember(tenant, found[0])
}

// shared is whose the system agents are.
const shared = ""

func cacheKey(tenant, fullName string) string { return tenant + "\x00" + fullName }

// remember takes the agent out of the cache, or puts it there.
func (r *Registry) remember(tenant string, a *Agent) *Agent {
	if known, ok, _ := r.cache.PeekOrAdd(cacheKey(tenant, a.FullName), a); ok {
		r.cache.Get(cacheKey(tenant, a.FullName)) // marks it as used
		r.o.Cached(true)
		return known
	}
	r.o.Cached(false)
	return a
}

// mine are the agents of a tenant's user, or of all its users if user is "", by user and name.
func (r *Registry) mine(ctx context.Context, tenant, user string) ([]*Agent, error) {
	return r.query(ctx, `tenant = ?1 AND (?2 = '' OR "user" = ?2)`, tenant, user)
}

func (r *Registry) query(ctx context.Context, where string, args ...any) ([]*Agent, error) {
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	rows, err := r.o.DB.QueryContext(ctx, `SELECT "user", name, description, output_schema, tools, created FROM agents WHERE `+where+` ORDER BY "user", name LIMIT 1000`, args...)
	all, err := store.Collect(rows, err, scan)
	if err != nil {
		return nil, fmt.Errorf("agents: read: %w", err)
	}
	return append([]*Agent{}, all...), nil
}

func scan(rows *sql.Rows) (*Agent, error) {
	var schema, tools string
	a := &Agent{}
	if err := rows.Scan(&a.User, &a.Name, &a.Description, &schema, &tools, &a.Created); err != nil {
		return nil, err
	}
	a.OutputSchema = json.RawMessage(schema)
	if err := json.Unmarshal([]byte(tools), &a.Tools); err != nil {
		return nil, err
	}
	return a.setNames(), nil
}
