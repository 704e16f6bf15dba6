package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/wire/transport"
)

// url is the server's HTTP URL, nil for a command.
func (r *run) url() *url.URL {
	if r.network == nil {
		return nil
	}
	return r.network.URL()
}

// proxyURL is the proxy that requests go through, nil for none.
func (r *run) proxyURL() *url.URL {
	if r.network == nil {
		return nil
	}
	p, err := r.network.Proxy(r.url())
	if err != nil {
		return nil
	}
	return p
}

// proxyVariables are those that are looked at, by scheme; the first that is set is named.
var proxyVariables = map[string][]string{
	"https": {transport.ProxyVariable, "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"},
	"http":  {transport.ProxyVariable, "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"},
}

// proxy says which setting applies. It only asks the transport's own rules, so that it cannot name another one than is used.
func (r *run) proxy(s *Step) {
	u := r.url()
	if u == nil {
		s.skip("there is no host to reach")
		return
	}
	set := ""
	if r.server.Proxy != "" {
		set = "the entry" // which wins over the environment
		s.add("proxy of the entry: " + mask.URL(r.server.Proxy))
	}
	for _, name := range proxyVariables[u.Scheme] {
		if v := os.Getenv(name); v != "" && set == "" {
			set = name
			s.add(name + "=" + mask.URL(v))
		}
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if v := os.Getenv(name); v != "" && r.server.Proxy == "" {
			s.add(name + "=" + v)
			break
		}
	}
	_, err := r.network.Proxy(u)
	p := r.proxyURL()
	switch {
	case err != nil:
		s.setError(err)
	case p != nil:
		s.Evidence = append([]string{"through " + mask.URL(p.String()) + ", by " + set}, s.Evidence...)
	case r.server.Proxy == config.NoProxy:
		s.skip("the entry wants none")
	case set == transport.ProxyVariable && os.Getenv(set) == config.NoProxy:
		s.skip(set + " wants none")
	case set != "" && listen.ReachOf(u) == listen.Machine:
		s.skip("this machine is never reached through a proxy of the environment")
	case set != "":
		s.skip("NO_PROXY leaves " + u.Hostname() + " out")
	default:
		s.skip("no proxy is set")
	}
}

// dns waits for a lookup, or for a connection that needed none. A name may be looked up several times; the first failure counts.
func (r *run) dns(s *Step) {
	if r.url() == nil {
		s.skip("there is no host to look up")
		return
	}
	var all []lookup
	r.until(func() bool {
		done := false
		r.found.look(func() { all = r.found.lookups; done = len(all) > 0 || len(r.found.dials) > 0 })
		return done
	})
	r.found.look(func() { all = r.found.lookups })
	if len(all) == 0 {
		if host := r.url().Hostname(); r.proxyURL() == nil && net.ParseIP(host) == nil && r.isOver() && r.err != nil {
			s.skip("no name was looked up")
			return
		}
		if r.proxyURL() != nil && net.ParseIP(r.url().Hostname()) == nil {
			s.skip("the proxy looks the name up")
			return
		}
		s.skip("it is an address")
		return
	}
	for i, l := range all {
		if l.err != nil {
			if i == 0 || s.Status == Running {
				s.fail(failure.Transport, fmt.Sprintf("there is no address for %q: %s", l.host, reason(l.err)), "check the name in the URL, and the network")
			}
			continue
		}
		var v4, v6 []string
		for _, a := range l.addrs {
			if a.IP.To4() != nil {
				v4 = append(v4, a.String())
			} else {
				v6 = append(v6, a.String())
			}
		}
		line := fmt.Sprintf("%s in %s:", l.host, text.Duration(l.took))
		if len(v4) > 0 {
			line += " IPv4 " + strings.Join(v4, ", ")
		}
		if len(v6) > 0 {
			line += " IPv6 " + strings.Join(v6, ", ")
		}
		s.add(line)
	}
}

// reason is an error of the network without what it was about.
func reason(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return dns.Err
	case errors.As(err, &op):
		return op.Err.Error()
	}
	return err.Error()
}

// tcp waits until a connection was made. Addresses that failed before one that did not are shown, and are not a failure: clients try
// IPv6 and IPv4 side by side.
func (r *run) tcp(s *Step) {
	if r.failedBefore() || r.url() == nil {
		s.skip("there is no address to connect to")
		return
	}
	var all []dial
	done := func() bool {
		made := false
		r.found.look(func() {
			all = append([]dial(nil), r.found.dials...)
			for _, d := range all {
				made = made || d.err == nil
			}
		})
		return made
	}
	r.until(done)
	made := done()
	for _, d := range all {
		if d.err != nil {
			s.add(fmt.Sprintf("%s: %s, after %s", d.addr, reason(d.err), text.Duration(d.took)))
		} else {
			s.add(fmt.Sprintf("%s in %s", d.addr, text.Duration(d.took)))
		}
	}
	switch {
	case made:
	case len(all) == 0 && r.err == nil:
		s.skip("no connection was needed")
	default:
		if r.err == nil { // it went another way, as over a connection that was kept
			return
		}
		seen := s.Evidence
		s.Evidence = nil
		r.setFailed(s, r.err)
		if failure.KindOf(r.err) == failure.Usage {
			s.Kind = failure.Usage
		}
		if r.proxyURL() != nil {
			s.Fix = "start the proxy, or correct the variable that names it"
		}
		s.add(seen...)
	}
}

