package budget

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// sampled is how often [Peak] looks.
const sampled = 200 * time.Microsecond

// Memory is how many bytes of memory are a process' own: anonymous and shared pages. Pages of files, such as its program, do not count:
// how many of those are mapped is the kernel's choice, and it drops them when it likes. False once the process has ended.
func Memory(pid int) (size int64, ok bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, false
	}
	for _, field := range []string{"RssAnon", "RssShmem"} {
		part, ok := sizeIn(status, field)
		if !ok {
			return 0, false
		}
		size += part
	}
	return size, true
}

// Peak runs a program to its end and returns the most [Memory] that it had. The kernel remembers the peak of all resident memory, and not that
// of a part of it, so this one is sampled: it misses what comes and goes within 200 µs, of whatever it is compared with as well.
func Peak(cmd *exec.Cmd) (most int64, err error) {
	if err := cmd.Start(); err != nil { // which returns once the new program has taken the place of this one's copy
		return 0, err
	}
	for {
		size, ok := Memory(cmd.Process.Pid)
		if !ok {
			break
		}
		most = max(most, size)
		time.Sleep(sampled)
	}
	return most, cmd.Wait()
}
