//go:build unix

package process

import (
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Signal is a signal to a group.
type Signal = unix.Signal

// Term asks a group to end, Kill forces it to.
const (
	Term = unix.SIGTERM
	Kill = unix.SIGKILL
)

// Detach makes a command one that no terminal ends.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Leader is the process that this one's terminal ends with, its shell in most cases; 0 where that is not known.
func Leader() int {
	id, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return id
}

func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// SignalGroup signals every process of the group of a child that has not been waited for, and continues stopped ones, which
// would not notice otherwise.
func SignalGroup(pid int, s Signal) {
	// The only errors are "no such group" and processes that changed their user, both beyond our reach.
	_ = unix.Kill(-pid, s)
	resume(pid)
}

func resume(pid int) { _ = unix.Kill(-pid, unix.SIGCONT) }

// Forwarded returns the signals that clients, terminals and the system send to programs, except those that stop and continue
// a process.
func Forwarded() []os.Signal {
	return []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGWINCH}
}

// forward continues a child that is to end: the system stops a background process that reads the terminal, and a stopped one
// would not notice the signal.
func forward(pid int, s os.Signal) (ends bool) {
	sig, _ := s.(syscall.Signal)
	switch sig {
	case unix.SIGINT, unix.SIGQUIT, unix.SIGWINCH:
		_ = unix.Kill(-pid, sig) // a group that is gone needs no signal
	default:
		_ = unix.Kill(pid, sig)
	}
	switch sig {
	case unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP:
		resume(pid)
		return true
	}
	return false
}

func exitCode(st *os.ProcessState) int {
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal())
	}
	return st.ExitCode()
}

// Unread returns how many bytes written to a pipe were not read yet, -1 if the system cannot tell.
func Unread(w *os.File) int64 {
	n := int64(-1)
	if c, err := w.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) {
			if v, err := unix.IoctlGetInt(int(fd), inputQueue); err == nil {
				n = int64(v)
			}
		})
	}
	return n
}

// Unheard reports whether nobody has the other end of a pipe that is written to.
func Unheard(w *os.File) bool {
	gone := false
	if c, err := w.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) {
			fds := []unix.PollFd{{Fd: int32(fd)}}
			n, err := unix.Poll(fds, 0)
			gone = err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
		})
	}
	return gone
}

// groupGone waits up to 25 ms for a killed group to vanish, since SIGKILL takes effect a little after it was sent. It does not
// wait longer, since orphans that nobody reaps stay in the group for ever.
func groupGone(pid int) {
	for range 25 {
		if unix.Kill(-pid, 0) != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Alive reports whether there is a process with that pid, also one of another user's or a zombie.
func Alive(pid int) bool { return pid > 0 && unix.Kill(pid, 0) != unix.ESRCH }
