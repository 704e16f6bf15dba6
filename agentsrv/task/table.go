package task

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcphud/mcphud/session/store"
)

// table keeps tasks in the store; without one it keeps nothing.
type table struct{ db *store.DB }

// statementTimeout bounds one statement: a store that hangs must not hang its tasks.
const statementTimeout = 10 * time.Second

var steps = []string{
	`CREATE TABLE tasks (
		seq       INTEGER PRIMARY KEY AUTOINCREMENT,
		id        TEXT NOT NULL UNIQUE,
		tool      TEXT NOT NULL,
		principal TEXT NOT NULL,
		tenant    TEXT NOT NULL,
		session   TEXT NOT NULL,
		modern    INTEGER NOT NULL,
		created   INTEGER NOT NULL, -- this and the times below: milliseconds since 1970
		updated   INTEGER NOT NULL,
		expires   INTEGER NOT NULL,
		state     TEXT NOT NULL,
		message   TEXT NOT NULL,
		toolerror INTEGER NOT NULL,
		result    BLOB,
		error     BLOB,
		log       BLOB,
		size      INTEGER NOT NULL
	);
	CREATE INDEX tasks_expires ON tasks (expires);`,
}

// open brings the table up to date after a start: what each tenant has, and when the first task expires.
func (t table) open(ctx context.Context, now time.Time) (used map[string]usage, first time.Time, err error) {
	if t.db == nil {
		return nil, first, nil
	}
	ctx = store.Derived(ctx) // where there is no file yet, nothing was interrupted and nothing expired
	if err := t.db.Migrate(ctx, "tasks", steps...); err != nil {
		return nil, first, err
	}
	for _, modern := range []bool{false, true} {
		why := interrupted()
		raw, err := json.Marshal(why.RPC(modern))
		if err != nil {
			return nil, first, err
		}
		if _, err := t.db.ExecContext(ctx, `UPDATE tasks SET state = ?, message = ?, error = ?, updated = ?, size = size + ?
			WHERE state IN (?, ?, ?) AND modern = ?`, failed, why.Message, raw, now.UnixMilli(), len(raw), pending, running, asking, modern); err != nil {
			return nil, first, err
		}
	}
	if _, err := t.db.ExecContext(ctx, `DELETE FROM tasks WHERE expires <= ?`, now.UnixMilli()); err != nil {
		return nil, first, err
	}
	var ms sql.NullInt64
	if err := t.db.QueryRowContext(ctx, `SELECT min(expires) FROM tasks`).Scan(&ms); err != nil {
		return nil, first, err
	}
	rows, err := t.db.QueryContext(ctx, `SELECT tenant, size FROM tasks`)
	if err != nil {
		return nil, first, err
	}
	used, err = usages(rows)
	return used, time.UnixMilli(ms.Int64), err
}

// usages adds up rows of tenants and sizes, and closes them.
func usages(rows *sql.Rows) (map[string]usage, error) {
	defer rows.Close()
	used := map[string]usage{}
	for rows.Next() {
		var tenant string
		var size int64
		if err := rows.Scan(&tenant, &size); err != nil {
			return used, err
		}
		used[tenant] = usage{used[tenant].tasks + 1, used[tenant].bytes + size}
	}
	return used, errors.Join(rows.Err(), rows.Close())
}

// expire removes tasks: what they used by tenant, and when the next one expires.
func (t table) expire(now time.Time) (gone map[string]usage, first time.Time, err error) {
	if t.db == nil {
		return nil, first, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	rows, err := t.db.QueryContext(ctx, `DELETE FROM tasks WHERE expires <= ? RETURNING tenant, size`, now.UnixMilli())
	if err != nil {
		return nil, first, err
	}
	if gone, err = usages(rows); err != nil {
		return gone, first, err
	}
	var ms sql.NullInt64
	if err := t.db.QueryRowContext(ctx, `SELECT min(expires) FROM tasks`).Scan(&ms); err != nil {
		return gone, first, err
	}
	if ms.Valid {
		first = time.UnixMilli(ms.Int64)
	}
	return gone, first, nil
}

// insert keeps a new task.
func (t table) insert(r *record, modern bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	_, err := t.db.ExecContext(ctx, `INSERT INTO tasks (id, tool, principal, tenant, session, modern, created, updated, expires, state, message, toolerror, size)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, 0)`,
		r.ID, r.Tool, r.Owner.Principal, r.Owner.Tenant, r.Owner.Session, modern, r.Created.UnixMilli(), r.Updated.UnixMilli(), r.Expires.UnixMilli(), r.State)
	return err
}

// settle keeps how a task ended; false if it is not there any more.
func (t table) settle(r *record, size int64) (bool, error) {
	var problem []byte
	if r.Error != nil {
		var err error
		if problem, err = json.Marshal(r.Error); err != nil {
			return false, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	res, err := t.db.ExecContext(ctx, `UPDATE tasks SET updated = ?, state = ?, message = ?, toolerror = ?, result = ?, error = ?, log = ?, size = ? WHERE id = ?`,
		r.Updated.UnixMilli(), r.State, r.Message, r.ToolError, []byte(r.Result), problem, r.Log, size, r.ID)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// log keeps the log of a task that still runs, in case it is interrupted.
func (t table) log(id string, log []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
	defer cancel()
	_, err := t.db.ExecContext(ctx, `UPDATE tasks SET log = ? WHERE id = ?`, log, id)
	return err
}

const columns = `seq, id, tool, principal, tenant, session, created, updated, expires, state, message, toolerror`

// get finds a task that did not expire; nil if there is none.
func (t table) get(ctx context.Context, id string, now time.Time) (*record, error) {
	if t.db == nil {
		return nil, nil
	}
	var problem []byte
	var result, log []byte
	row := t.db.QueryRowContext(ctx, `SELECT `+columns+`, result, error, log FROM tasks WHERE id = ? AND expires > ?`, id, now.UnixMilli())
	r, _, err := scan(row, &result, &problem, &log)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r.Result, r.Log = result, log
	if problem != nil {
		if err := json.Unmarshal(problem, &r.Error); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// list is at most n tasks of an owner (without authentication: of its session) with a seq below before, the newest first, without what is big; 0 is no bound. It
// also returns the seq of the last one.
func (t table) list(ctx context.Context, o owner, before int64, n int, now time.Time) (out []*record, last int64, err error) {
	if t.db == nil {
		return nil, 0, nil
	}
	rows, err := t.db.QueryContext(ctx, `SELECT `+columns+` FROM tasks
		WHERE principal = ? AND tenant = ? AND (principal <> '' OR session = ?) AND expires > ? AND (? = 0 OR seq < ?) ORDER BY seq DESC LIMIT ?`,
		o.Principal, o.Tenant, o.Session, now.UnixMilli(), before, before, n)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		r, seq, err := scan(rows)
		if err != nil {
			return nil, 0, err
		}
		out, last = append(out, r), seq
	}
	return out, last, rows.Err()
}

func scan(row interface{ Scan(...any) error }, more ...any) (*record, int64, error) {
	var r record
	var seq, created, updated, expires int64
	err := row.Scan(append([]any{&seq, &r.ID, &r.Tool, &r.Owner.Principal, &r.Owner.Tenant, &r.Owner.Session, &created, &updated, &expires, &r.State, &r.Message, &r.ToolError}, more...)...)
	r.Created, r.Updated, r.Expires = time.UnixMilli(created), time.UnixMilli(updated), time.UnixMilli(expires)
	return &r, seq, err
}
