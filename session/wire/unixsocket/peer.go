package unixsocket

import (
	"fmt"
	"net"
	"os"
)

// CheckPeer returns an error if the other end of c belongs to another user. The folder's permissions keep others out; this
// also detects sockets from before it was private.
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
		return fmt.Errorf("cannot determine the user at the other end of the socket: %w", asked)
	}
	if uid != want {
		return fmt.Errorf("the other end of the socket belongs to user %d, not to user %d", uid, want)
	}
	return nil
}

// Own is a listener that accepts this user only.
type Own struct{ *net.UnixListener }

// Accept waits for the next connection of this user.
func (o Own) Accept() (net.Conn, error) {
	for {
		c, err := o.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if CheckPeer(c) == nil {
			return c, nil
		}
		_ = c.Close()
	}
}
