package listen

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Guard keeps web pages out of a server on this machine: DNS rebinding shows in the Host header, a cross-site request in
// Origin. Host must name the loopback interface, the address that the connection came in on, or one of hosts, with the
// port of the listener; Origin, where there is one, must be that very server. Everything else is answered with 403 and
// {"error":"forbidden","detail":…}. A host of "*" allows any name, and any Origin equal to Host.
func Guard(next http.Handler, hosts ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := refusalReason(r, hosts); why != "" {
			forbid(w, why)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func refusalReason(r *http.Request, hosts []string) string {
	if len(r.Header.Values("Host")) > 0 { // net/http moves the one Host header into r.Host
		return "the Host header is given twice"
	}
	host, port := split(r.Host, r.TLS != nil)
	named := slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, r.Host) })
	local, known := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	var here netip.AddrPort
	if known {
		here = local.AddrPort()
	}
	if !named && !slices.Contains(hosts, "*") && !Loopback(host) && !slices.ContainsFunc(hosts, func(h string) bool { return strings.EqualFold(h, host) }) &&
		(!known || !isIP(host, here.Addr())) {
		return "Host does not name this server; address it as 127.0.0.1 or localhost"
	}
	// Behind a name that was allowed on purpose there may be another port.
	if known && !named && !isPort(port, here.Port()) && (Loopback(host) || isIP(host, here.Addr())) {
		return "Host names a port that this server does not listen on"
	}
	origins := r.Header.Values("Origin")
	switch {
	case len(origins) > 1:
		return "the Origin header is given twice"
	case len(origins) == 1 && !sameOrigin(origins[0], host, port, r.TLS != nil):
		return "cross-origin requests are refused"
	}
	return ""
}

func forbid(w http.ResponseWriter, why string) {
	body, err := json.Marshal(struct {
		Error  string `json:"error"`
		Detail string `json:"detail"`
	}{"forbidden", why})
	if err != nil { // two strings always marshal
		body = []byte(`{"error":"forbidden"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// standard is the port of a scheme.
func standard(tls bool) string {
	if tls {
		return "443"
	}
	return "80"
}

// split takes a Host header apart; the port is the standard one where it has none.
func split(hostport string, tls bool) (host, port string) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]"), standard(tls)
	}
	return host, port
}

func isIP(host string, ip netip.Addr) bool {
	x, err := netip.ParseAddr(host)
	return err == nil && x.Unmap() == ip.Unmap()
}

// isPort compares without an allocation: each request comes by.
func isPort(text string, port uint16) bool {
	var buf [5]byte
	return text == string(strconv.AppendUint(buf[:0], uint64(port), 10))
}

func sameOrigin(origin, host, port string, tls bool) bool {
	u, err := url.Parse(origin)
	if err != nil || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return false
	}
	scheme := "http"
	if tls {
		scheme = "https"
	}
	p := u.Port()
	if p == "" {
		p = standard(tls)
	}
	return u.Scheme == scheme && strings.EqualFold(u.Hostname(), host) && p == port
}

// Loopback reports whether a host, as in a URL, is this machine's loopback interface.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
