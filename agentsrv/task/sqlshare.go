package task

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
)

// unregister removes the replica from those that are alive, so that its tasks are settled at once.
func (t *sqlTable) unregister() {
	ctx, cancel := statement()
	defer cancel()
	_, _ = t.db.ExecContext(ctx, `DELETE FROM task_replicas WHERE id = ?`, t.replica) // or the others notice by themselves
}

// heartbeat forgets replicas that are gone, and answers for them, which nobody will fetch.
func (t *sqlTable) heartbeat(ctx context.Context, gone time.Duration) (open []*record, err error) {
	now := t.now()
	if _, err := t.db.ExecContext(ctx, `INSERT INTO task_replicas (id, seen) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`,
		t.replica, now.UnixMilli()); err != nil {
		return nil, err
	}
	all, since := gone > 0, now.Add(-gone).UnixMilli()
	open, _, err = t.records(ctx, unfinished+` AND (origin = ? OR ? = 1 AND NOT EXISTS (SELECT 1 FROM task_replicas WHERE task_replicas.id = task_records.origin AND seen >= ?))`,
		t.replica, boolInt(all), since)
	if err != nil {
		return nil, err
	}
	if all {
		for _, table := range []string{`DELETE FROM task_replicas WHERE seen < ?`, `DELETE FROM task_answers WHERE NOT EXISTS (SELECT 1 FROM task_replicas WHERE task_replicas.id = replica AND seen >= ?)`} {
			if _, err := t.db.ExecContext(ctx, table, since); err != nil {
				return nil, err
			}
		}
	}
	return open, t.fetchAnswers(ctx)
}

// fetchAnswers brings the answers that other replicas got for tasks of this one.
func (t *sqlTable) fetchAnswers(ctx context.Context) error {
	rows, err := t.db.QueryContext(ctx, `DELETE FROM task_answers WHERE replica = ? RETURNING id, answers`, t.replica)
	_, err = store.Collect(rows, err, func(rows *sql.Rows) (answers map[string]json.RawMessage, err error) {
		var id string
		var raw []byte
		if err = rows.Scan(&id, &raw); err == nil {
			err = json.Unmarshal(raw, &answers)
		}
		if err == nil {
			t.listener.handleAnswers(id, answers)
		}
		return answers, err
	})
	return err
}

func (t *sqlTable) answer(ctx context.Context, r *record, answers map[string]json.RawMessage) error {
	raw, err := json.Marshal(answers)
	if err != nil {
		return err
	}
	_, err = t.db.ExecContext(ctx, `INSERT INTO task_answers (replica, id, answers) VALUES (?, ?, ?)`, r.Origin, r.ID, raw)
	return err
}

// wait asks again and again, less often with time: a database tells nobody that something changed.
func (t *sqlTable) wait(ctx context.Context, id string) (*record, error) {
	for again := 50 * time.Millisecond; ; again = min(again*3/2, time.Second) {
		r, err := t.get(ctx, id)
		if err != nil || r == nil || r.State.isTerminal() {
			return r, err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
