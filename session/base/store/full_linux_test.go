package store

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// SQLite calls a full disk an I/O error where it cannot make its shared memory.
func TestFullDiskOnOpen(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Skip("no file system of a few pages here: ", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	fill, err := os.Create(filepath.Join(dir, "fill"))
	require.NoError(t, err)
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	_ = fill.Close() // it is full
	path := filepath.Join(dir, "a.db")
	db, err := Open(path)
	if err == nil {
		_, err = db.ExecContext(t.Context(), `CREATE TABLE a (b)`)
		err = errors.Join(Explained(path, err), db.Close())
	}
	assert.ErrorIs(t, err, syscall.ENOSPC)
}
