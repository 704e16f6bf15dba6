package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file.json")
	require.NoError(t, os.WriteFile(path, []byte("a longer text than the new one"), 0o644))
	require.NoError(t, Write(path, []byte("new")))
	if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
		t.Errorf("%q %v", b, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
}

// What cannot be written leaves nothing behind, and what was there.
func TestWriteFails(t *testing.T) {
	dir := t.TempDir()
	assert.ErrorIs(t, Write(filepath.Join(dir, "nowhere", "file"), nil), fs.ErrNotExist)
	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "full"), 0o700))
	if err := Write(folder, []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

// What must not be lost is on the disk before it is the file; where that fails, the old one stays.
func TestWriteForced(t *testing.T) {
	defer func(was func(*os.File) error) { force = was }(force)
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, WriteForced(path, []byte("old")))
	broken := errors.New("broken")
	force = func(f *os.File) error {
		if b, err := os.ReadFile(f.Name()); err != nil || string(b) != "new" {
			t.Errorf("it is forced before it is written: %q %v", b, err)
		}
		return broken
	}
	assert.ErrorIs(t, WriteForced(path, []byte("new")), broken)
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("%q %v", b, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if _, err := Read(path, 3); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	require.NoError(t, Write(path, []byte("abc")))
	if b, err := Read(path, 3); err != nil || string(b) != "abc" {
		t.Errorf("%q %v", b, err)
	}
	for file, want := range map[string]string{path: "is larger than 2 B", dir: "is not a regular file", os.DevNull: "is not a regular file"} {
		if _, err := Read(file, 2); err == nil || err.Error() != file+" "+want {
			t.Errorf("%s: %v", file, err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no links here: ", err)
	}
	if b, err := Read(link, 3); err != nil || string(b) != "abc" {
		t.Errorf("%q %v", b, err)
	}
}
