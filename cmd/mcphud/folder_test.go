package main

import (
	"path/filepath"
	"testing"
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
