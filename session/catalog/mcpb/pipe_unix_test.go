//go:build unix

package mcpb

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// A named pipe is refused, and not waited for.
func TestOpenNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.mcpb")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Error(err)
	}
}
