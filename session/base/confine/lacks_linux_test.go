package confine_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/mcphud/mcphud/session/base/confine"
)

// lacks is set in a child whose kernel answers as one without Landlock does, by the number of the error.
const lacks = "MCPHUD_CONFINE_LACKS"

// withoutLandlock takes the system call away, prepares a child, and prints why that failed. 0 says that it was taken away.
func withoutLandlock() int {
	errno, _ := strconv.Atoi(os.Getenv(lacks))
	runtime.LockOSThread()
	f := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: unix.SYS_LANDLOCK_CREATE_RULESET},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	prog := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != nil || unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0) != nil {
		return 2
	}
	_, _, err := confine.Prepare(confine.Rules{}, confine.Program{Path: "/bin/true", Env: os.Environ()})
	fmt.Println(err)
	return 0
}

// On a kernel without Landlock, or with it off, nothing is started, and the error says why.
func TestX5b_RefusedWithoutLandlock(t *testing.T) {
	for errno, want := range map[unix.Errno]string{
		unix.ENOSYS:     "its sandbox cannot be enforced here: this kernel has no Landlock, which Linux has from 5.13 on",
		unix.EOPNOTSUPP: "its sandbox cannot be enforced here: Landlock is in this kernel but off; add it to the kernel's parameter lsm=",
		unix.EPERM:      "its sandbox cannot be enforced here: Landlock cannot be used: operation not permitted",
	} {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", lacks, int(errno)))
		out, err := cmd.Output()
		if e, ok := err.(*exec.ExitError); ok && e.ExitCode() == 2 {
			t.Skip("this kernel has no seccomp filters either")
		}
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%v: %q, %v", errno, got, err)
		}
	}
}
