package wrap

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// reserves says that awaitExit leaves the child's number reserved.
const reserves = true

// attributes give the child a group of its own, and its end when ours comes without a chance to say so.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitExit returns when the child has exited, before its number can be given to another process.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// stopped reports whether the child is stopped now.
func stopped(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WSTOPPED|unix.WNOHANG|unix.WNOWAIT, nil)
	return err == nil && info.Signo != 0
}
