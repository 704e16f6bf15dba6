package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// OpenLater is Open for a file that may never be needed: until somebody writes, and not with a Derived context, everything is in memory, and
// nothing is on disk. at says, once, which file it becomes when it is not there yet; nil for path. A file that is there already is opened at once,
// and so is PostgreSQL.
func OpenLater(path string, at func() (string, error)) (*DB, error) {
	if _, err := os.Stat(path); path == "" || Remote(path) || !errors.Is(err, fs.ErrNotExist) {
		return Open(path)
	}
	own, err := sqliteDriver()
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", path, err)
	}
	l := &later{path: path, at: at, driver: own}
	db := sql.OpenDB(l)
	l.ready = func() { limit(db, l.path) }
	limit(db, "")
	return &DB{DB: db}, nil
}

type derivedKey struct{}

// Derived marks writes that need no file, since whoever finds them missing makes them again.
func Derived(ctx context.Context) context.Context { return context.WithValue(ctx, derivedKey{}, true) }

// later is a connector: to memory, and to the file once there is one.
type later struct {
	path   string                 // does not change once file is set
	at     func() (string, error) // nil once it was asked
	driver driver.Driver
	ready  func() // lifts the limit of one connection

	mu   sync.Mutex
	file bool
}

// Connect opens the file, or memory as long as there is none.
func (l *later) Connect(ctx context.Context) (driver.Conn, error) {
	l.mu.Lock()
	file := l.file
	l.mu.Unlock()
	if file {
		l.ready()
		return (&files{l.driver, l.path, usualWait}).Connect(ctx)
	}
	c, err := l.driver.Open(dsn("", 0))
	if err != nil {
		return nil, err
	}
	full, ok := c.(sqliteConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("store: the driver's connection is a %T", c), c.Close())
	}
	return &memory{sqliteConn: full, of: l}, nil
}

// Driver returns that of SQLite.
func (l *later) Driver() driver.Driver { return l.driver }

// sqliteConn is what database/sql uses of a connection.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
}

// memory is the one connection to the database in memory. A write that is to be kept moves everything to the file and fails with
// driver.ErrBadConn, upon which database/sql writes again, over a new connection.
type memory struct {
	sqliteConn
	of *later
	in bool // a transaction
}

// ExecContext runs a statement, a write outside transactions, for which there may have to be a file first.
func (m *memory) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := m.move(ctx); err != nil {
		return nil, err
	}
	return m.sqliteConn.ExecContext(ctx, query, args)
}

// BeginTx begins a transaction, which like all of them is one that writes.
func (m *memory) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := m.move(ctx); err != nil {
		return nil, err
	}
	tx, err := m.sqliteConn.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	m.in = true
	return &memoryTx{tx, m}, nil
}

type memoryTx struct {
	driver.Tx
	of *memory
}

// Commit ends the transaction.
func (t *memoryTx) Commit() error { t.of.in = false; return t.Tx.Commit() }

// Rollback ends the transaction.
func (t *memoryTx) Rollback() error { t.of.in = false; return t.Tx.Rollback() }

// move makes the file of what is in memory, unless the write needs none. Another process may have made one meanwhile, which has
// all of that, too.
func (m *memory) move(ctx context.Context) error {
	if m.in || ctx.Value(derivedKey{}) != nil {
		return nil
	}
	l := m.of
	if l.at != nil { // memory has one connection
		path, err := l.at()
		if err != nil {
			return err
		}
		l.path, l.at = path, nil
	}
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return fmt.Errorf("store: create the folder: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*") // 0600
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone, if it was renamed
	if err := f.Close(); err != nil {
		return fmt.Errorf("store: %w", err)
	}
	if _, err := m.sqliteConn.ExecContext(ctx, `VACUUM INTO ?`, []driver.NamedValue{{Ordinal: 1, Value: f.Name()}}); err != nil {
		return fmt.Errorf("store: write %s: %w", l.path, err)
	}
	if err = os.Link(f.Name(), l.path); err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(f.Name(), l.path) // a file system without links
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("store: %w", err)
	}
	l.mu.Lock()
	l.file = true
	l.mu.Unlock()
	return driver.ErrBadConn
}
