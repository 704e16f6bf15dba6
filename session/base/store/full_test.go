package store

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// A disk that is full is said to be, with the file.
func TestFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "full.db")
	db, err := Open(path)
	require.NoError(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1) // the pragma is of a connection
	for _, q := range []string{`CREATE TABLE a (b BLOB)`, `PRAGMA max_page_count = 4`} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	_, err = db.ExecContext(t.Context(), `INSERT INTO a VALUES (zeroblob(1000000))`)
	if err == nil {
		t.Fatal("there is room")
	}
	err = Explained(path, err)
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space left on the disk of "+path+"; make room") {
		t.Error(err)
	}
	if again := Explained(path, err); again.Error() != err.Error() {
		t.Errorf("explained twice: %v", again)
	}
	if _, err := db.ExecContext(t.Context(), `INSERT INTO nothing VALUES (1)`); err == nil || errors.Is(Explained(path, err), syscall.ENOSPC) {
		t.Errorf("another error: %v", err)
	}
}
