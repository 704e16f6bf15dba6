package nettest

import "golang.org/x/sys/unix"

// keep binds a socket that does not listen. Others cannot be given its port, and connections to it are refused, but who says
// that addresses may be used again, as whoever listens does, can have the same one.
func keep(port int) (release func(), free bool) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, false
	}
	release = func() { _ = unix.Close(fd) }
	err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}})
	if err == nil {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err != nil {
		release()
		return nil, false
	}
	return release, true
}
