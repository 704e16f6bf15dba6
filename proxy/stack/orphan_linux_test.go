package stack

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mcphud/mcphud/session/test/require"
)

// gone waits until a process is no more, or only what its parent has not yet reaped.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(end) {
			_ = unix.Kill(pid, unix.SIGKILL)
			t.Errorf("process %d is still there: %s", pid, stat)
			return
		}
	}
}

// Whoever supervises may be killed without warning: no process of ours nor of others outlives it.
func TestNothingSurvivesAKilledParent(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), asParent+"=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	var pids []int
	for _, s := range strings.Fields(strings.Trim(strings.TrimSpace(line), "[]")) {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(line)
		}
		pids = append(pids, n)
	}
	if len(pids) != 2 {
		t.Fatal(line)
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	for _, pid := range pids {
		gone(t, pid)
	}
}

// What a process forked goes with it, and no zombie stays.
func TestForkedProcessesEnd(t *testing.T) {
	s := supervise(t, Options{}, Spec{Name: "a", Args: []string{"--mode", "fork"}})
	ready(t, s)
	forked, err := strconv.Atoi(strings.TrimPrefix(says(t, s, "a", "forked"), "forked "))
	require.NoError(t, err)
	visit(t, s, "a", "/crash")
	gone(t, forked)
	until(t, s, "a", func(st Status) bool { return st.State == Ready })
	s.Close(bounded(t))
	files, err := filepath.Glob("/proc/self/task/*/children")
	require.NoError(t, err)
	for _, f := range files {
		if b, _ := os.ReadFile(f); len(b) > 0 {
			t.Errorf("children are left: %s", b)
		}
	}
}
