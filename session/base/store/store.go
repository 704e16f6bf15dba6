// Package store is a database of this program: SQLite, in a file that only its owner can read, or in memory; or PostgreSQL, which
// several processes share. Statements are written with the placeholders of SQLite (?, ?1, @name) for both.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"modernc.org/sqlite" // the driver "sqlite"
	lib "modernc.org/sqlite/lib"
)

// DB is the open database. Statements of any number of goroutines may run on it.
type DB struct {
	*sql.DB
	server *server // nil for SQLite
}

// Dialect is which SQL a database speaks.
type Dialect int

// The dialects.
const (
	SQLite Dialect = iota
	Postgres
)

// Dialect is that of the database.
func (db *DB) Dialect() Dialect {
	if db.server != nil {
		return Postgres
	}
	return SQLite
}

// ExecContext, QueryContext and BeginTx are those of sql.DB, and say so where all connections are taken.
func (db *DB) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	res, err := db.DB.ExecContext(ctx, query, args...)
	return res, db.explain(err)
}

// QueryContext see ExecContext.
func (db *DB) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	rows, err := db.DB.QueryContext(ctx, query, args...)
	return rows, db.explain(err)
}

// BeginTx see ExecContext.
func (db *DB) BeginTx(ctx context.Context, o *sql.TxOptions) (*sql.Tx, error) {
	tx, err := db.DB.BeginTx(ctx, o)
	return tx, db.explain(err)
}

func (db *DB) explain(err error) error {
	if err == nil || db.server == nil {
		return err
	}
	return db.server.explain(err)
}

// Now is the time by the database's clock, which is the same for all who share it.
func (db *DB) Now() time.Time {
	if r := db.lastReading(); r != nil {
		return r.theirs.Add(time.Since(r.ours))
	}
	return time.Now()
}

// Skew is how much the database's clock is ahead of this machine's, as of its last new connection; 0 for SQLite.
func (db *DB) Skew() time.Duration {
	if r := db.lastReading(); r != nil {
		return r.theirs.Sub(r.ours.Round(0)) // by what ours shows
	}
	return 0
}

// lastReading is that of the last new connection, nil for SQLite.
func (db *DB) lastReading() *reading {
	if db.server == nil {
		return nil
	}
	return db.server.clock.Load()
}

// Open opens the database in the file path, and makes file (0600) and folder (0700) where they are missing. "" keeps
// everything in memory, and writes nothing to disk. A path that is Remote is the URL of a PostgreSQL database.
func Open(path string) (*DB, error) {
	if Remote(path) {
		return openPostgres(path)
	}
	return OpenFor(path, usualWait)
}

// usualWait is how long statements wait for other processes.
const usualWait = 5 * time.Second

// OpenFor is Open where statements wait at most so long for other processes.
func OpenFor(path string, wait time.Duration) (*DB, error) {
	if scheme, _, ok := strings.Cut(path, "://"); ok {
		return nil, fmt.Errorf("store: cannot keep anything at %s://…: name a file, or a database as postgres://USER@HOST/DATABASE", scheme)
	}
	if path != "" {
		if err := private(path); err != nil {
			return nil, err
		}
	}
	own, err := sqliteDriver()
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	db := sql.OpenDB(&files{own, path, wait})
	limit(db, path)
	if err := db.Ping(); err != nil {
		return nil, Explained(path, fmt.Errorf("store: open %s: %w; name another file, or keep nothing on disk", path, errors.Join(err, db.Close())))
	}
	return &DB{DB: db}, nil
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

// Busy reports whether err says that another process held the database, or what the statement is about, for too long.
func Busy(err error) bool {
	switch code(err) {
	case "40001", "40P01", "55P03":
		return true
	}
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == lib.SQLITE_BUSY
}

// Explained is err, with what to do about it if it tells that the file at path is damaged or not a database, or its disk full, which is
// syscall.ENOSPC.
func Explained(path string, err error) error {
	var already *damaged
	var e *sqlite.Error
	if path == "" || errors.As(err, &already) || errors.Is(err, syscall.ENOSPC) || !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return &damaged{path, err}
	case lib.SQLITE_FULL:
		return &diskFull{path, err}
	case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN: // of which a full disk is one cause
		if noRoom(filepath.Dir(path)) {
			return &diskFull{path, err}
		}
	}
	return err
}

// diskFull is the error of a file whose disk has no room.
type diskFull struct {
	path string
	err  error
}

func (d *diskFull) Error() string {
	var e *sqlite.Error
	errors.As(d.err, &e) // it is of the driver; what was being done says less than that
	return "store: no space left on the disk of " + d.path + "; make room, or name another file: " + e.Error()
}

func (d *diskFull) Unwrap() []error { return []error{d.err, syscall.ENOSPC} }

// noRoom reports whether a folder takes no more: 64 kB are tried, which is about what SQLite needs at once.
func noRoom(dir string) bool {
	f, err := os.CreateTemp(dir, ".room.*")
	if err == nil {
		_, err = f.Write(make([]byte, 64<<10))
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return errors.Is(err, syscall.ENOSPC)
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

// Collect reads the rows that a query answered with, or its error, and closes them, so that the one connection of a database in memory is
// free again. An error leaves the rows before it.
func Collect[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) (all []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return all, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}
