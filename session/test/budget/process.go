package budget

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
)

// Status is a size that Linux tells of a process, in bytes: "VmRSS" is what is in memory, "VmHWM" the most that was. Elsewhere the test is skipped.
func Status(t testing.TB, pid int, field string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if os.IsNotExist(err) {
		t.Skip("the memory of another process is known on Linux only")
	}
	require.NoError(t, err)
	size, ok := sizeIn(status, field)
	if !ok {
		t.Fatalf("no %s in\n%s", field, status)
	}
	return size
}

// sizeIn is a size in bytes that a status file has; false for one that it does not have, as that of a zombie.
func sizeIn(status []byte, field string) (int64, bool) {
	_, rest, found := bytes.Cut(status, []byte("\n"+field+":"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	kB, err := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(line, []byte("kB")))), 10, 64)
	return kB << 10, found && err == nil
}

// Running is how long the threads of a process were on a processor, to the nanosecond. Where Linux does not tell it, the test is skipped.
func Running(t testing.TB, pid int) (sum time.Duration) {
	t.Helper()
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(tasks) == 0 {
		t.Skip("the processor time of another process is known on Linux only")
	}
	for _, name := range tasks {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it ended meanwhile
		}
		spent, _, _ := strings.Cut(string(b), " ")
		n, err := strconv.ParseInt(spent, 10, 64)
		require.NoError(t, err)
		sum += time.Duration(n)
	}
	return sum
}
