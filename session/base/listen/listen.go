// Package listen opens the sockets of mcphud's own HTTP servers, and keeps out of them who has no business there.
package listen

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
)

// attempts is how many free ports of 127.0.0.1 are tried until one is free on ::1 too.
const attempts = 20

// Listen opens a TCP listener on host and port; port 0 picks a free one. Where host is 127.0.0.1, ::1, localhost or "", it
// opens both 127.0.0.1 and ::1 on the same port if the machine has ::1, since clients that say localhost try either. The
// first listener is the one to advertise. The error names the process that holds a taken port where the system tells.
func Listen(ctx context.Context, host string, port int) ([]net.Listener, error) {
	switch strings.ToLower(host) {
	case "", "localhost", "127.0.0.1", "::1":
	default:
		ln, err := open(ctx, host, port)
		if err != nil {
			return nil, err
		}
		return []net.Listener{ln}, nil
	}
	var last error
	for range attempts {
		first, err := open(ctx, "127.0.0.1", port)
		if err != nil {
			return nil, err
		}
		got := first.Addr().(*net.TCPAddr).Port
		second, err := open(ctx, "::1", got)
		if err == nil {
			return []net.Listener{first, second}, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) { // no IPv6 here
			return []net.Listener{first}, nil
		}
		_ = first.Close()
		if last = err; port != 0 {
			break
		}
	}
	return nil, last
}

func open(ctx context.Context, host string, port int) (net.Listener, error) {
	addr := net.JoinHostPort(host, strconv.Itoa(port))
	var c net.ListenConfig
	ln, err := c.Listen(ctx, "tcp", addr)
	if err == nil {
		return ln, nil
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		by := ""
		if who := holder(port); who != "" {
			by = " by " + who
		}
		return nil, fmt.Errorf("listen on %s: the port is taken%s: %w", addr, by, syscall.EADDRINUSE)
	}
	return nil, fmt.Errorf("listen on %s: %w; check the address, or choose another port", addr, err)
}

// Holder names the process that listens on a port of this machine, such as `"node" (pid 123)`; "" where that is not known.
func Holder(port int) string { return holder(port) }
