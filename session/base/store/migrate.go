package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// Steps are those of a Migrate by dialect. One that was released is never changed, only followed by others.
type Steps struct {
	SQLite, Postgres []string
}

// migrateTime is how long one step may take in PostgreSQL, and how long a process waits for another one's steps.
const migrateTime = 5 * time.Minute

// versions makes the table of versions, by its name.
const versions = `CREATE TABLE IF NOT EXISTS %s (name TEXT PRIMARY KEY, steps INTEGER NOT NULL)`

// Migrate brings the tables of one part of the program up to date: of the steps, SQL each, it runs those that were not run yet
// under that name, in order, each as a whole or not at all. Processes that share the database take turns.
func (db *DB) Migrate(ctx context.Context, name string, all Steps) error {
	ctx = Derived(ctx)
	steps, prepare := all.SQLite, fmt.Sprintf(versions, db.migrations())
	if db.Dialect() == Postgres {
		if steps = all.Postgres; len(steps) == 0 {
			return fmt.Errorf("store: %s cannot be kept in PostgreSQL", name)
		}
		prepare = ""
		ctx = withPatience(ctx, migrateTime)
	}
	if prepare != "" {
		if _, err := db.ExecContext(ctx, prepare); err != nil {
			return fmt.Errorf("store: migrate %s: %w", name, err)
		}
	}
	done, err := db.steps(ctx, db, name)
	for i := done; i < len(steps) && err == nil; i++ {
		if err = db.step(ctx, name, i, steps[i]); err != nil {
			return fmt.Errorf("store: migrate %s: step %d: %w", name, i+1, err)
		}
	}
	if err != nil {
		return fmt.Errorf("store: migrate %s: %w", name, err)
	}
	if done > len(steps) {
		return fmt.Errorf("store: %s was written by a newer version of this program; use that one, or another %s", name, db.kind())
	}
	return nil
}

// kind is what a user chooses to have another database.
func (db *DB) kind() string {
	if db.Dialect() == Postgres {
		return "database or schema"
	}
	return "file"
}

// querier is a database or a transaction.
type querier interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// migrations is the name of the table of versions, which is not that of another program in another schema.
func (db *DB) migrations() string {
	if db.server == nil {
		return "migrations"
	}
	return db.server.quotedSchema() + ".migrations"
}

// steps is how many steps were run under a name.
func (db *DB) steps(ctx context.Context, q querier, name string) (done int, err error) {
	err = q.QueryRowContext(ctx, `SELECT steps FROM `+db.migrations()+` WHERE name = ?`, name).Scan(&done)
	if errors.Is(err, sql.ErrNoRows) || code(err) == "42P01" { // no such table, in PostgreSQL
		err = nil
	}
	return done, err
}

func (db *DB) step(ctx context.Context, name string, i int, step string) error {
	return db.Exclusive(ctx, "migrations", func(tx *sql.Tx) error {
		if db.Dialect() == Postgres {
			if err := db.prepare(ctx, tx); err != nil {
				return err
			}
		}
		done, err := db.steps(ctx, tx, name)
		if err != nil || done > i {
			return err
		}
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO `+db.migrations()+` VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET steps = excluded.steps`, name, i+1)
		return err
	})
}

// prepare makes the schema and the table of versions in PostgreSQL.
func (db *DB) prepare(ctx context.Context, tx *sql.Tx) error {
	schema := db.server.schema
	var there bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = ?)`, schema).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := tx.ExecContext(ctx, `CREATE SCHEMA `+db.server.quotedSchema()); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(versions, db.migrations())); err != nil {
		return err
	}
	// A connection that looked for the schema before another process made it would still make the tables of steps in the next one of
	// its path.
	_, err := tx.ExecContext(ctx, `SELECT set_config('search_path', current_setting('search_path'), true)`)
	return err
}

func (s *server) quotedSchema() string { return `"` + strings.ReplaceAll(s.schema, `"`, `""`) + `"` }

// Exclusive runs a transaction that only one process at a time runs under this name, so that what it reads nobody changes before it
// writes. In SQLite that holds for every transaction. An error of run undoes everything.
func (db *DB) Exclusive(ctx context.Context, name string, run func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if db.Dialect() == Postgres {
		if wait, ok := ctx.Value(patientKey{}).(time.Duration); ok {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf(`SET LOCAL statement_timeout = %d`, wait.Milliseconds())); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock(?)`, db.server.lock(name)); err != nil {
			return err
		}
	}
	if err := run(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// lock is the number of a lock. PostgreSQL shares them between all that use the database.
func (s *server) lock(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("mcphud\x00" + s.schema + "\x00" + name)) // never fails
	return int64(h.Sum64())                                         //nolint:gosec // any number will do
}
