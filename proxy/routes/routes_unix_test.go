//go:build unix

package routes

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
)

func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	pipe, large, loop := filepath.Join(dir, "pipe"), filepath.Join(dir, "large"), filepath.Join(dir, "loop")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no pipes here")
	}
	f, err := os.Create(large)
	require.NoError(t, err)
	if err := f.Truncate(1 << 30); err != nil { // takes no space
		t.Fatal(err)
	}
	_ = f.Close()
	require.NoError(t, os.Symlink(loop, loop))
	for path, want := range map[string]string{pipe: "not a regular file", large: "larger than", loop: "symbolic link", "/dev/zero": "not a regular file"} {
		began := time.Now()
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), want) || time.Since(began) > 20*time.Second {
			t.Errorf("%s: %v after %v", path, err, time.Since(began))
		}
	}
}
