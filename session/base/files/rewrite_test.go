package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func writeMode(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), mode))
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b)
}

// Links stay, the file behind them is written, and keeps its mode.
func TestRewriteThroughLinks(t *testing.T) {
	dir, dots := t.TempDir(), t.TempDir()
	file, middle, link := filepath.Join(dots, "config.yaml"), filepath.Join(dots, "middle"), filepath.Join(dir, "config.yaml")
	writeMode(t, file, "old", 0o640)
	if err := os.Symlink("config.yaml", middle); err != nil {
		t.Skip("no links here: ", err)
	}
	require.NoError(t, os.Symlink(middle, link))
	if _, err := Rewrite(link, []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	assert.Equalf(t, content(t, file), "new", "the file")
	for _, l := range []string{link, middle} {
		if info, err := os.Lstat(l); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is a link no longer: %v %v", l, info.Mode(), err)
		}
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	for _, d := range []string{dir, dots} {
		if left, err := filepath.Glob(filepath.Join(d, ".config*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v %v", left, err)
		}
	}
	require.NoError(t, os.Remove(file))
	if _, err := Rewrite(link, nil, []byte("new")); err == nil || !strings.Contains(err.Error(), "which does not exist") {
		t.Errorf("a link to nothing: %v", err)
	}
}

func TestRewriteRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if _, err := Rewrite(file, []byte("old"), []byte("new")); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that is gone: %v", err)
	}
	if _, err := Rewrite(file, nil, []byte("one")); err != nil || content(t, file) != "one" {
		t.Errorf("a new file: %v", err)
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v %v", info.Mode(), err)
	}
	for _, before := range []string{"other", "on", "one more"} {
		if _, err := Rewrite(file, []byte(before), []byte("two")); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", before, err)
		}
	}
	if _, err := Rewrite(file, nil, []byte("two")); !errors.Is(err, ErrChanged) || content(t, file) != "one" {
		t.Errorf("a file that came: %v, %s", err, content(t, file))
	}
	if _, err := Rewrite(dir, nil, []byte("two")); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// The owner stays, where the system lets us: a file that root changes stays its user's.
func TestRewriteKeepsTheOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	file := filepath.Join(t.TempDir(), "file")
	writeMode(t, file, "old", 0o660)
	if err := os.Chown(file, 12345, 54321); err != nil {
		t.Skip(err)
	}
	if _, err := Rewrite(file, []byte("old"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	require.NoError(t, err)
	if got := fmt.Sprintf("%+v", info.Sys()); !strings.Contains(got, "Uid:12345 Gid:54321") || info.Mode().Perm() != 0o660 {
		t.Errorf("%v %s", info.Mode(), got)
	}
}

// Who takes the lock reads what the one before wrote.
func TestLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	writeMode(t, file, "", 0o600)
	var wg sync.WaitGroup
	const writers = 12
	for range writers {
		wg.Go(func() {
			unlock, err := Lock(t.Context(), file)
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			before, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := Rewrite(file, before, append(before[:len(before):len(before)], 'x')); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := content(t, file); runtime.GOOS != "windows" && got != strings.Repeat("x", writers) {
		t.Errorf("%q has not each of %d", got, writers)
	}
}
