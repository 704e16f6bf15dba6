//go:build unix

package wrap

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// input reads a file that this process was given, and can be told to stop. The file stays as it is: to make it non-blocking
// would do so for everybody who has it.
type input struct {
	f           *os.File
	wait, ender *os.File // a pipe; nil where none could be made
}

func newInput(f *os.File) *input {
	in := &input{f: f}
	in.wait, in.ender, _ = os.Pipe() // without one it ends with the process
	return in
}

// Read returns io.EOF at the end and after cancel.
func (in *input) Read(b []byte) (int, error) {
	if in.wait != nil && in.cancelled() {
		return 0, io.EOF
	}
	return in.f.Read(b)
}

// cancelled waits until there is something to read, an end, or cancel was called.
func (in *input) cancelled() bool {
	fd, err := descriptor(in.f)
	stop, err2 := descriptor(in.wait)
	if err != nil || err2 != nil {
		return false
	}
	for {
		fds := []unix.PollFd{{Fd: fd, Events: unix.POLLIN}, {Fd: stop, Events: unix.POLLIN}}
		if _, err := unix.Poll(fds, -1); err != unix.EINTR {
			return err == nil && fds[1].Revents != 0
		}
	}
}

func descriptor(f *os.File) (fd int32, err error) {
	c, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	err = c.Control(func(d uintptr) { fd = int32(d) })
	return fd, err
}

// cancel makes the Read that waits, and all that follow, return io.EOF.
func (in *input) cancel() {
	if in.ender != nil {
		_ = in.ender.Close()
	}
}

// close lets go of what it made, not of the file.
func (in *input) close() {
	if in.wait != nil {
		_ = in.wait.Close()
	}
}
