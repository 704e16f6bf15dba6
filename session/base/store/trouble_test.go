package store

import (
	"context"
	"database/sql"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// says fails unless err is explained with all of some words, and is one that may pass or not.
func says(t *testing.T, err error, down bool, words ...string) {
	t.Helper()
	for _, w := range words {
		assert.ErrorContains(t, err, w)
	}
	if !Explains(err) || Down(err) != down {
		t.Errorf("%v: explained %v, down %v", err, Explains(err), Down(err))
	}
}

func TestBackendServerGoneAndBack(t *testing.T) {
	s := pgtest.Private(t)
	db := open(t, s.URL("postgres"))
	ctx, stop := context.WithCancel(t.Context())
	looked := make(chan bool, 1000)
	var watching sync.WaitGroup
	watching.Go(func() { db.Watch(ctx, "x", func(context.Context) { looked <- true }) })
	defer func() { stop(); watching.Wait() }()
	require.NoError(t, db.Migrate(ctx, "t", Steps{Postgres: []string{`CREATE TABLE t (x INTEGER)`}}))
	tx, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	require.NoError(t, s.Stop())
	_, err = tx.Exec(`INSERT INTO t VALUES (1)`)
	says(t, err, true, "lost the connection to PostgreSQL at ", "when it is back")
	_ = tx.Rollback()
	_, err = db.ExecContext(ctx, `INSERT INTO t VALUES (1)`)
	says(t, err, true, "cannot reach PostgreSQL at ", "check that it runs")
	if _, err := Open(s.URL("postgres")); err == nil {
		t.Error("opened")
	} else {
		says(t, err, true, "cannot reach PostgreSQL at ")
	}
	require.NoError(t, s.Start())
	if _, err := db.ExecContext(ctx, `INSERT INTO t VALUES (1)`); err != nil {
		t.Errorf("after it was back: %v", err)
	}
	for len(looked) > 0 {
		<-looked
	}
	for told := false; !told; { // whoever watches connects again within a second or so
		require.NoError(t, db.Exclusive(ctx, "x", func(tx *sql.Tx) error { return db.Notify(ctx, tx, "x") }))
		select {
		case told = <-looked:
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// What PostgreSQL reports says what to do. Codes that no test can bring about easily are raised.
func TestBackendErrorsAreExplained(t *testing.T) {
	address := pgtest.Run(t)
	db := open(t, address)
	for code, words := range map[string][]string{
		"53100": {"disk of PostgreSQL", "is full", "nothing was saved"},
		"53200": {"out of memory"},
		"57P01": {"lost the connection"},
		"57P03": {"starts, stops or recovers"},
		"40P01": {"another process was faster"},
	} {
		_, err := db.ExecContext(t.Context(), `DO $$ BEGIN RAISE EXCEPTION 'it said' USING ERRCODE = '`+code+`'; END $$`)
		says(t, err, strings.HasPrefix(code, "57"), append(words, "it said")...)
		if Busy(err) != (code == "40P01") {
			t.Errorf("%v: busy %v", err, Busy(err))
		}
	}
	slow := open(t, address+"&statement_timeout=50ms")
	_, err := slow.ExecContext(t.Context(), `SELECT pg_sleep(60)`)
	says(t, err, false, "ended a statement after statement_timeout=50ms")
	_, err = Open(strings.Replace(address, "/test", "/nowhere", 1))
	says(t, err, false, "has no database nowhere")
	_, err = Open(pgtest.As(address, "stranger"))
	says(t, err, false, "refuses user stranger", "PGPASSWORD")

	pgtest.Exec(t, address, `CREATE ROLE poor LOGIN CONNECTION LIMIT 3`)
	t.Cleanup(func() { pgtest.Exec(t, address, `SET default_transaction_read_only = off`, `DROP ROLE poor`) })
	poor := open(t, pgtest.As(address, "poor"))
	err = poor.Migrate(t.Context(), "t", Steps{Postgres: []string{`CREATE TABLE t (x INTEGER)`}})
	says(t, err, false, "user poor lacks rights on database test", "schema mcphud")
	var held []*sql.Conn
	for err = nil; err == nil && len(held) < 9; {
		var c *sql.Conn
		if c, err = poor.Conn(t.Context()); err == nil {
			held = append(held, c)
		}
	}
	says(t, err, true, "has no connection left", "lower pool_max_conns")
	for _, c := range held {
		_ = c.Close()
	}
	if _, err := db.ExecContext(t.Context(), `ALTER DATABASE `+db.server.config.Database+` SET default_transaction_read_only = on`); err != nil {
		t.Fatal(err)
	}
	readOnly := open(t, address)
	err = readOnly.Migrate(t.Context(), "t", Steps{Postgres: []string{`CREATE TABLE t (x INTEGER)`}})
	says(t, err, false, "takes no writes", "target_session_attrs=read-write")
}

// Rights that are taken away while a process runs are named by the statement that needs them, which changes nothing. They work again
// when they are back.
func TestBackendRightsTakenAway(t *testing.T) {
	address := pgtest.Run(t)
	admin := open(t, address)
	role := "ada_" + admin.server.config.Database
	pgtest.Exec(t, address, `CREATE ROLE `+role+` LOGIN`, `GRANT CREATE ON DATABASE `+admin.server.config.Database+` TO `+role)
	t.Cleanup(func() { pgtest.Exec(t, address, `DROP OWNED BY `+role+` CASCADE`, `DROP ROLE `+role) })
	db := open(t, pgtest.As(address, role))
	require.NoError(t, db.Migrate(t.Context(), "t", Steps{Postgres: []string{`CREATE TABLE t (x INTEGER)`}}))
	rows := func() (n int) {
		t.Helper()
		require.NoError(t, admin.QueryRowContext(t.Context(), `SELECT count(*) FROM mcphud.t`).Scan(&n))
		return n
	}
	write := func() error {
		return db.Exclusive(t.Context(), "t", func(tx *sql.Tx) error {
			if _, err := tx.ExecContext(t.Context(), `INSERT INTO t VALUES (1)`); err != nil {
				return err
			}
			_, err := tx.ExecContext(t.Context(), `UPDATE t SET x = 2`)
			return err
		})
	}
	if err := write(); err != nil || rows() != 1 {
		t.Fatal(err)
	}
	for taken, back := range map[string]string{
		`REVOKE INSERT ON mcphud.t FROM ` + role: `GRANT INSERT ON mcphud.t TO ` + role,
		`REVOKE UPDATE ON mcphud.t FROM ` + role: `GRANT UPDATE ON mcphud.t TO ` + role,
	} {
		before := rows()
		pgtest.Exec(t, address, taken)
		says(t, write(), false, "user "+role+" lacks rights on database ", "grant what it lacks", "permission denied for table t")
		if n := rows(); n != before {
			t.Errorf("%s: %d rows of %d", taken, n, before)
		}
		pgtest.Exec(t, address, back)
		if err := write(); err != nil {
			t.Errorf("%s: %v", back, err)
		}
	}
	pgtest.Exec(t, address, `ALTER ROLE `+role+` NOLOGIN`, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '`+role+`'`)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) { // what was open ends in a moment
		err := write()
		if Explains(err) && !Down(err) {
			says(t, err, false, "refuses user "+role, "is not permitted to log in")
			break
		}
		if time.Now().After(end) {
			t.Fatalf("still: %v", err)
		}
	}
	pgtest.Exec(t, address, `ALTER ROLE `+role+` LOGIN`)
	if err := write(); err != nil {
		t.Errorf("once it may log in again: %v", err)
	}
}

func TestBackendConnectionsExhausted(t *testing.T) {
	db := open(t, pgtest.Run(t)+"&pool_max_conns=2")
	var held []*sql.Tx
	for range 2 {
		tx, err := db.BeginTx(t.Context(), nil)
		require.NoError(t, err)
		held = append(held, tx)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := db.ExecContext(ctx, `SELECT 1`)
	says(t, err, true, "all 2 connections", "raise pool_max_conns")
	for _, tx := range held {
		_ = tx.Rollback()
	}
	if _, err := db.ExecContext(t.Context(), `SELECT 1`); err != nil {
		t.Error(err)
	}
}

// A network that carries nothing any more is noticed, though nobody tells.
func TestBackendSilence(t *testing.T) {
	address := pgtest.Run(t)
	u, err := url.Parse(address)
	require.NoError(t, err)
	dir := t.TempDir()
	ln, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	require.NoError(t, err)
	var silent sync.RWMutex
	var carriers sync.WaitGroup
	carriers.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("unix", filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432"))
			if err != nil {
				t.Error(err)
				return
			}
			for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
				carriers.Go(func() {
					b := make([]byte, 4096)
					for {
						n, err := way[0].Read(b)
						silent.RLock()
						_, failed := way[1].Write(b[:n])
						silent.RUnlock()
						if err != nil || failed != nil {
							_ = way[1].Close()
							return
						}
					}
				})
			}
		}
	})
	db, err := Open("postgres://postgres@" + u.Path + "?host=" + url.QueryEscape(dir))
	require.NoError(t, err)
	ctx := withPatience(t.Context(), 100*time.Millisecond)
	silent.Lock()
	_, err = db.ExecContext(ctx, `SELECT 1`)
	says(t, err, true, "does not answer", "check its load and the network")
	silent.Unlock()
	if _, err := db.ExecContext(t.Context(), `SELECT 1`); err != nil {
		t.Errorf("once it answers again: %v", err)
	}
	_ = db.Close()
	_ = ln.Close()
	carriers.Wait()
}
