package agentsrv

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

// stateKey is what seals the state that a client brings back (requestState of 2026-07-28), perhaps to another agent: those of one name that share a queue or a
// PostgreSQL database have the same, which the first of them made. Any other agent makes its own at each start, so that a state does not outlive it. 32 bytes.
func (a *Agent) stateKey(ctx context.Context) ([]byte, error) {
	if a.conn != nil {
		keys, err := a.conn.Agree(ctx, "mcphud_keys_"+natsconn.Name(a.o.Name), "state")
		if err != nil {
			return nil, err
		}
		return keys[0], nil
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails, says its documentation
	if a.db.Dialect() != store.Postgres {
		return key, nil
	}
	if err := a.db.Migrate(ctx, "state_keys", store.Steps{Postgres: []string{`CREATE TABLE state_keys (name TEXT COLLATE "C" PRIMARY KEY, key BYTEA NOT NULL)`}}); err != nil {
		return nil, err
	}
	_, err := a.db.ExecContext(ctx, `INSERT INTO state_keys (name, key) VALUES (?, ?) ON CONFLICT DO NOTHING`, a.o.Name, key)
	if err == nil {
		err = a.db.QueryRowContext(ctx, `SELECT key FROM state_keys WHERE name = ?`, a.o.Name).Scan(&key)
	}
	if err != nil {
		return nil, fmt.Errorf("agree on the key for states: %w", err)
	}
	return key, nil
}
