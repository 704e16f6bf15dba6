// Package store is the agent's one database: SQLite, in a file that only its owner can read, or in memory.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// DB is the open database. Statements of any number of goroutines may run on it.
type DB struct {
	*sql.DB
}

// Open opens the database in the file path, and makes file (0600) and folder (0700) where they are missing. "" keeps
// everything in memory, and writes nothing to disk.
func Open(path string) (*DB, error) {
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "foreign_keys(1)"}, "_txlock": {"immediate"}}
	dsn := "file::memory:?" + pragmas.Encode()
	if path != "" {
		if err := private(path); err != nil {
			return nil, err
		}
		pragmas["_pragma"] = append(pragmas["_pragma"], "journal_mode(WAL)", "synchronous(NORMAL)")
		dsn = (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}).String() + "?" + pragmas.Encode()
	}
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	if path == "" {
		// Each connection to :memory: is a database of its own.
		db.SetMaxOpenConns(1)
	} else {
		db.SetMaxOpenConns(4)
	}
	db.SetMaxIdleConns(4)
	if err := db.Ping(); err != nil {
		return nil, fmt.Errorf("store: open %s: %w; name another file, or keep nothing on disk", path, errors.Join(err, db.Close()))
	}
	return &DB{db}, nil
}

// private makes the file before SQLite does, so that it never is readable for others, its journals neither.
func private(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("store: create the folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer f.Close()
	if err := f.Chmod(0o600); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Migrate brings the tables of one part of the agent up to date: of steps, SQL each, it runs those that were not run yet
// under that name, in order, each in a transaction. A step that was released is never changed, only followed by others.
func (db *DB) Migrate(ctx context.Context, name string, steps ...string) error {
	if _, err := db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, steps INTEGER NOT NULL)`); err != nil {
		return fmt.Errorf("store: migrate %s: %w", name, err)
	}
	for i, step := range steps {
		if err := db.step(ctx, name, i, step); err != nil {
			return fmt.Errorf("store: migrate %s: step %d: %w", name, i+1, err)
		}
	}
	var done int
	if err := db.QueryRowContext(ctx, `SELECT steps FROM migrations WHERE name = ?`, name).Scan(&done); err != nil {
		return fmt.Errorf("store: migrate %s: %w", name, err)
	}
	if done > len(steps) {
		return fmt.Errorf("store: %s was written by a newer version of this program; use that one, or another file", name)
	}
	return nil
}

func (db *DB) step(ctx context.Context, name string, i int, step string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	var done int
	if err := tx.QueryRowContext(ctx, `SELECT steps FROM migrations WHERE name = ?`, name).Scan(&done); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if done > i {
		return nil
	}
	if _, err := tx.ExecContext(ctx, step); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO migrations VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET steps = excluded.steps`, name, i+1); err != nil {
		return err
	}
	return tx.Commit()
}
