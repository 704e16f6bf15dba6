//go:build unix

package mcpb

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A named pipe is refused, and not waited for.
func TestOpenNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.mcpb")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Error(err)
	}
}
