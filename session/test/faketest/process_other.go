//go:build !unix

package faketest

import (
	"os"
	"testing"
)

// Alive reports whether a process runs.
func Alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}

// EndProcess kills a process that a server left behind.
func EndProcess(t testing.TB, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	if err := p.Kill(); err != nil {
		t.Errorf("kill %d: %v", pid, err)
	}
}
