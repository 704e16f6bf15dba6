package store_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/store"
	"github.com/mcphud/mcphud/session/test/pgtest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func postgres(t *testing.T, url string) *store.DB {
	t.Helper()
	db, err := store.Open(url)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

func TestBackendBothSpeakTheSame(t *testing.T) {
	url := pgtest.Run(t)
	for _, path := range []string{"", url} {
		db := postgres(t, path)
		require.NoError(t, db.Migrate(t.Context(), "t", store.Steps{
			SQLite:   []string{`CREATE TABLE t (x INTEGER, y TEXT)`},
			Postgres: []string{`CREATE TABLE t (x BIGINT, y TEXT); CREATE INDEX t_y ON t (y)`},
		}))
		if want := store.Dialect(min(1, len(path))); db.Dialect() != want {
			t.Errorf("dialect %v of %q", db.Dialect(), path)
		}
		require.NoError(t, db.Exclusive(t.Context(), "t", func(tx *sql.Tx) error {
			put, err := tx.PrepareContext(t.Context(), `INSERT INTO t VALUES (?, ?)`)
			if err != nil {
				return err
			}
			defer put.Close()
			for i := range 3 {
				if _, err := put.ExecContext(t.Context(), i, "what?"); err != nil {
					return err
				}
			}
			return nil
		}))
		failed := errors.New("no")
		if err := db.Exclusive(t.Context(), "t", func(tx *sql.Tx) error {
			_, err := tx.ExecContext(t.Context(), `DELETE FROM t`)
			return errors.Join(err, failed)
		}); !errors.Is(err, failed) {
			t.Error(err)
		}
		var n int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM t WHERE y = 'what?' AND x >= ?2 AND x > @low AND y = ?1`,
			"what?", 1, sql.Named("low", 1)).Scan(&n); err != nil || n != 1 {
			t.Error(path, n, err)
		}
		if skew := time.Until(db.Now()).Abs(); skew > 5*time.Second {
			t.Errorf("%s: now is %v off", path, skew)
		}
	}
}

// Replicas that start together on an empty database do not collide, and none runs a step twice.
func TestBackendMigrationsTakeTurns(t *testing.T) {
	url := pgtest.Run(t)
	steps := store.Steps{Postgres: []string{`CREATE TABLE t (x INTEGER)`, `INSERT INTO t VALUES (1)`, `ALTER TABLE t ADD COLUMN y INTEGER`}}
	var all sync.WaitGroup
	for i := range 6 {
		db := postgres(t, url)
		all.Go(func() {
			own := fmt.Sprint("own", i)
			assert.NoError(t, db.Migrate(t.Context(), own, store.Steps{Postgres: []string{`CREATE TABLE ` + own + ` (x INTEGER)`}}))
			assert.NoError(t, db.Migrate(t.Context(), "t", steps))
		})
	}
	all.Wait()
	db := postgres(t, url)
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&n); err != nil || n != 0 {
		t.Errorf("%d tables are where those of others are, %v", n, err)
	}
	if err := db.QueryRow(`SELECT count(*) FROM mcphud.t`).Scan(&n); err != nil || n != 1 {
		t.Error(n, err)
	}
	if err := db.Migrate(t.Context(), "t", store.Steps{Postgres: steps.Postgres[:2]}); err == nil || !strings.Contains(err.Error(), "newer version of this program; use that one, or another database") {
		t.Error(err)
	}
	assert.ErrorContains(t, db.Migrate(t.Context(), "u", store.Steps{SQLite: []string{`CREATE TABLE u (x)`}}), "cannot be kept in PostgreSQL")
	if err := db.Migrate(t.Context(), "v", store.Steps{Postgres: []string{`CREATE TABLE v (x INTEGER); INSERT INTO nowhere VALUES (1)`}}); err == nil {
		t.Error("no error")
	} else if err := db.QueryRow(`SELECT count(*) FROM v`).Scan(&n); err == nil {
		t.Error("a failed step left a table")
	}
	pgtest.Exec(t, url, `CREATE TABLE public.migrations (id INTEGER)`) // of another program
	named := postgres(t, url+"&search_path=other")
	if err := named.Migrate(t.Context(), "t", steps); err != nil {
		t.Error(err)
	} else if err := named.QueryRow(`SELECT count(*) FROM other.t`).Scan(&n); err != nil || n != 1 {
		t.Error(n, err)
	}
}

func TestBackendValuesComeBack(t *testing.T) {
	db := postgres(t, pgtest.Run(t))
	if _, err := db.Exec(`CREATE SCHEMA mcphud; CREATE TABLE v (i INTEGER, l BIGINT, f FLOAT8, b BOOLEAN, s TEXT, r BYTEA, j JSON, d DATE, w TIMESTAMP, z TIMESTAMPTZ, n NUMERIC, a TEXT[])`); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 23, 5, 6, 7, 89000, time.FixedZone("", 3600))
	list := []string{`a`, `b "c"`, `d\e`, ``, `{f,g}`, `NULL`}
	if _, err := db.Exec(`INSERT INTO v VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		-7, int64(1)<<62, 1.25e-300, true, "ö'\"\\\n", []byte{0, 1, 255}, json.RawMessage(`{"a":[1]}`), "2026-11-23", at, at, "12.50", list); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`INSERT INTO v (i, r) VALUES (?, ?)`, nil, []byte(nil)); err != nil {
		t.Fatal(err)
	}
	var (
		i, l        int64
		f           float64
		b           bool
		s, j, n, a3 string
		r           []byte
		d, w, z     time.Time
	)
	require.NoError(t, db.QueryRow(`SELECT i, l, f, b, s, r, j, d, w, z, n, a[3] FROM v WHERE i IS NOT NULL AND s = ANY(?)`, []string{"x", "ö'\"\\\n"}).
		Scan(&i, &l, &f, &b, &s, &r, &j, &d, &w, &z, &n, &a3))
	if i != -7 || l != 1<<62 || f != 1.25e-300 || !b || s != "ö'\"\\\n" || string(r) != "\x00\x01\xff" || j != `{"a":[1]}` || n != "12.50" || a3 != `d\e` {
		t.Error(i, l, f, b, s, r, j, n, a3)
	}
	if d.Format(time.DateOnly) != "2026-11-23" || !w.Equal(at) || !z.Equal(at) {
		t.Error(d, w, z)
	}
	var none sql.NullInt64
	if err := db.QueryRow(`SELECT i, r FROM v WHERE i IS NULL`).Scan(&none, &r); err != nil || none.Valid || r != nil {
		t.Error(none, r, err)
	}
	assert.ErrorIs(t, db.QueryRow(`SELECT i FROM v WHERE i = 99`).Scan(&i), sql.ErrNoRows)
	res, err := db.Exec(`UPDATE v SET s = ? WHERE i = ?`, "x", -7)
	require.NoError(t, err)
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		t.Error(n, err)
	}
	if _, err := db.Exec(`INSERT INTO v (a) VALUES (?)`, []int{1}); err == nil || !strings.Contains(err.Error(), "[]int") {
		t.Error(err)
	}
}
