package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reserves reports whether awaitExit leaves the child's pid reserved.
const reserves = true

const inputQueue = unix.TIOCINQ

func childAttr(bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when the child has exited, and leaves it a zombie: until it is reaped, the id of its group cannot be reused,
// so that what it forked can be killed safely.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// isStopped reports whether the child is stopped now.
func isStopped(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}

// GrowPipe asks for the largest pipe buffer that an ordinary user may have, for fewer and larger reads. It may fail silently.
func GrowPipe(r *os.File) {
	if c, err := r.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, 1<<20) })
	}
}
