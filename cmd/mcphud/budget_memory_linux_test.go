package main

import (
	"os/exec"
	"testing"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
)

// listMemory is what a program that lists a few tools may take of memory of its own.
const listMemory = 14 << 20

// peak is the most memory of its own that a run of a program has, the largest of five.
func peak(t *testing.T, prepare func() *exec.Cmd) (most int64) {
	t.Helper()
	for range 5 {
		size, err := budget.Peak(prepare())
		require.NoError(t, err)
		most = max(most, size)
	}
	if most < 1<<20 {
		t.Fatalf("a peak of %d bytes", most)
	}
	return most
}

// A program that lists a few tools is as small as its work.
func TestBudgetListMemory(t *testing.T) {
	budget.Skip(t)
	s := faketest.Stdio(t, behave.Good)
	budget.Size(t, "a few tools listed, peak memory", peak(t, func() *exec.Cmd { return program(t, target(s, "tools", "list")...) }), listMemory, 1)
}
