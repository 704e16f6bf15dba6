package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// ownFolder is a home folder and a working folder of the test's own.
func ownFolder(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home) // what it is called on Windows
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(home, ".state"))
	t.Setenv("MCPHUD_CONFIG", "")
	t.Chdir(t.TempDir())
	return home
}

// runtimeDir gives the test and what it starts a folder of sockets of their own.
func runtimeDir(t *testing.T) {
	t.Helper()
	t.Setenv("MCPHUD_TAP_DIR", runtimePath(t))
}

// runtimePath is such a folder, for tests that run side by side.
func runtimePath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "run")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "mcphud")
}

// recorded is a file that --journal wrote during a call.
func recorded(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "session.jsonl")
	mcphud(t, fake(t, behave.Good, "tools", "call", "echo", "text=hello", "--journal", name)...).ok(t)
	return name
}
