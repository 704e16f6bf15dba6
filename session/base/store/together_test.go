package store

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// SQLite refuses to begin a write-ahead log at once where another process is about it, whatever wait it was told: two that make one file at
// the same time met there, and the second lost what it wanted to keep.
func TestOpenWaitsForWhoeverMakesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.db")
	other, err := sql.Open(driverName, "file:"+path+"?_txlock=immediate")
	require.NoError(t, err)
	defer other.Close()
	if _, err := other.ExecContext(t.Context(), `CREATE TABLE other (x)`); err != nil {
		t.Fatal(err)
	}
	tx, err := other.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	if _, err := tx.ExecContext(t.Context(), `INSERT INTO other VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	if db, err := OpenFor(path, 50*time.Millisecond); err == nil {
		t.Error("it was opened while another held it")
		_ = db.Close()
	} else if !Busy(err) {
		t.Error(err)
	}
	time.AfterFunc(200*time.Millisecond, func() { _ = tx.Commit() })
	db, err := OpenFor(path, time.Minute)
	require.NoError(t, err)
	assert.NoError(t, db.Close())
}
