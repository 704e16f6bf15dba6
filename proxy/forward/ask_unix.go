//go:build unix

package forward

import (
	"net/http"
	"syscall"
)

// ask writes a request and waits until something comes; errStale if something came before, in which case nothing is written.
// All of it is one reading from the connection to the runtime: what comes meanwhile wakes it, however early it comes, so that
// no read has to find out first that there is nothing yet.
func (c *conn) ask(r *http.Request) (err error) {
	sent := false
	waited := c.raw.Read(func(fd uintptr) bool {
		switch {
		case sent:
			return true
		case !c.since.IsZero() && !quiet(int(fd)):
			err = errStale
			return true
		}
		sent = true
		err = c.send(r)
		return err != nil
	})
	if err == nil {
		err = waited
	}
	return err
}

// quiet reports whether nothing has come over an idle connection: no end, and nothing else that nobody asked for.
func quiet(fd int) bool {
	var b [1]byte
	_, err := syscall.Read(fd, b[:])
	return err == syscall.EAGAIN || err == syscall.EWOULDBLOCK
}
