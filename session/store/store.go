// Package store is a database of this program: SQLite, in a file that only its owner can read, or in memory.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite" // the driver "sqlite"
	lib "modernc.org/sqlite/lib"
)

// DB is the open database. Statements of any number of goroutines may run on it.
type DB struct {
	*sql.DB
}

// Open opens the database in the file path, and makes file (0600) and folder (0700) where they are missing. "" keeps
// everything in memory, and writes nothing to disk.
func Open(path string) (*DB, error) { return OpenFor(path, 5*time.Second) }

// OpenFor is Open where statements wait at most so long for other processes.
func OpenFor(path string, wait time.Duration) (*DB, error) {
	if path != "" {
		if err := private(path); err != nil {
			return nil, err
		}
	}
	db, err := sql.Open(driverName, dsn(path, wait))
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	limit(db, path)
	if err := db.Ping(); err != nil {
		return nil, Explained(path, fmt.Errorf("store: open %s: %w; name another file, or keep nothing on disk", path, errors.Join(err, db.Close())))
	}
	return &DB{db}, nil
}

const driverName = "sqlite"

// dsn is what the driver opens for a path, "" for memory.
func dsn(path string, wait time.Duration) string {
	pragmas := url.Values{"_pragma": {fmt.Sprintf("busy_timeout(%d)", wait.Milliseconds()), "foreign_keys(1)"}, "_txlock": {"immediate"}}
	if path == "" {
		return "file::memory:?" + pragmas.Encode()
	}
	pragmas["_pragma"] = append(pragmas["_pragma"], "journal_mode(WAL)", "synchronous(NORMAL)")
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}).String() + "?" + pragmas.Encode()
}

// limit bounds the connections of a database.
func limit(db *sql.DB, path string) {
	db.SetMaxIdleConns(4)
	if path == "" {
		db.SetMaxOpenConns(1) // each connection to :memory: is a database of its own
	} else {
		db.SetMaxOpenConns(4)
	}
}

// damaged is the error of a file that cannot be used.
type damaged struct {
	path string
	err  error
}

func (d *damaged) Error() string {
	return "store: " + d.path + " is damaged or not a database; remove it to start with an empty one, or name another file: " + d.err.Error()
}

func (d *damaged) Unwrap() error { return d.err }

// Busy reports whether err says that another process held the file for too long.
func Busy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_BUSY
}

// Explained is err, with what to do about it if it tells that the file at path is damaged or not a database.
func Explained(path string, err error) error {
	var already *damaged
	var e *sqlite.Error
	if path == "" || errors.As(err, &already) || !errors.As(err, &e) || e.Code()&0xff != lib.SQLITE_CORRUPT && e.Code()&0xff != lib.SQLITE_NOTADB {
		return err
	}
	return &damaged{path, err}
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

// Migrate brings the tables of one part of the program up to date: of steps, SQL each, it runs those that were not run yet
// under that name, in order, each in a transaction. A step that was released is never changed, only followed by others.
func (db *DB) Migrate(ctx context.Context, name string, steps ...string) error {
	ctx = Derived(ctx)
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
