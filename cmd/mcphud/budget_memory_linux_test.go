package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/budget"
	"github.com/mcphud/mcphud/session/faketest"
	"github.com/mcphud/mcphud/session/faketest/behave"
)

// A program that lists a few tools is as small as its work. Its peak is read while it runs: the figure of wait counts this
// test's own memory, from which it was forked.
func TestBudgetListMemory(t *testing.T) {
	budget.Skip(t)
	s := faketest.Stdio(t, behave.Good)
	var peak int64
	budget.Best(func() time.Duration {
		cmd := program(t, target(s, "tools", "list")...)
		start := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for hwm := regexp.MustCompile(`VmHWM:\s+(\d+) kB`); ; time.Sleep(200 * time.Microsecond) {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			m := hwm.FindSubmatch(status)
			if err != nil || m == nil { // it has ended
				break
			}
			kb, _ := strconv.ParseInt(string(m[1]), 10, 64)
			if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid)); exe == cmd.Path {
				peak = max(peak, kb<<10)
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	})
	if peak < 1<<20 {
		t.Fatalf("a peak of %d bytes", peak)
	}
	budget.Size(t, "a few tools listed, peak memory", peak, 30<<20, 1)
}
