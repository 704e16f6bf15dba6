package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// How often Watch looks without having been notified, where it is connected and where it is not.
const (
	pollTime  = 10 * time.Second
	retryTime = time.Second
)

// Notify tells those who Watch this name, in all processes that share the database, once tx is committed.
func (db *DB) Notify(ctx context.Context, tx *sql.Tx, name string) error {
	if db.server == nil {
		return nil
	}
	_, err := tx.ExecContext(ctx, `SELECT pg_notify(?, '')`, db.server.channel(name))
	return err
}

// channel is what PostgreSQL calls a name, which another schema has for itself.
func (s *server) channel(name string) string { return fmt.Sprintf("mcphud_%x", uint64(s.lock(name))) }

// Watch calls look whenever somebody notified this name, and every ten seconds besides, since a notification may be lost with its
// connection, or in a pooler. It has a connection of its own, which it opens again when it breaks. It returns when ctx is done; at once
// for SQLite, which nobody shares.
func (db *DB) Watch(ctx context.Context, name string, look func(context.Context)) {
	if db.server == nil {
		return
	}
	for ctx.Err() == nil {
		pg, err := db.server.listen(ctx, name)
		look(ctx)
		for err == nil && ctx.Err() == nil {
			err = db.server.waitNotification(ctx, pg)
			look(ctx)
		}
		if pg != nil {
			_ = hangUp(pg) // it broke, or nobody needs it
		}
		select {
		case <-ctx.Done():
		case <-time.After(retryTime):
		}
	}
}

// listen opens a connection that hears of a name.
func (s *server) listen(ctx context.Context, name string) (*pgconn.PgConn, error) {
	pg, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := pg.Exec(ctx, "LISTEN "+s.channel(name)).ReadAll(); err != nil {
		return pg, err
	}
	return pg, nil
}

// waitNotification waits for a notification, or until it is time to look; an error is a connection that broke.
func (s *server) waitNotification(ctx context.Context, pg *pgconn.PgConn) error {
	wait, cancel := context.WithTimeout(ctx, pollTime)
	defer cancel()
	if err := pg.WaitForNotification(wait); err == nil || wait.Err() == nil || ctx.Err() != nil {
		return err
	}
	ping, cancel := context.WithTimeout(ctx, slack)
	defer cancel()
	return pg.Ping(ping) // nobody would tell of a network that is gone
}
