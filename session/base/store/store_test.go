package store

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t *testing.T, path string) *DB {
	t.Helper()
	db, err := Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	return db
}

func TestFileIsPrivateAndKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b#?%41", "agent.db")
	ctx := context.Background()
	db := open(t, path)
	require.NoError(t, db.Migrate(ctx, "t", Steps{SQLite: []string{`CREATE TABLE t (x INTEGER)`}}))
	if _, err := db.Exec(`INSERT INTO t VALUES (7)`); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f.Name(), info.Mode(), err)
		}
	}
	again := open(t, path)
	require.NoError(t, again.Migrate(ctx, "t", Steps{SQLite: []string{`CREATE TABLE t (x INTEGER)`, `ALTER TABLE t ADD COLUMN y TEXT DEFAULT 'new'`}}))
	var x int
	var y string
	if err := again.QueryRow(`SELECT x, y FROM t`).Scan(&x, &y); err != nil || x != 7 || y != "new" {
		t.Error(x, y, err)
	}
	assert.ErrorContains(t, again.Migrate(ctx, "t", Steps{SQLite: []string{`CREATE TABLE t (x INTEGER)`}}), "newer version")
}

func TestMemoryIsSharedByAllGoroutinesAndWritesNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	db := open(t, "")
	require.NoError(t, db.Migrate(context.Background(), "t", Steps{SQLite: []string{`CREATE VIRTUAL TABLE t USING fts5(x, tokenize='trigram')`}}))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if _, err := db.Exec(`INSERT INTO t VALUES ('hello')`); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	var n int
	if err := db.QueryRow(`SELECT count(*) FROM t WHERE t MATCH 'ell'`).Scan(&n); err != nil || n != 160 {
		t.Error(n, err)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Error(left, err)
	}
}

func TestAFailedStepLeavesNothing(t *testing.T) {
	db := open(t, "")
	if err := db.Migrate(context.Background(), "t", Steps{SQLite: []string{`CREATE TABLE t (x); INSERT INTO nowhere VALUES (1)`}}); err == nil {
		t.Fatal("no error")
	}
	assert.NoError(t, db.Migrate(context.Background(), "t", Steps{SQLite: []string{`CREATE TABLE t (x)`}}))
}

func TestWritersWait(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "agent.db"))
	require.NoError(t, db.Migrate(context.Background(), "t", Steps{SQLite: []string{`CREATE TABLE t (x INTEGER)`}}))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 20 {
				if _, err := db.Exec(`INSERT INTO t VALUES (?)`, i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
