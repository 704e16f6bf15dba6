package transport

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/certs"
)

// Network is how requests get to the server of a configuration, and to others on its behalf, such as where its users log in:
// through its proxy, with its certificates, into its socket. Safe for concurrent use: but for asked nothing changes after NewNetwork.
type Network struct {
	server  config.Server
	url     *url.URL                         // http or https; one that stands for a socket is http
	socket  string                           // the path of a Unix socket; "" for the network
	trust   *certs.Trust                     // the file that the configuration names, for its host alone; nil for roots
	roots   *x509.CertPool                   // nil for what the system trusts
	client  *tls.Certificate                 // shown to the server's host alone; nil for none
	named   *url.URL                         // the proxy that the configuration names; nil for none
	given   func(*url.URL) (*url.URL, error) // the proxy for a URL, of the configuration or the environment; never nil
	proxies []string                         // of the environment, to know which of them are reached over TLS; "" among them for none
	asked   atomic.Bool                      // the server has asked for a client certificate
}

// ProxyVariable names the proxy for whatever names none, or config.NoProxy. It comes before HTTP_PROXY and its like.
const ProxyVariable = "MCPHUD_PROXY"

// Dial makes a connection, as net.Dialer.DialContext does.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// NewNetwork reads the files that a configuration names. The error is a *failure.Error.
func NewNetwork(cfg config.Server) (*Network, error) {
	bad := func(message, next string, err error) (*Network, error) {
		return nil, &failure.Error{Kind: failure.Usage, URL: mask.URL(cfg.URL), Err: err, Message: message, Next: next}
	}
	n := &Network{server: cfg}
	var err error
	if n.url, n.socket, err = config.Endpoint(cfg.URL); err != nil {
		return bad("\""+mask.URL(cfg.URL)+"\" "+err.Error(), "give it like http://127.0.0.1:3000/mcp", err)
	}
	if cfg.CA != "" && cfg.Insecure {
		return bad("a file of certificates was named, and that none is checked", "leave one of both out", nil)
	}
	if cfg.CA != "" {
		if n.trust, err = certs.Open(cfg.CA); err != nil {
			return bad(err.Error(), nameCA, err)
		}
	}
	if n.roots, err = certs.Roots(); err != nil {
		return bad(err.Error(), "correct "+certs.Variable+", or network.ca of config.yaml", err)
	}
	if cfg.ClientCert != "" || cfg.ClientKey != "" {
		if n.client, err = certs.Client(cfg.ClientCert, cfg.ClientKey); err != nil {
			return bad(err.Error(), "name a certificate and its private key, both in PEM", err)
		}
	}
	switch cfg.Proxy {
	case config.NoProxy:
		n.given = func(*url.URL) (*url.URL, error) { return nil, nil }
	case "":
		n.environment()
	default:
		if err := config.CheckProxy(cfg.Proxy); err != nil {
			return bad("what is named as the proxy "+err.Error(), "correct it", err)
		}
		n.named, _ = url.Parse(cfg.Proxy) // which CheckProxy did
		n.given = func(to *url.URL) (*url.URL, error) {
			if isLocal(to) && !sameOrigin(to, n.url) {
				return nil, nil
			}
			return n.named, nil
		}
	}
	return n, nil
}

// environment takes the proxies of the environment: that of ProxyVariable, else ALL_PROXY for what no other variable has.
func (n *Network) environment() {
	env := httpproxy.FromEnvironment()
	all := cmp.Or(os.Getenv("ALL_PROXY"), os.Getenv("all_proxy"))
	switch own := os.Getenv(ProxyVariable); own {
	case "":
	case config.NoProxy:
		env.HTTPProxy, env.HTTPSProxy, all = "", "", ""
	default:
		env.HTTPProxy, env.HTTPSProxy = own, own
	}
	for _, p := range []*string{&env.HTTPProxy, &env.HTTPSProxy} {
		if *p = cmp.Or(*p, all); strings.HasPrefix(*p, "socks://") { // as desktops write it
			*p = "socks5" + strings.TrimPrefix(*p, "socks")
		}
	}
	n.proxies = []string{env.HTTPProxy, env.HTTPSProxy}
	choose := env.ProxyFunc()
	n.given = func(to *url.URL) (*url.URL, error) {
		if isLocal(to) {
			return nil, nil
		}
		u, err := choose(to)
		if err == nil && u != nil {
			err = config.CheckProxy(u.String())
		}
		if err != nil {
			return nil, &proxyError{message: "what the environment names as the proxy is none", next: "correct " + ProxyVariable + ", HTTP_PROXY, HTTPS_PROXY or ALL_PROXY"}
		}
		return u, nil
	}
}

// isLocal reports whether a URL is one of this machine, by its name.
func isLocal(u *url.URL) bool { return listen.ReachOf(u) == listen.Machine }

// URL is where requests to the server go: http or https, also for a WebSocket or a Unix socket.
func (n *Network) URL() *url.URL { u := *n.url; return &u }

// Proxy is the proxy for requests to a URL, nil for none.
func (n *Network) Proxy(to *url.URL) (*url.URL, error) {
	if n.usesSocket(to) {
		return nil, nil
	}
	return n.given(to)
}

// usesSocket reports whether requests to a URL go into the server's Unix socket.
func (n *Network) usesSocket(to *url.URL) bool { return n.socket != "" && sameOrigin(to, n.url) }

