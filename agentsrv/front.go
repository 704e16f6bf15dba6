package agentsrv

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// bodyTimeout is how long a client may take to send the body of one request.
const bodyTimeout = 30 * time.Second

// Handler is the agent's whole HTTP surface: the MCP endpoint at Path, and 404 elsewhere. A web page must not be able to
// drive it, so that a request whose Host is not a loopback name with the port it arrived on, or whose Origin is not this
// very server, is answered with 403.
func (a *Agent) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(Path, http.HandlerFunc(a.serveMCP))
	return guard(mux)
}

func (a *Agent) serveMCP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		a.http.ServeHTTP(w, r)
		return
	}
	if !bufferBody(w, r) {
		return
	}
	s := &stream{ResponseWriter: w}
	a.http.ServeHTTP(s, s.attach(r))
}

// guard keeps web pages out: DNS rebinding shows in Host, a cross-site request in Origin.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !allowedHost(r) {
			http.Error(w, fmt.Sprintf("Host %q is not this server; use 127.0.0.1 or localhost with the port it listens on", r.Host), http.StatusForbidden)
			return
		}
		if origins := r.Header.Values("Origin"); len(origins) > 1 || len(origins) == 1 && !sameOrigin(origins[0], r.Host) {
			http.Error(w, "requests from another origin are not answered", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allowedHost reports whether Host names this machine's loopback and, where the connection tells, the port of it.
func allowedHost(r *http.Request) bool {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = strings.Trim(r.Host, "[]"), "80"
	}
	if !loopback(host) {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true
	}
	_, localPort, err := net.SplitHostPort(local.String())
	return err != nil || port == localPort
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && u.User == nil && u.Path == "" && strings.EqualFold(u.Host, host)
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// bufferBody reads the whole body under a limit and a deadline, and puts it back; it answers the request itself and
// returns false when that fails.
func bufferBody(w http.ResponseWriter, r *http.Request) bool {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		http.Error(w, fmt.Sprintf("Content-Encoding %q is not accepted; send the body as it is", enc), http.StatusUnsupportedMediaType)
		return false
	}
	rc := http.NewResponseController(w)
	// Not every ResponseWriter (httptest's for one) has deadlines; the limit below holds anyway.
	_ = rc.SetReadDeadline(time.Now().Add(bodyTimeout))
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	_ = rc.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
		w.Header().Set("Connection", "close")
		http.Error(w, "the body did not arrive", http.StatusRequestTimeout)
		return false
	case len(body) > MaxBody:
		w.Header().Set("Connection", "close")
		http.Error(w, fmt.Sprintf("the body is larger than %d bytes", MaxBody), http.StatusRequestEntityTooLarge)
		return false
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return true
}
