package kb

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
)

const (
	leaseTime  = 30 * time.Second       // after which what a process that is gone did not finish is another one's
	leaseRenew = 10 * time.Second       // how often it is renewed
	leaseTry   = 200 * time.Millisecond // how often somebody who waits looks
)

var leaseSchema = store.Steps{
	SQLite:   []string{`SELECT 1`},
	Postgres: []string{`CREATE TABLE kb_lease (name TEXT PRIMARY KEY, holder TEXT NOT NULL, until TIMESTAMPTZ NOT NULL)`},
}

// lease waits until no other process that shares the database does what name says, and keeps them from it until release. waiting is
// called if there is one. A lock of PostgreSQL would take a connection for as long, of which all bases of all processes have a
// few. SQLite is not shared.
func lease(ctx context.Context, db *store.DB, name string, waiting func()) (release func(), err error) {
	if db.Dialect() != store.Postgres {
		return func() {}, nil
	}
	if err := db.Migrate(ctx, "kb_lease", leaseSchema); err != nil {
		return nil, err
	}
	holder := rand.Text()
	take := func() (bool, error) {
		r, err := db.ExecContext(ctx, `INSERT INTO kb_lease AS l (name, holder, until) VALUES (?, ?, now() + make_interval(secs => ?))
			ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until WHERE l.holder = excluded.holder OR l.until < now()`,
			name, holder, leaseTime.Seconds())
		if err != nil {
			return false, err
		}
		n, err := r.RowsAffected()
		return n == 1, err
	}
	for first := true; ; first = false {
		mine, err := take()
		if err != nil {
			return nil, fmt.Errorf("wait for another process: %w", err)
		}
		if mine {
			break
		}
		if first {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for another process: %w", ctx.Err())
		case <-time.After(leaseTry):
		}
	}
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-over:
				return
			case <-time.After(leaseRenew):
				_, _ = take() // if it is lost two do the same, which is only more work
			}
		}
	}()
	return func() {
		close(over)
		<-ended
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseRenew)
		defer cancel()
		_, _ = db.ExecContext(last, `DELETE FROM kb_lease WHERE name = ? AND holder = ?`, name, holder) // or it runs out
	}, nil
}
