// Package forward sends calls to agents and their answers back, as bytes. Only two things in a body are changed: the
// server's name in the answers to initialize and server/discover, and the id of a request that is not unique on a
// session that several callers share, which is restored in the answer.
package forward

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/session/certs"
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

// NewHTTP is the upstream of an agent at this URL. An https one is verified against the certificates in the file ca,
// see certs.Trust, or the system's if that is "".
func NewHTTP(u *url.URL, ca string) flow.Upstream {
	if u.Scheme == "http" {
		return newPlain(u)
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		t, err := certs.Open(ca)
		if err != nil {
			return flow.Broken(err)
		}
		trust = t.Client(u.Hostname())
	}
	return direct{&http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialTimeout, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:        trust,
		TLSHandshakeTimeout:    dialTimeout,
		MaxIdleConns:           0, // each route has its own
		MaxIdleConnsPerHost:    idleConns,
		IdleConnTimeout:        idleTime,
		DisableCompression:     true, // the answer's bytes are passed on as they are
		MaxResponseHeaderBytes: maxHeader,
		ForceAttemptHTTP2:      true,
		WriteBufferSize:        16 << 10,
		ReadBufferSize:         16 << 10,
	}}
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
