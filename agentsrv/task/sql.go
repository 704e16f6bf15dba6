package task

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"maps"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
)

// sqlTable keeps tasks in a database. Of two ends of one task the first counts, because a statement changes only what is not over.
type sqlTable struct {
	db       *store.DB
	log      *slog.Logger
	replica  string   // set by open; "" before
	listener listener // set by open

	mu   sync.Mutex       // guards kept
	kept map[string]usage // by tenant: as things happen in SQLite, as of the last count in PostgreSQL
}

// SQL is a table in a database. One in PostgreSQL is shared.
func SQL(db *store.DB, log *slog.Logger) Table {
	return &sqlTable{db: db, log: log, kept: map[string]usage{}}
}

// tables take the place of one with a column for each thing; task_left is how many tasks that had. head is a header;
// what statements look at is beside it. Times are milliseconds since 1970.
const tables = `CREATE TABLE IF NOT EXISTS tasks (id TEXT);
	CREATE TABLE task_left AS SELECT count(*) AS n FROM tasks;
	DROP TABLE tasks;
	CREATE TABLE task_records (
		seq       INTEGER PRIMARY KEY AUTOINCREMENT,
		id        TEXT NOT NULL UNIQUE,
		principal TEXT NOT NULL,
		tenant    TEXT NOT NULL,
		session   TEXT NOT NULL,
		origin    TEXT NOT NULL, -- the replica that took the call
		updated   BIGINT NOT NULL,
		expires   BIGINT NOT NULL,
		state     TEXT NOT NULL,
		size      BIGINT NOT NULL DEFAULT 0,
		head      BLOB NOT NULL,
		result    BLOB,
		log       BLOB
	);
	CREATE INDEX task_records_expires ON task_records (expires);
	CREATE TABLE IF NOT EXISTS task_replicas (id TEXT PRIMARY KEY, seen BIGINT NOT NULL);
	CREATE TABLE IF NOT EXISTS task_answers (replica TEXT NOT NULL, id TEXT NOT NULL, answers BLOB NOT NULL);`

var postgresTables = strings.NewReplacer("INTEGER PRIMARY KEY AUTOINCREMENT", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "BLOB", "BYTEA").Replace(tables)

// unfinished is the condition for tasks that are not over.
const unfinished = `state IN ('pending', 'running', 'input_required')`

func (t *sqlTable) isShared() bool { return t.db.Dialect() == store.Postgres }
func (t *sqlTable) now() time.Time { return t.db.Now() }

func (t *sqlTable) close() {
	if t.isShared() && t.replica != "" {
		t.unregister()
	}
}

// open makes the tables. In a file that is this agent's alone, whatever is not over was interrupted by its end; in a shared database others may run it, and
// heartbeats find out.
func (t *sqlTable) open(ctx context.Context, replica string, l listener) error {
	ctx = store.Derived(ctx) // where there is no file yet, nothing was interrupted and nothing expired
	if err := t.db.Migrate(ctx, "task_records", store.Steps{SQLite: []string{tables}, Postgres: []string{postgresTables}}); err != nil {
		return err
	}
	var left int
	if t.db.QueryRowContext(ctx, `DELETE FROM task_left RETURNING n`).Scan(&left) == nil && left > 0 { // it is there once
		t.log.Warn("tasks of an older version were not taken over: their results are gone, call the tools again", "tasks", left)
	}
	t.replica, t.listener = replica, l
	if t.isShared() {
		return nil // others may run what is not over
	}
	if _, err := t.db.ExecContext(ctx, `DELETE FROM task_records WHERE expires <= ?`, t.now().UnixMilli()); err != nil {
		return err
	}
	open, _, err := t.records(ctx, unfinished)
	for _, r := range open {
		why := errInterrupted()
		r.State, r.Message, r.Error, r.Updated = failed, why.Message, why.RPC(r.Modern), t.now()
		if err == nil {
			_, _, err = t.settle(ctx, r)
		}
	}
	if err != nil {
		return err
	}
	kept, err := sumUsage(t.db.QueryContext(ctx, `SELECT tenant, 1, size, 0 FROM task_records`))
	t.mu.Lock()
	t.kept = kept
	t.mu.Unlock()
	return err
}

