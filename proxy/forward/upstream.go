// Package forward sends calls to agents and their answers back, as bytes. Only two things in a body are changed: the
// server's name in the answers to initialize and server/discover, and the id of a request that is not unique on a
// session that several callers share, which is restored in the answer.
package forward

import (
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/wire/transport"
)

const (
	dialTimeout = 5 * time.Second
	// idleTime is below the 5 s after which Node's servers close a connection, so that they do not close one just as a
	// request is sent.
	idleTime  = 4 * time.Second
	idleConns = 256
	maxHeader = 256 << 10
)

// direct is net/http's own way, for HTTPS.
type direct struct{ *http.Transport }

// NewHTTP is the upstream of an agent at a URL or port, through the proxy and with the certificates that its route names, see
// [transport.Network]; without them those of the environment and the system.
func NewHTTP(r *routes.Route) flow.Upstream {
	u := r.Endpoint()
	network, err := transport.NewNetwork(r.Server())
	if err != nil {
		return flow.Broken(err)
	}
	if proxy, err := network.Proxy(u); u.Scheme == "http" && r.Socket == "" && proxy == nil && err == nil {
		return newPlain(u)
	}
	t := network.Transport(u, (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext)
	t.TLSHandshakeTimeout = dialTimeout
	t.MaxIdleConns = 0 // each route has its own
	t.MaxIdleConnsPerHost = idleConns
	t.IdleConnTimeout = idleTime
	t.DisableCompression = true // the answer's bytes are passed on as they are
	t.MaxResponseHeaderBytes = maxHeader
	t.ForceAttemptHTTP2 = true
	t.WriteBufferSize, t.ReadBufferSize = 16<<10, 16<<10
	return direct{t}
}

// Close closes idle connections.
func (d direct) Close() error {
	d.CloseIdleConnections()
	return nil
}

// origin is a URL as it may be shown and compared: without user, password, query and fragment.
func origin(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath()
}
