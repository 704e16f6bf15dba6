package unixsocket

import "golang.org/x/sys/unix"

// peerUser returns the user id of the other end of a Unix socket.
func peerUser(fd int) (uid int, err error) {
	c, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, err
	}
	return int(c.Uid), nil
}
