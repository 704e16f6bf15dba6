package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
)

// peak is the most memory that a run of a program has, the largest of five. It is read while it runs: the figure of wait counts this
// test's own memory, from which it was forked.
func peak(t *testing.T, prepare func() *exec.Cmd) (most int64) {
	t.Helper()
	file := ""
	hwm := regexp.MustCompile(`VmHWM:\s+(\d+) kB`)
	budget.Best(func() time.Duration {
		cmd := prepare()
		if file == "" {
			file = inSmallPages(t, cmd.Path)
		}
		cmd.Path = file
		start := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for ; ; time.Sleep(200 * time.Microsecond) {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
			m := hwm.FindSubmatch(status)
			if err != nil || m == nil { // it has ended
				break
			}
			kb, _ := strconv.ParseInt(string(m[1]), 10, 64)
			if exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid)); filepath.Base(exe) == filepath.Base(cmd.Path) {
				most = max(most, kb<<10)
			}
		}
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	})
	if most < 1<<20 {
		t.Fatalf("a peak of %d bytes", most)
	}
	return most
}

// inSmallPages is a copy of a program that the system has in pages of 4 KiB. Whoever runs a file that it happens to have in huge ones,
// as linkers may leave it, has ten megabytes more that it neither asked for nor touched.
func inSmallPages(t *testing.T, program string) string {
	t.Helper()
	from, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(t.TempDir(), filepath.Base(program)), os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 4<<10))
	if err = errors.Join(err, to.Close()); err != nil {
		t.Fatal(err)
	}
	return to.Name()
}

// A program that lists a few tools is as small as its work.
func TestBudgetListMemory(t *testing.T) {
	budget.Skip(t)
	s := faketest.Stdio(t, behave.Good)
	budget.Size(t, "a few tools listed, peak memory", peak(t, func() *exec.Cmd { return program(t, target(s, "tools", "list")...) }), 28<<20, 1)
}
