package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// connector is the driver of PostgreSQL for database/sql: a thin one, on what speaks the protocol. It prepares nothing on the server, so
// that a pooler may stand between.
type connector struct{ of *server }

// Connect opens a connection.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	pg, err := c.of.connect(ctx)
	if err != nil {
		return nil, c.of.explain(err)
	}
	return &conn{PgConn: pg, of: c.of, used: time.Now()}, nil
}

// Driver opens nothing: there is no name for what the connector has.
func (c *connector) Driver() driver.Driver { return noDriver{} }

type noDriver struct{}

// Open fails.
func (noDriver) Open(string) (driver.Conn, error) {
	return nil, errors.New("store: connections are opened by the connector")
}

// conn is a connection whose statements have SQLite's placeholders, end in time, and explain why they failed.
type conn struct {
	*pgconn.PgConn
	of    *server
	used  time.Time
	begun bool // a transaction, no statement of which can be run over another connection
}

type patientKey struct{}

// withPatience lets the statements of ctx wait for so long.
func withPatience(ctx context.Context, wait time.Duration) context.Context {
	return context.WithValue(ctx, patientKey{}, wait)
}

// limit bounds one statement.
func (c *conn) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	wait, ok := ctx.Value(patientKey{}).(time.Duration)
	if !ok {
		wait = c.of.wait()
	}
	if wait == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, wait, errSilent)
}

// errSilent is a server that did not answer, not even that a statement takes too long.
var errSilent = errors.New("no answer")

// wrapError is why a statement failed. What never reached the server database/sql runs again, over another connection.
func (c *conn) wrapError(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(context.Cause(ctx), errSilent):
		err = fmt.Errorf("%w: %w", errSilent, err)
	case ctx.Err() == nil && !c.begun && pgconn.SafeToRetry(err):
		return driver.ErrBadConn
	}
	return c.of.explain(err)
}

// ExecContext runs a statement, or several without arguments.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	if len(args) == 0 {
		results, err := c.Exec(ctx, query).ReadAll()
		if err != nil || len(results) == 0 {
			return driver.RowsAffected(0), c.wrapError(ctx, err)
		}
		return driver.RowsAffected(results[len(results)-1].CommandTag.RowsAffected()), nil
	}
	got, err := c.run(ctx, query, args)
	if err != nil {
		return nil, err
	}
	tag, err := got.Close()
	return driver.RowsAffected(tag.RowsAffected()), c.wrapError(ctx, err)
}

func (c *conn) run(ctx context.Context, query string, args []driver.NamedValue) (*pgconn.ResultReader, error) {
	query, args = numberPlaceholders(query, args)
	values := make([][]byte, len(args))
	formats := make([]int16, len(args))
	for i, a := range args {
		var err error
		if values[i], formats[i], err = encode(a.Value); err != nil {
			return nil, fmt.Errorf("store: argument %d: %w", a.Ordinal, err)
		}
	}
	return c.ExecParams(ctx, query, values, nil, formats, nil), nil
}

// QueryContext runs a query, which the time of reading its rows belongs to.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	ctx, cancel := c.limit(ctx)
	got, err := c.run(ctx, query, args)
	if err != nil {
		cancel()
		return nil, err
	}
	r := &rows{got: got, ctx: ctx, cancel: cancel, of: c}
	if r.ready = got.NextRow(); !r.ready { // it may have failed, and then it may be run again
		r.over = true
		defer cancel()
		if _, err := got.Close(); err != nil {
			return nil, c.wrapError(ctx, err)
		}
	}
	return r, nil
}

type rows struct {
	got    *pgconn.ResultReader
	ctx    context.Context
	cancel context.CancelFunc
	of     *conn
	ready  bool // the next row is there already
	over   bool
}

// Columns are the names of the columns.
func (r *rows) Columns() []string {
	var names []string
	for _, f := range r.got.FieldDescriptions() {
		names = append(names, f.Name)
	}
	return names
}

