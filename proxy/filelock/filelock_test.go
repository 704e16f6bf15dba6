//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package filelock

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"
)

func TestOnlyOneHoldsTheLock(t *testing.T) {
	dir := t.TempDir()
	if _, err := Lock(filepath.Join(dir, "nothing"), 0); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	first, err := Lock(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir, 20*time.Millisecond); !errors.Is(err, ErrHeld) {
		t.Error(err)
	}
	got := make(chan error, 1)
	go func() {
		second, err := Lock(dir, time.Minute)
		if err == nil {
			err = second.Close()
		}
		got <- err
	}()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}
