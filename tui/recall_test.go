package tui

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/mcphud/mcphud/session/test/require"
)

// Whoever reads the history while it is saved sees all of the old one.
func TestRecallIsReplacedAsAWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	var r recall
	r.load(file)
	r.add("one")
	require.NoError(t, r.save())
	old, err := os.Open(file)
	require.NoError(t, err)
	defer old.Close()
	r.add("two")
	require.NoError(t, r.save())
	b := make([]byte, 100)
	if n, _ := old.Read(b); string(b[:n]) != "one\n" {
		t.Errorf("a reader sees %q", b[:n])
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "one\ntwo\n" {
		t.Errorf("%q %v", b, err)
	}
}
