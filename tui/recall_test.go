package tui

import (
	"os"
	"path/filepath"
	"testing"
)

// Whoever reads the history while it is saved sees all of the old one.
func TestRecallIsReplacedAsAWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	var r recall
	r.load(file)
	r.add("one")
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	old, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	r.add("two")
	if err := r.save(); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n, _ := old.Read(b); string(b[:n]) != "one\n" {
		t.Errorf("a reader sees %q", b[:n])
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "one\ntwo\n" {
		t.Errorf("%q %v", b, err)
	}
}
