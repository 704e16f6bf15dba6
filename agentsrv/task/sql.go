package task

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
)

// sqlTable keeps tasks in a database.
type sqlTable struct {
	db       *store.DB
	replica  string
	listener listener

	mu   sync.Mutex
	kept map[string]usage
}

// SQL is a table in a database. One in PostgreSQL is shared.
func SQL(db *store.DB) Table { return &sqlTable{db: db, kept: map[string]usage{}} }

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
	`ALTER TABLE tasks ADD COLUMN origin TEXT NOT NULL DEFAULT '';
	ALTER TABLE tasks ADD COLUMN inputs BLOB;`,
}

var postgresSteps = []string{
	`CREATE TABLE tasks (
		seq       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
		id        TEXT NOT NULL UNIQUE,
		tool      TEXT NOT NULL,
		principal TEXT NOT NULL,
		tenant    TEXT NOT NULL,
		session   TEXT NOT NULL,
		modern    INTEGER NOT NULL,
		created   BIGINT NOT NULL, -- this and the times below: milliseconds since 1970
		updated   BIGINT NOT NULL,
		expires   BIGINT NOT NULL,
		state     TEXT NOT NULL,
		message   TEXT NOT NULL,
		toolerror INTEGER NOT NULL,
		result    BYTEA,
		error     BYTEA,
		log       BYTEA,
		size      BIGINT NOT NULL,
		origin    TEXT NOT NULL, -- the replica that took the call
		inputs    BYTEA
	);
	CREATE INDEX tasks_expires ON tasks (expires);
	CREATE TABLE task_replicas (id TEXT PRIMARY KEY, seen BIGINT NOT NULL);
	CREATE TABLE task_answers (replica TEXT NOT NULL, id TEXT NOT NULL, answers BYTEA NOT NULL);`,
}

// unfinished is the condition for tasks that are not over.
const unfinished = `state IN ('pending', 'running', 'input_required')`

func (t *sqlTable) isShared() bool { return t.db.Dialect() == store.Postgres }
func (t *sqlTable) now() time.Time { return t.db.Now() }

func (t *sqlTable) close() {
	if t.isShared() && t.replica != "" {
		t.leave()
	}
}

func (t *sqlTable) open(ctx context.Context, replica string, l listener) error {
	ctx = store.Derived(ctx) // where there is no file yet, nothing was interrupted and nothing expired
	if err := t.db.Migrate(ctx, "tasks", store.Steps{SQLite: steps, Postgres: postgresSteps}); err != nil {
		return err
	}
	t.replica, t.listener = replica, l
	if t.isShared() {
		return nil // others may run what is not over
	}
	now := t.now().UnixMilli()
	for _, modern := range []int{0, 1} {
		why := errInterrupted()
		raw, err := json.Marshal(why.RPC(modern == 1))
		if err != nil {
			return err
		}
		if _, err := t.db.ExecContext(ctx, `UPDATE tasks SET state = ?, message = ?, error = ?, updated = ?, size = size + ? WHERE modern = ? AND `+unfinished,
			string(failed), why.Message, raw, now, len(raw), modern); err != nil {
			return err
		}
	}
	if _, err := t.db.ExecContext(ctx, `DELETE FROM tasks WHERE expires <= ?`, now); err != nil {
		return err
	}
	kept, err := usages(t.db.QueryContext(ctx, `SELECT tenant, 1, size, 0 FROM tasks`))
	t.mu.Lock()
	t.kept = kept
	t.mu.Unlock()
	return err
}

func (t *sqlTable) count(ctx context.Context) error {
	if !t.isShared() { // kept as things happen
		return nil
	}
	kept, err := usages(t.db.QueryContext(ctx, `SELECT tenant, COUNT(*), CAST(SUM(size) AS BIGINT), SUM(CASE WHEN `+unfinished+` THEN 1 ELSE 0 END) FROM tasks GROUP BY tenant`))
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		t.kept = kept
	}
	return err
}

func (t *sqlTable) usageByTenant() map[string]usage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.kept)
}

func (t *sqlTable) account(tenant string, more usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	add(t.kept, tenant, more)
}

// usages adds up rows of tenants, numbers of tasks, sizes, and numbers of unfinished ones.
func usages(rows *sql.Rows, err error) (map[string]usage, error) {
	used := map[string]usage{}
	_, err = store.Collect(rows, err, func(rows *sql.Rows) (u usage, err error) {
		var tenant string
		if err = rows.Scan(&tenant, &u.tasks, &u.bytes, &u.open); err == nil {
			add(used, tenant, u)
		}
		return u, err
	})
	return used, err
}

func (t *sqlTable) expire(ctx context.Context) (first time.Time, err error) {
	gone, err := usages(t.db.QueryContext(ctx, `DELETE FROM tasks WHERE expires <= ? RETURNING tenant, 1, size, 0`, t.now().UnixMilli()))
	for tenant, u := range gone {
		t.account(tenant, usage{tasks: -u.tasks, bytes: -u.bytes})
	}
	if err != nil {
		return first, err
	}
	var ms sql.NullInt64
	if err := t.db.QueryRowContext(ctx, `SELECT min(expires) FROM tasks`).Scan(&ms); err != nil {
		return first, err
	}
	if ms.Valid {
		first = time.UnixMilli(ms.Int64)
	}
	return first, nil
}

