//go:build unix

package config

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A repository may bring a named pipe: opening it would wait for ever.
func TestNamedPipeIsNotOpened(t *testing.T) {
	cwd := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(cwd, ".mcp.json"), 0o644); err != nil {
		t.Skip(err)
	}
	s, err := Load(Options{Cwd: cwd})
	if err != nil || len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0].Message, "regular file") {
		t.Errorf("%v, %v", s.Warnings, err)
	}
}
