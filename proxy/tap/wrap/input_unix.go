//go:build unix

package wrap

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// input reads an inherited file with cancellable reads. The file is not made non-blocking, which would affect all processes
// that share it.
type input struct {
	f           *os.File
	wait, ender *os.File // a pipe that cancel closes; nil if there is none
}

func newInput(f *os.File) *input {
	in := &input{f: f}
	in.wait, in.ender, _ = os.Pipe() // without one, reads end with the process
	return in
}

// Read returns io.EOF at the end and after cancel.
func (in *input) Read(b []byte) (int, error) {
	if in.wait != nil && in.waitReadable() {
		return 0, io.EOF
	}
	return in.f.Read(b)
}

// waitReadable blocks until f is readable or cancel was called, and reports the latter.
func (in *input) waitReadable() bool {
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

// cancel makes the current Read, and all that follow, return io.EOF.
func (in *input) cancel() {
	if in.ender != nil {
		_ = in.ender.Close()
	}
}

// close closes the pipe, not the file.
func (in *input) close() {
	if in.wait != nil {
		_ = in.wait.Close()
	}
}
