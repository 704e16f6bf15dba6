//go:build unix

package process

import (
	"os"
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

// signalGroup signals every process of the child's group. A stopped one is continued, or it would not notice.
func signalGroup(pid int, s Signal) {
	// The only errors are "no such group" and processes that changed their user, both beyond our reach.
	_ = unix.Kill(-pid, s)
	_ = unix.Kill(-pid, unix.SIGCONT)
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