// Next reads a row.
func (r *rows) Next(into []driver.Value) error {
	if !r.ready && (r.over || !r.got.NextRow()) {
		if err := r.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	r.ready = false
	fields := r.got.FieldDescriptions()
	for i, raw := range r.got.Values() {
		var err error
		if into[i], err = decode(fields[i].DataTypeOID, raw); err != nil {
			return fmt.Errorf("store: column %s: %w", fields[i].Name, err)
		}
	}
	return nil
}

// Close ends the query.
func (r *rows) Close() error {
	if r.over {
		return nil
	}
	r.over = true
	defer r.cancel()
	_, err := r.got.Close()
	return r.of.wrapError(r.ctx, err)
}

// Prepare keeps a statement.
func (c *conn) Prepare(query string) (driver.Stmt, error) { return &stmt{query, c}, nil }

type stmt struct {
	query string
	of    *conn
}

// NumInput leaves counting to the server.
func (s *stmt) NumInput() int { return -1 }

// Close ends nothing.
func (s *stmt) Close() error { return nil }

// Exec is not called, since there is ExecContext.
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }

// Query is not called, since there is QueryContext.
func (s *stmt) Query([]driver.Value) (driver.Rows, error) { return nil, driver.ErrSkip }

// ExecContext runs the statement.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.of.ExecContext(ctx, s.query, args)
}

// QueryContext runs the query.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.of.QueryContext(ctx, s.query, args)
}

// CheckNamedValue lets arguments have names.
func (c *conn) CheckNamedValue(v *driver.NamedValue) (err error) {
	if _, list := v.Value.([]string); !list {
		v.Value, err = driver.DefaultParameterConverter.ConvertValue(v.Value)
	}
	return err
}

// Ping tries the connection.
func (c *conn) Ping(ctx context.Context) error {
	ctx, cancel := c.limit(ctx)
	defer cancel()
	return c.wrapError(ctx, c.PgConn.Ping(ctx))
}

// probed is after how long without use a connection is tried before it is used: it may have broken meanwhile.
const probed = time.Second

// ResetSession finds connections that broke while nobody used them.
func (c *conn) ResetSession(ctx context.Context) error {
	if !c.IsValid() {
		return driver.ErrBadConn
	}
	if time.Since(c.used) > probed {
		ctx, cancel := context.WithTimeout(ctx, slack)
		defer cancel()
		if c.PgConn.Ping(ctx) != nil {
			return driver.ErrBadConn
		}
	}
	c.used = time.Now()
	return nil
}

// IsValid reports whether the connection can be used again.
func (c *conn) IsValid() bool { return !c.IsClosed() && c.TxStatus() == 'I' }

// Close says goodbye to the server.
func (c *conn) Close() error { return hangUp(c.PgConn) }

// hangUp closes a connection, and waits a little for what an interrupted statement left to do.
func hangUp(pg *pgconn.PgConn) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := pg.Close(ctx)
	select {
	case <-pg.CleanupDone():
	case <-ctx.Done():
	}
	return err
}

// Begin is not called, since there is BeginTx.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins a transaction. Each statement of it sees what others committed before it (READ COMMITTED), unless o says otherwise.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	begin := "BEGIN"
	if o.Isolation != 0 {
		begin += " ISOLATION LEVEL " + sql.IsolationLevel(o.Isolation).String()
	}
	if o.ReadOnly {
		begin += " READ ONLY"
	}
	if _, err := c.ExecContext(ctx, begin, nil); err != nil {
		return nil, err
	}
	c.begun = true
	return &tx{ctx, c}, nil
}

type tx struct {
	ctx context.Context
	of  *conn
}

// Commit ends the transaction.
func (t *tx) Commit() error {
	ctx, cancel := t.of.limit(t.ctx)
	defer cancel()
	done, err := t.of.Exec(ctx, "COMMIT").ReadAll()
	if err != nil {
		return t.of.wrapError(ctx, err)
	}
	t.of.begun = false
	if len(done) == 0 || done[0].CommandTag.String() != "COMMIT" {
		return fmt.Errorf("store: PostgreSQL at %s rolled the transaction back: a statement of it failed; repeat it", t.of.of.at())
	}
	return nil
}

// Rollback undoes the transaction, also where its context is over.
func (t *tx) Rollback() error {
	if t.of.IsClosed() {
		return nil // what it did was undone with the connection
	}
	ctx, cancel := t.of.limit(context.WithoutCancel(t.ctx))
	defer cancel()
	if _, err := t.of.Exec(ctx, "ROLLBACK").ReadAll(); err != nil {
		_ = t.of.Close()
		return t.of.wrapError(ctx, err)
	}
	t.of.begun = false
	return nil
}
