//go:build unix

package socket

import (
	"io/fs"
	"syscall"
)

// owner is the user whose file it is.
func owner(fi fs.FileInfo) (uid int, ok bool) {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// alive is whether there is such a process, as far as can be seen from here.
func alive(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) != syscall.ESRCH }
