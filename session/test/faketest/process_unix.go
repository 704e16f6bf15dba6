//go:build unix

package faketest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// Alive reports whether a process runs. One that has ended and waits for a parent to ask counts as ended where /proc
// tells: an orphan in a container may have no parent that ever asks.
func Alive(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true // no /proc here
	}
	// pid (name) state …, and the name may hold spaces and parentheses.
	after := stat[bytes.LastIndexByte(stat, ')')+1:]
	return !bytes.HasPrefix(after, []byte(" Z"))
}

// EndProcess kills a process that a server left behind.
func EndProcess(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		t.Errorf("kill %d: %v", pid, err)
	}
}
