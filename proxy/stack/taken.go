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

	"github.com/mcphud/mcphud/session/listen"
)

// vacant opens the port of this machine that a URL points at, so that it can be told from one that somebody has: whatever
// accepts connections there would pass for the server that is about to be started. Only syscall.EADDRINUSE is an error: a
// port that we may not open, or of another machine, is for the server to find out about.
func vacant(ctx context.Context, at string) ([]net.Listener, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, nil
	}
	hosts := []string{u.Hostname()}
	if strings.EqualFold(u.Hostname(), "localhost") {
		hosts = []string{"127.0.0.1", "::1"}
	} else if _, err := netip.ParseAddr(u.Hostname()); err != nil {
		return nil, nil // a name that others may answer for
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

// unused says who has the port at which a server is to listen, nil if nobody does.
func unused(at string) error {
	lns, err := vacant(context.Background(), at)
	closeListeners(lns)
	if err != nil {
		port := portOf(at)
		return fmt.Errorf("cannot listen on port %d, which is taken%s: %w", port, holder(port), err)
	}
	return nil
}

// holder says which process has a port, "" where that is not known.
func holder(port int) string {
	if who := listen.Holder(port); who != "" {
		return " by " + who
	}
	return ""
}

// claim keeps the port of a server's URL from the others of the stack. One that somebody has is a *TakenError.
func (p *ports) claim(name, at string) {
	if p.err != nil {
		return
	}
	port := portOf(at)
	lns, err := vacant(p.ctx, at)
	if err != nil {
		p.err = p.taken(name, port)
		return
	}
	p.hold(name, port, lns)
}

// taken is the error of who asks for a port that somebody has.
func (p *ports) taken(name string, port int) error {
	return &TakenError{port, fmt.Errorf("%s cannot listen on port %d, which is taken%s: %w", name, port, p.by(port), syscall.EADDRINUSE)}
}
