//go:build unix

package tenant

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Opening a pipe that nobody writes to would keep the agent from starting, and later every caller waiting.
func TestKeysFromAPipeAreRefused(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "keys.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no pipes here: ", err)
	}
	if _, err := readJWKS(pipe); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}
