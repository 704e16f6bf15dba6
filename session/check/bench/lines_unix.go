//go:build unix

package bench

import "syscall"

// direct says that a connection can be asked whether it is still open.
const direct = true

// quiet reports whether a connection is open and nothing has come over it.
func quiet(c syscall.RawConn) bool {
	var b [1]byte
	open := false
	err := c.Read(func(fd uintptr) bool {
		_, err := syscall.Read(int(fd), b[:])
		open = err == syscall.EAGAIN
		return true
	})
	return err == nil && open
}