func (t *sqlTable) insert(ctx context.Context, r *record) (bool, error) {
	inputs, err := r.inputs()
	if err != nil {
		return false, err
	}
	_, err = t.db.ExecContext(ctx, `INSERT INTO tasks (id, tool, principal, tenant, session, modern, created, updated, expires, state, message, inputs, toolerror, size, origin)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)`,
		r.ID, legible(r.Tool), r.Owner.Principal, r.Owner.Tenant, r.Owner.Session, number(r.Modern), r.Created.UnixMilli(), r.Updated.UnixMilli(), r.Expires.UnixMilli(), string(r.State), legible(r.Message), inputs, r.Origin)
	if err == nil {
		t.account(r.Owner.Tenant, usage{tasks: 1, open: number(t.isShared())})
	}
	return err == nil, err
}

func number(b bool) int {
	if b {
		return 1
	}
	return 0
}

// legible is what a column of text can hold.
func legible(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

func (t *sqlTable) update(ctx context.Context, r *record) error {
	inputs, err := r.inputs()
	if err != nil {
		return err
	}
	res, err := t.db.ExecContext(ctx, `UPDATE tasks SET updated = ?, state = ?, message = ?, inputs = ?, log = ? WHERE id = ? AND `+unfinished,
		r.Updated.UnixMilli(), string(r.State), legible(r.Message), inputs, r.Log, r.ID)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err == nil && n == 0 {
		return errOver
	}
	return nil
}

func (t *sqlTable) settle(ctx context.Context, r *record) (*record, bool, error) {
	var problem []byte
	if r.Error != nil {
		var err error
		if problem, err = json.Marshal(r.Error); err != nil {
			return nil, false, err
		}
	}
	res, err := t.db.ExecContext(ctx, `UPDATE tasks SET updated = ?, state = ?, message = ?, toolerror = ?, result = ?, error = ?, log = coalesce(?, log), size = ?, inputs = NULL WHERE id = ? AND `+unfinished,
		r.Updated.UnixMilli(), string(r.State), legible(r.Message), number(r.ToolError), []byte(r.Result), problem, r.Log, r.size(), r.ID)
	if err != nil {
		return nil, false, err
	}
	switch n, err := res.RowsAffected(); {
	case err != nil:
		return nil, false, err
	case n > 0:
		t.account(r.Owner.Tenant, usage{bytes: r.size(), open: -number(t.isShared())})
		return r, true, nil
	}
	end, err := t.get(ctx, r.ID)
	return end, false, err
}

const columns = `seq, id, tool, principal, tenant, session, modern, created, updated, expires, state, message, toolerror, origin, inputs`

func (t *sqlTable) get(ctx context.Context, id string) (*record, error) {
	var problem, result, log []byte
	row := t.db.QueryRowContext(ctx, `SELECT `+columns+`, result, error, log FROM tasks WHERE id = ? AND expires > ?`, id, t.now().UnixMilli())
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

func (t *sqlTable) list(ctx context.Context, o owner, before int64, n int) (out []*record, last int64, err error) {
	rows, err := t.db.QueryContext(ctx, `SELECT `+columns+` FROM tasks
		WHERE principal = ? AND tenant = ? AND (principal <> '' OR session = ?) AND expires > ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
		o.Principal, o.Tenant, o.Session, t.now().UnixMilli(), cmp.Or(before, math.MaxInt64), n)
	out, err = store.Collect(rows, err, func(rows *sql.Rows) (r *record, err error) {
		r, last, err = scan(rows)
		return r, err
	})
	return out, last, err
}

func scan(row interface{ Scan(...any) error }, more ...any) (*record, int64, error) {
	var r record
	var seq, created, updated, expires int64
	var inputs []byte
	err := row.Scan(append([]any{&seq, &r.ID, &r.Tool, &r.Owner.Principal, &r.Owner.Tenant, &r.Owner.Session, &r.Modern, &created, &updated, &expires, &r.State, &r.Message, &r.ToolError, &r.Origin, &inputs}, more...)...)
	if err == nil && inputs != nil {
		err = json.Unmarshal(inputs, &r.Inputs)
	}
	r.Created, r.Updated, r.Expires = time.UnixMilli(created), time.UnixMilli(updated), time.UnixMilli(expires)
	return &r, seq, err
}

func (t *sqlTable) evict(ctx context.Context, tenant string, by time.Time) (bool, error) {
	var size int64
	err := t.db.QueryRowContext(ctx, `DELETE FROM tasks WHERE seq =
		(SELECT seq FROM tasks WHERE tenant = ? AND updated <= ? AND NOT (`+unfinished+`) ORDER BY updated, seq LIMIT 1) RETURNING size`, tenant, latest(by)).Scan(&size)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		t.account(tenant, usage{tasks: -1, bytes: -size})
	}
	return err == nil, err
}