// tls waits until the server has shown its certificate, and warns two weeks before it expires.
func (r *run) tls(s *Step) {
	u := r.url()
	switch {
	case u == nil || r.failedBefore():
		s.skip("there is no connection")
		return
	case u.Scheme != "https" && listen.ReachOf(u) == listen.Anywhere:
		s.warn("the URL is not https: whoever is in between reads everything", "use https")
		return
	case u.Scheme != "https":
		s.skip("the URL is not https: nothing is encrypted")
		return
	}
	var all []secured
	done := func() bool {
		r.found.look(func() { all = append([]secured(nil), r.found.secured...) })
		return len(all) > 0
	}
	r.until(done)
	if !done() {
		if r.proxyURL() != nil {
			r.refusedByProxy(s)
			return
		}
		if r.wait() != nil {
			r.setFailed(s, r.err)
			return
		}
		s.skip("no handshake was needed")
		return
	}
	one := all[0] // later ones are to the same server, or to that of the login
	chain, verify := one.state.PeerCertificates, (*tls.CertificateVerificationError)(nil)
	if errors.As(one.err, &verify) {
		chain = verify.UnverifiedCertificates
	}
	if one.err != nil && len(chain) == 0 && r.proxyURL() == nil {
		chain = r.serverCertificates()
	}
	if one.err == nil {
		s.add(fmt.Sprintf("%s, %s, in %s", tls.VersionName(one.state.Version), tls.CipherSuiteName(one.state.CipherSuite), text.Duration(one.took)))
		if p := one.state.NegotiatedProtocol; p != "" {
			s.add("ALPN: " + p)
		}
	}
	for i, c := range chain {
		s.add(describe(i, c))
	}
	if one.err != nil {
		seen := s.Evidence
		s.Evidence = nil
		if r.wait() == nil {
			s.warn(reason(one.err), "")
		} else {
			r.setFailed(s, r.err)
			if len(chain) > 0 && chain[0].Issuer.String() == chain[0].Subject.String() && s.Remedy == failure.TrustAuthority {
				s.Evidence[0] = "self-signed: " + s.Evidence[0]
			}
		}
		s.add(seen...)
		return
	}
	if len(chain) > 0 {
		if left := time.Until(chain[0].NotAfter); left < 14*24*time.Hour {
			s.warn("the certificate expires in "+text.Duration(left.Round(time.Hour))+", on "+chain[0].NotAfter.Format(time.RFC3339), "renew it on the server")
		}
	}
}

// serverCertificates are the certificates that the server shows to whoever asks, where the refusal does not tell. Nothing else is said to it.
func (r *run) serverCertificates() []*x509.Certificate {
	u := r.url()
	ctx, cancel := context.WithTimeout(r.ctx, requestTime)
	defer cancel()
	// Not verified, as they are only shown, and were refused before.
	d := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, ServerName: u.Hostname(), InsecureSkipVerify: true}}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), listen.PortOf(u)))
	if err != nil {
		return nil
	}
	defer c.Close()
	if t, ok := c.(*tls.Conn); ok {
		return t.ConnectionState().PeerCertificates
	}
	return nil
}

// describe is a certificate in a line; i is its place in the chain, 0 for the server's own.
func describe(i int, c *x509.Certificate) string {
	names := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	who := c.Subject.String()
	if i == 0 {
		who = "certificate of " + who
	} else {
		who = "signed by " + who
	}
	if len(names) > 0 {
		who += " for " + strings.Join(names[:min(len(names), 8)], ", ")
	}
	return fmt.Sprintf("%s, valid %s to %s", who, c.NotBefore.Format(time.DateOnly), c.NotAfter.Format(time.DateOnly))
}

// refusedByProxy is a connection through a proxy that did not come about.
func (r *run) refusedByProxy(s *Step) {
	err := r.wait()
	if err == nil {
		s.skip("no handshake was needed")
		return
	}
	if errors.Is(err, context.DeadlineExceeded) || failure.KindOf(err) == failure.Timeout {
		s.setError(err)
		return
	}
	r.revise("proxy", func(proxy *Step) { r.setFailed(proxy, err) })
	s.skip("the proxy made no connection")
}
