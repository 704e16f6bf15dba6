package stack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"

	"github.com/mcphud/mcphud/session/base/listen"
)

// listenFree listens on the local port of a URL, to make sure that no other process does: whatever accepts connections
// there would pass for the server that is about to be started. Only syscall.EADDRINUSE is an error: a port that we may not
// open, or of another machine, is the server's own affair. The caller closes the listeners.
func listenFree(ctx context.Context, at string) ([]net.Listener, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, nil
	}
	hosts := []string{u.Hostname()}
	if strings.EqualFold(u.Hostname(), "localhost") {
		hosts = []string{"127.0.0.1", "::1"}
	} else if _, err := netip.ParseAddr(u.Hostname()); err != nil {
		return nil, nil // a name may belong to another machine
	}
	var open []net.Listener
	for _, host := range hosts {
		var c net.ListenConfig
		ln, err := c.Listen(ctx, "tcp", net.JoinHostPort(host, listen.PortOf(u)))
		if errors.Is(err, syscall.EADDRINUSE) {
			closeListeners(open)
			return nil, syscall.EADDRINUSE
		}
		if err == nil {
			open = append(open, ln)
		}
	}
	return open, nil
}

func closeListeners(lns []net.Listener) {
	for _, ln := range lns {
		_ = ln.Close()
	}
}

// checkFree returns an error with the owner of the port of a server's URL, nil if the port is free.
func checkFree(at string) error {
	lns, err := listenFree(context.Background(), at)
	closeListeners(lns)
	if err != nil {
		port := portOf(at)
		return fmt.Errorf("cannot listen on port %d, which is taken%s: %w", port, holder(port), err)
	}
	return nil
}

// holder names the process that has a port, "" if that is not known.
func holder(port int) string {
	if who := listen.Holder(port); who != "" {
		return " by " + who
	}
	return ""
}

// claim reserves the port of a server's URL. One that is taken is a *TakenError.
func (p *ports) claim(name, at string) {
	if p.err != nil {
		return
	}
	port := portOf(at)
	lns, err := listenFree(p.ctx, at)
	if err != nil {
		p.err = p.takenError(name, port)
		return
	}
	p.keep(name, port, lns)
}

// takenError is the error for a process whose port is taken.
func (p *ports) takenError(name string, port int) error {
	return &TakenError{port, fmt.Errorf("%s cannot listen on port %d, which is taken%s: %w", name, port, p.holder(port), syscall.EADDRINUSE)}
}
