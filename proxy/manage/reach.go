package manage

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/listen"
)

const (
	reachTime = 2 * time.Second // to connect to an agent of this machine
	reachMost = 64              // at a time
)

// unreachable looks for the agents of this machine at whose ports nobody listens, with what the system says of that: a circuit breaker
// knows it after several requests only. Agents elsewhere are not tried, since there may be a proxy on the way to them.
func unreachable(ctx context.Context, table map[string]*routes.Route) map[*routes.Route]error {
	ctx, cancel := context.WithTimeout(ctx, reachTime)
	defer cancel()
	var (
		mu    sync.Mutex
		all   sync.WaitGroup
		gone  = map[*routes.Route]error{}
		slots = make(chan struct{}, reachMost)
	)
	for _, r := range table {
		if r.Disabled || r.Command != "" {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := unreachedRoute(ctx, r); err != nil {
				mu.Lock()
				gone[r] = err
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return gone
}

// unreachedRoute is why none of a route's upstreams can be reached, nil if one can, or may.
func unreachedRoute(ctx context.Context, r *routes.Route) (last error) {
	for _, one := range r.Replicas() {
		network, address := addressOf(one)
		if address == "" {
			return nil
		}
		c, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			_ = c.Close()
			return nil
		}
		last = err
	}
	return last
}

// addressOf is where to connect to an agent of this machine, "" for one elsewhere.
func addressOf(r *routes.Route) (network, address string) {
	u := r.Endpoint()
	switch {
	case u == nil:
		return "", ""
	case r.Socket != "":
		return "unix", r.Socket
	case !listen.Loopback(u.Hostname()):
		return "", ""
	}
	return "tcp", net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), portOf(u)))
}

func portOf(u *url.URL) string {
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
