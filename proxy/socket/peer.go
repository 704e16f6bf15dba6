package socket

import (
	"fmt"
	"net"
	"os"
)

// CheckPeer refuses a connection to another user. The folder's permissions already keep others out; a folder that was
// open for a while, or a socket that was put there, does not get past this.
func CheckPeer(c *net.UnixConn) error { return checkUser(c, peerUser, os.Getuid()) }

func checkUser(c *net.UnixConn, peer func(fd int) (int, error), want int) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	uid := -1
	var asked error
	if err := raw.Control(func(fd uintptr) { uid, asked = peer(int(fd)) }); err != nil {
		return err
	}
	if asked != nil {
		return fmt.Errorf("cannot ask who is at the other end of the socket: %w", asked)
	}
	if uid != want {
		return fmt.Errorf("user %d is at the other end of the socket, and only user %d may be", uid, want)
	}
	return nil
}
