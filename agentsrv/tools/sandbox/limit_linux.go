package sandbox

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// headroom is how much address space a worker may take beyond what it has when it starts: the engine's limit of memory
// is far below, and this one is for what the engine does not count.
const headroom = 768 << 20

// restrict gives up what a worker does not need, as a second line behind the engine: it cannot write files, dump core,
// open more than a few files, or grow without end. The numbers hold for root too.
func restrict() error {
	used, err := addressSpace()
	if err != nil {
		return err
	}
	for _, l := range []struct {
		what     int
		name     string
		soft, hi uint64
	}{
		{unix.RLIMIT_FSIZE, "FSIZE", 0, 0},
		{unix.RLIMIT_CORE, "CORE", 0, 0},
		{unix.RLIMIT_NOFILE, "NOFILE", 16, 16},
		{unix.RLIMIT_AS, "AS", used + headroom, used + headroom},
	} {
		if err := unix.Setrlimit(l.what, &unix.Rlimit{Cur: l.soft, Max: l.hi}); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}

// addressSpace is the size of this process in bytes.
func addressSpace() (uint64, error) {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	first, _, _ := bytes.Cut(raw, []byte(" "))
	pages, err := strconv.ParseUint(string(first), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("/proc/self/statm: %w", err)
	}
	return pages * uint64(os.Getpagesize()), nil
}