func (t *sqlTable) count(ctx context.Context) error {
	if !t.isShared() { // kept as things happen
		return nil
	}
	kept, err := sumUsage(t.db.QueryContext(ctx, `SELECT tenant, COUNT(*), CAST(SUM(size) AS BIGINT), SUM(CASE WHEN `+unfinished+` THEN 1 ELSE 0 END) FROM task_records GROUP BY tenant`))
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

// account adds to what a tenant has, between two counts.
func (t *sqlTable) account(tenant string, more usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	add(t.kept, tenant, more)
}

// sumUsage adds up rows of (tenant, number of tasks, bytes, number of unfinished tasks).
func sumUsage(rows *sql.Rows, err error) (map[string]usage, error) {
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
	gone, err := sumUsage(t.db.QueryContext(ctx, `DELETE FROM task_records WHERE expires <= ? RETURNING tenant, 1, size, 0`, t.now().UnixMilli()))
	for tenant, u := range gone {
		t.account(tenant, usage{tasks: -u.tasks, bytes: -u.bytes})
	}
	if err != nil {
		return first, err
	}
	var ms sql.NullInt64
	if err := t.db.QueryRowContext(ctx, `SELECT min(expires) FROM task_records`).Scan(&ms); err != nil {
		return first, err
	}
	if ms.Valid {
		first = time.UnixMilli(ms.Int64)
	}
	return first, nil
}

func (t *sqlTable) insert(ctx context.Context, r *record) error {
	head, err := encode(headerOf(r), nil)
	if err == nil {
		_, err = t.db.ExecContext(ctx, `INSERT INTO task_records (id, principal, tenant, session, origin, updated, expires, state, head) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, r.Owner.Principal, r.Owner.Tenant, r.Owner.Session, r.Origin, r.Updated.UnixMilli(), r.Expires.UnixMilli(), string(r.State), head)
	}
	if err == nil {
		t.account(r.Owner.Tenant, usage{tasks: 1, open: boolInt(t.isShared())})
	}
	return err
}

// boolInt is 1 for true, to be added or given to a statement.
func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// change sets columns of a task that is not over; errOver if it is.
func (t *sqlTable) change(ctx context.Context, r *record, head *header, set string, args ...any) error {
	raw, err := encode(head, nil)
	if err != nil {
		return err
	}
	res, err := t.db.ExecContext(ctx, `UPDATE task_records SET updated = ?, state = ?, head = ?, `+set+` WHERE id = ? AND `+unfinished,
		append(append([]any{r.Updated.UnixMilli(), string(r.State), raw}, args...), r.ID)...)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return cmp.Or(err, errOver)
	}
	return nil
}

func (t *sqlTable) update(ctx context.Context, r *record) error {
	return t.change(ctx, r, headerOf(r), `log = ?`, r.Log)
}

// settle keeps the log that there is where r has none: another replica may have written it.
func (t *sqlTable) settle(ctx context.Context, r *record) (*record, bool, error) {
	head := headerOf(r)
	head.Inputs = nil
	err := t.change(ctx, r, head, `result = ?, log = coalesce(?, log), size = ?`, []byte(r.Result), r.Log, r.size())
	if err == nil {
		t.account(r.Owner.Tenant, usage{bytes: r.size(), open: -boolInt(t.isShared())})
		return r, true, nil
	}
	if !errors.Is(err, errOver) {
		return nil, false, err
	}
	end, err := t.get(ctx, r.ID)
	return end, false, err
}

func (t *sqlTable) get(ctx context.Context, id string) (*record, error) {
	var head, result, log []byte
	err := t.db.QueryRowContext(ctx, `SELECT head, result, log FROM task_records WHERE id = ? AND expires > ?`, id, t.now().UnixMilli()).Scan(&head, &result, &log)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h, _, err := decode(head)
	if err != nil {
		return nil, err
	}
	r := h.record()
	r.Result, r.Log = result, log
	return r, nil
}

// records are those that a condition holds for, without what is big, and the place of the last.
func (t *sqlTable) records(ctx context.Context, where string, args ...any) (out []*record, last int64, err error) {
	rows, err := t.db.QueryContext(ctx, `SELECT seq, head FROM task_records WHERE `+where, args...)
	out, err = store.Collect(rows, err, func(rows *sql.Rows) (*record, error) {
		var head []byte
		if err := rows.Scan(&last, &head); err != nil {
			return nil, err
		}
		h, _, err := decode(head)
		if err != nil {
			return nil, err
		}
		return h.record(), nil
	})
	return out, last, err
}

func (t *sqlTable) list(ctx context.Context, o owner, before int64, n int) (out []*record, last int64, err error) {
	return t.records(ctx, `principal = ? AND tenant = ? AND (principal <> '' OR session = ?) AND expires > ? AND seq < ? ORDER BY seq DESC LIMIT ?`,
		o.Principal, o.Tenant, o.Session, t.now().UnixMilli(), cmp.Or(before, math.MaxInt64), n)
}

func (t *sqlTable) evict(ctx context.Context, tenant string, by time.Time) (bool, error) {
	var size int64
	err := t.db.QueryRowContext(ctx, `DELETE FROM task_records WHERE seq =
		(SELECT seq FROM task_records WHERE tenant = ? AND updated <= ? AND NOT (`+unfinished+`) ORDER BY updated, seq LIMIT 1) RETURNING size`, tenant, milliOrMax(by)).Scan(&size)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err == nil {
		t.account(tenant, usage{tasks: -1, bytes: -size})
	}
	return err == nil, err
}
