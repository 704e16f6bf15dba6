//go:build unix

package process

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Signal is what a group can be sent.
type Signal = unix.Signal

// Term asks a group to leave, Kill ends it.
const (
	Term = unix.SIGTERM
	Kill = unix.SIGKILL
)

func groupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// SignalGroup signals every process of a group that has not been waited for. A stopped one is continued, or it would not
// notice.
func SignalGroup(pid int, s Signal) {
	// The only errors are "no such group" and processes that changed their user, both beyond our reach.
	_ = unix.Kill(-pid, s)
	resume(pid)
}

func resume(pid int) { _ = unix.Kill(-pid, unix.SIGCONT) }

// Forwarded are the signals that a client, a terminal or a system sends to a program. Stopping and continuing is left to
// whoever does it: who waits for a stopped process' pipes is stopped as well.
func Forwarded() []os.Signal {
	return []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGWINCH}
}

// forward resumes what is to end: a child that reads the terminal may be stopped by the system, since the foreground is not
// its own, and would not notice.
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

// Unread is how much of what we wrote into a pipe nobody has read, -1 if the system does not say.
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

// groupGone waits a moment for the rest of a killed group: KILL takes effect a little after it was sent. Orphans that
// nobody reaps stay in the group for ever, so it does not wait for the group to vanish.
func groupGone(pid int) {
	for range 25 {
		if unix.Kill(-pid, 0) != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}
