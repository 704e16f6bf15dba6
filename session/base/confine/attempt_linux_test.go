package confine_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"
)

// attempt does what a child may or may not do: "WHAT OBJECT".
func attempt(text string) error {
	what, object, _ := strings.Cut(text, " ")
	socket := func(family, kind int) error {
		fd, err := unix.Socket(family, kind, 0)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err
	}
	plain := func(_, _ uintptr, errno unix.Errno) error {
		if errno != 0 {
			return errno
		}
		return nil
	}
	switch what {
	case "read":
		_, err := os.ReadFile(object)
		return err
	case "list":
		_, err := os.ReadDir(object)
		return err
	case "write":
		return os.WriteFile(object, []byte("x"), 0o600)
	case "open": // to write, and nothing is written: a test that fails must not harm the machine
		f, err := os.OpenFile(object, os.O_WRONLY, 0)
		if err == nil {
			_ = f.Close()
		}
		return err
	case "truncate":
		return os.Truncate(object, 0)
	case "rename": // out of the folder that it is in
		return os.Rename(object, os.Getenv("TMPDIR")+"/moved")
	case "temp":
		f, err := os.CreateTemp("", "x")
		if err != nil {
			return err
		}
		return f.Close()
	case "home":
		return os.WriteFile(os.Getenv("HOME")+"/x", nil, 0o600)
	case "run":
		return exec.Command(object).Run()
	case "tcp":
		c, err := net.Dial("tcp", object)
		if err == nil {
			_ = c.Close()
		}
		return err
	case "udp":
		return socket(unix.AF_INET, unix.SOCK_DGRAM)
	case "ipv6":
		return socket(unix.AF_INET6, unix.SOCK_STREAM)
	case "unix":
		return socket(unix.AF_UNIX, unix.SOCK_STREAM)
	case "packet":
		return socket(unix.AF_PACKET, unix.SOCK_RAW)
	case "vsock":
		return socket(unix.AF_VSOCK, unix.SOCK_STREAM)
	case "pair":
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			_, _ = unix.Close(fds[0]), unix.Close(fds[1])
		}
		return err
	case "io_uring":
		return plain(unix.Syscall(unix.SYS_IO_URING_SETUP, 1, 0, 0))
	case "keyring":
		return plain(unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, ^uintptr(3), 1))
	case "mount":
		return unix.Mount("none", object, "tmpfs", 0, "")
	case "chroot":
		return unix.Chroot(object)
	case "signal":
		var pid int
		_, _ = fmt.Sscan(object, &pid)
		return unix.Kill(pid, 0)
	case "capabilities":
		raw, err := os.ReadFile("/proc/self/status")
		if err == nil && (!strings.Contains(string(raw), "CapEff:\t0000000000000000\n") || !strings.Contains(string(raw), "CapPrm:\t0000000000000000\n")) {
			err = errors.New("there are some")
		}
		return err
	case "devices":
		f, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
		if err == nil {
			_ = f.Close()
		}
		return err
	}
	return errors.ErrUnsupported
}