// isServerHost reports whether a URL is of the server's host.
func (n *Network) isServerHost(to *url.URL) bool {
	return strings.EqualFold(to.Hostname(), n.url.Hostname())
}

// Private is what of the network is for the server alone, so that requests to it do not follow others elsewhere; "" for nothing.
func (n *Network) Private() string {
	switch {
	case n.socket != "":
		return "which is not in its socket"
	case n.trust != nil:
		return "for which no certificate was named"
	case n.server.Insecure:
		return "for which certificates are checked"
	case n.client != nil:
		return "for which the client certificate is not"
	}
	return ""
}

// Transport sends requests to one URL, and those of its host: what the configuration says of certificates holds for the server's
// host and for no other one. dial makes connections, to proxies and sockets as well.
func (n *Network) Transport(to *url.URL, dial Dial) *http.Transport {
	t := &http.Transport{TLSClientConfig: n.tls(to)}
	if n.usesSocket(to) {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, "unix", n.socket) }
		return t
	}
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		p, err := n.Proxy(r.URL)
		if p != nil && p.Scheme == "https" { // dialled with a configuration of its own
			plain := *p
			plain.Scheme, plain.Host = "http", hostPort(p)
			p = &plain
		}
		return p, err
	}
	t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if host := n.secure(addr); err == nil && host != "" {
			return n.startTLS(ctx, c, host)
		}
		return c, err
	}
	t.OnProxyConnectResponse = func(_ context.Context, p *url.URL, _ *http.Request, resp *http.Response) error {
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		return refusedByProxy(p.Host, resp.StatusCode, resp.Status)
	}
	return t
}

// Documents is a client for what is published about the server, at its host and others. It keeps no connections. A public name of
// another host that stands for an address nearer than the server is not connected to.
func (n *Network) Documents() *http.Client { return &http.Client{Transport: documents{n}} }

// MayLeadTo reports whether the server may send us to a URL unasked: not to one that is nearer than itself.
func (n *Network) MayLeadTo(to *url.URL) bool { return listen.ReachOf(to) >= listen.ReachOf(n.url) }

// documents is the RoundTripper of Documents.
type documents struct{ *Network }

// RoundTrip makes a connection for one request.
func (d documents) RoundTrip(req *http.Request) (*http.Response, error) {
	const patience = 10 * time.Second
	to, dialer := req.URL, &net.Dialer{Timeout: patience}
	if proxy, err := d.Proxy(to); err == nil && proxy == nil && !d.isServerHost(to) { // a proxy knows what the name stands for
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err == nil && listen.ReachOfIP(at.Addr()) < listen.ReachOf(d.url) {
				return fmt.Errorf("%s is %s here, an address of this machine or its network", to.Host, at.Addr())
			}
			return nil
		}
	}
	t := d.Transport(to, dialer.DialContext)
	t.TLSHandshakeTimeout, t.DisableKeepAlives, t.MaxResponseHeaderBytes = patience, true, 256<<10
	return t.RoundTrip(req)
}

// hostPort is the address that is dialled for a URL; a port that is left out is that of the scheme.
func hostPort(u *url.URL) string { return net.JoinHostPort(u.Hostname(), listen.PortOf(u)) }

// secure is the name of the proxy at an address that is reached over TLS, "" if it is none. net/http would trust such a proxy by the TLS
// configuration that is for the server, with its client certificate and its trust in one file: so it gets http:// for it, and TLS begins here.
func (n *Network) secure(addr string) string {
	all := []*url.URL{n.named}
	for _, raw := range n.proxies {
		if u, err := url.Parse(raw); err == nil {
			all = append(all, u)
		}
	}
	for _, u := range all {
		if u != nil && u.Scheme == "https" && hostPort(u) == addr {
			return u.Hostname()
		}
	}
	return ""
}

// startTLS makes a TLS connection to a proxy.
func (n *Network) startTLS(ctx context.Context, c net.Conn, host string) (net.Conn, error) {
	s := tls.Client(c, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, RootCAs: n.roots})
	if err := s.HandshakeContext(ctx); err != nil {
		_ = c.Close() // it is of no use
		return nil, err
	}
	return s, nil
}

// tls is the configuration for connections to the host of a URL.
func (n *Network) tls(to *url.URL) *tls.Config {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: n.roots}
	if !n.isServerHost(to) {
		return conf
	}
	conf.InsecureSkipVerify = n.server.Insecure
	if n.trust != nil {
		conf = n.trust.Client(to.Hostname())
	}
	conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		n.asked.Store(true)
		if n.client == nil {
			return &tls.Certificate{}, nil
		}
		return n.client, nil // also where its signer is not among those that the server lists: it can say why it refuses
	}
	return conf
}

// proxyError is a proxy that does not let a request through.
type proxyError struct{ message, next string }

func (e *proxyError) Error() string { return e.message }

// refusedByProxy is the error for a status that a proxy gave instead of letting a request through; line is its status line.
func refusedByProxy(host string, status int, line string) *proxyError {
	e := &proxyError{message: "the proxy " + host + " answered " + line, next: "check that the proxy may connect to the server, or use none"}
	if status == http.StatusProxyAuthRequired {
		e.message, e.next = "the proxy "+host+" wants a user name and a password", "put them into the proxy's URL: http://user:password@host:port"
	}
	return e
}
