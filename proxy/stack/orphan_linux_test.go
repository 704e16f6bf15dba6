package stack

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/session/test/childtest"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
)

// gone waits until a process is no more, or only what its parent has not yet reaped.
func gone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, fmt.Sprintf("process %d to be gone", pid), func() bool { return !faketest.Alive(pid) })
}

// Whoever supervises may be killed without warning: no process of ours nor of others outlives it.
func TestNothingSurvivesAKilledParent(t *testing.T) {
	c := childtest.Start(t, asParent+"=1")
	t.Cleanup(c.Kill) // it does not look at its input
	var pids []int
	for _, s := range strings.Fields(strings.Trim(c.Line, "[]")) {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(c.Line)
		}
		pids = append(pids, n)
	}
	if len(pids) != 2 {
		t.Fatal(c.Line)
	}
	c.Kill()
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
