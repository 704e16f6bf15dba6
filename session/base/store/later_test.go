package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// later opens a database whose file may come later, with a table.
func openLater(t *testing.T, path string) *DB {
	t.Helper()
	db, err := OpenLater(path, nil)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, db.Close()) })
	require.NoError(t, db.Migrate(t.Context(), "t", Steps{SQLite: []string{`CREATE TABLE t (x INTEGER)`}}))
	return db
}

// numbers are what the table has.
func numbers(t *testing.T, db *DB) (all []int) {
	t.Helper()
	rows, err := db.Query(`SELECT x FROM t ORDER BY x`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var x int
		require.NoError(t, rows.Scan(&x))
		all = append(all, x)
	}
	return all
}

func TestNothingIsOnDiskBeforeThereIsSomethingToKeep(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "state", "agent.db")
	ctx := context.Background()
	db := openLater(t, path)
	if _, err := db.ExecContext(Derived(ctx), `INSERT INTO t VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(Derived(ctx), nil)
	require.NoError(t, err)
	if _, err := tx.ExecContext(ctx, `INSERT INTO t VALUES (2)`); err != nil { // what belongs to it does, too
		t.Fatal(err)
	}
	require.NoError(t, tx.Commit())
	kept, err := db.Prepare(`INSERT INTO t VALUES (?)`) // of before, used afterwards
	require.NoError(t, err)
	defer kept.Close()
	if left, err := os.ReadDir(home); err != nil || len(left) != 0 || len(numbers(t, db)) != 2 {
		t.Fatalf("%v %v, in memory %v", left, err, numbers(t, db))
	}
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			if _, err := db.Exec(`INSERT INTO t VALUES (?)`, 10+i); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	if _, err := kept.Exec(99); err != nil {
		t.Error(err)
	}
	if got := numbers(t, db); len(got) != 11 || got[0] != 1 || got[10] != 99 {
		t.Errorf("in the file %v", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if got := numbers(t, open(t, path)); len(got) != 11 {
		t.Errorf("another sees %v", got)
	}
	left, _ := os.ReadDir(filepath.Dir(path))
	for _, f := range left {
		if !strings.HasPrefix(f.Name(), "agent.db") || strings.Count(f.Name(), ".") > 1 {
			t.Errorf("left over: %s", f.Name())
		}
	}
	again := openLater(t, path) // there is a file now
	if got := numbers(t, again); len(got) != 11 {
		t.Errorf("opened again: %v", got)
	}
}

// The first write of a transaction is one as well; and where another process was faster, both use its file.
func TestTheFileOfAFasterProcessIsUsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	slow, fast := openLater(t, path), openLater(t, path)
	for i, db := range []*DB{fast, slow} {
		tx, err := db.Begin()
		require.NoError(t, err)
		if _, err := tx.Exec(`INSERT INTO t VALUES (?)`, i); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, tx.Commit())
	}
	if a, b := numbers(t, fast), numbers(t, slow); len(a) != 2 || len(b) != 2 {
		t.Errorf("%v %v", a, b)
	}
}

func TestAFileThatCannotBeMadeFailsTheWriteAlone(t *testing.T) {
	home := t.TempDir()
	blocked := filepath.Join(home, "file")
	db := openLater(t, filepath.Join(blocked, "agent.db"))
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	if _, err := db.Exec(`INSERT INTO t VALUES (1)`); err == nil || !strings.Contains(err.Error(), blocked) {
		t.Errorf("%v", err)
	}
	if got := numbers(t, db); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestDamageIsExplained(t *testing.T) {
	dir := t.TempDir()
	noise := filepath.Join(dir, "noise.db")
	require.NoError(t, os.WriteFile(noise, []byte(strings.Repeat("this is no database ", 1000)), 0o600))
	later := func(path string) (*DB, error) { return OpenLater(path, nil) }
	for _, f := range []func(string) (*DB, error){Open, later} {
		if db, err := f(noise); err == nil || !strings.Contains(err.Error(), noise+" is damaged or not a database; remove it") {
			t.Errorf("%v %v", db, err)
		} else if again := Explained(noise, err); strings.Count(again.Error(), "remove it") != 1 {
			t.Error(again)
		}
	}
	if err := errors.New("other"); Explained(noise, err) != err {
		t.Error("another error was explained")
	}
}
