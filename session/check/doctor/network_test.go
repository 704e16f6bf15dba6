package doctor_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check/doctor"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestAHealthyServerOverHTTP(t *testing.T) {
	t.Parallel()
	for _, mode := range []behave.Mode{behave.Good, behave.Modern} {
		r := diagnose(t, faketest.HTTP(t, mode, behave.Fault{}))
		if mode == behave.Good {
			healthy(t, r)
		} else {
			want(t, r, "rules", doctor.Warning, ": http-error-status", "-32601 with HTTP status 200")
		}
		want(t, r, "dns", doctor.Skipped, "it is an address")
		want(t, r, "tcp", doctor.OK, "127.0.0.1:")
		want(t, r, "tls", doctor.Skipped, "not https")
		want(t, r, "http", doctor.OK, "POST http://127.0.0.1:", "200 OK", "Content-Type: ")
		want(t, r, "path", doctor.Skipped)
		want(t, r, "oauth", doctor.Skipped, "asks for no login")
	}
	want(t, diagnose(t, faketest.SSE(t, behave.Good, behave.Fault{})), "era", doctor.Warning, "HTTP+SSE is deprecated")
}

// The session asks for the stream of changes beside the stages; a refusal that comes late is checked all the same.
func TestALateRefusalOfTheStreamIsChecked(t *testing.T) {
	t.Parallel()
	s := faketest.HTTP(t, behave.Modern, behave.Fault{})
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	to.Path = ""
	front := httputil.NewSingleHostReverseProxy(to)
	front.ErrorLog = log.New(io.Discard, "", 0) // the client ends the stream
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "subscriptions/listen" {
			time.Sleep(300 * time.Millisecond)
		}
		front.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	s.URL = slow.URL + "/mcp"
	want(t, diagnose(t, s), "rules", doctor.Warning, ": http-error-status", "-32601 with HTTP status 200")
}

// Why a server refuses the end of a session is said.
func TestARefusedEndOfASession(t *testing.T) {
	t.Parallel()
	for body, words := range map[string]string{"": "DELETE: HTTP/1.1 503 Service Unavailable", "busy: try later\n": "DELETE: HTTP/1.1 503 Service Unavailable: busy: try later"} {
		s := faketest.HTTP(t, behave.Good, behave.Fault{})
		to, err := url.Parse(s.URL)
		require.NoError(t, err)
		to.Path = ""
		front := httputil.NewSingleHostReverseProxy(to)
		front.ErrorLog = log.New(io.Discard, "", 0) // the client ends the stream
		refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				w.WriteHeader(http.StatusServiceUnavailable)
				_, _ = io.WriteString(w, body)
				return
			}
			front.ServeHTTP(w, r)
		}))
		t.Cleanup(refuses.Close)
		s.URL = refuses.URL + "/mcp"
		want(t, diagnose(t, s), "shutdown", doctor.Warning, words)
	}
}

func TestANameThatIsLookedUp(t *testing.T) {
	t.Parallel()
	s := faketest.HTTP(t, behave.Good, behave.Fault{})
	s.URL = strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	r := diagnose(t, s)
	want(t, r, "dns", doctor.OK, "localhost in ", "127.0.0.1")
	if !r.Connected() {
		t.Error(said(r))
	}
	s.URL = "http://mcphud.invalid/mcp"
	fails(t, diagnose(t, s), "dns", failure.Transport, `there is no address for "mcphud.invalid"`, "check the name")
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	s := config.Server{Name: "other", Transport: config.Auto, URL: "http://" + l.Addr().String() + "/mcp"}
	go func() { // what listens there is something else
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("220 mail.example.com ESMTP\r\n"))
			_ = c.Close()
		}
	}()
	fails(t, diagnose(t, s), "http", failure.Transport)
	free := httptest.NewServer(http.NotFoundHandler())
	s.URL = free.URL + "/mcp"
	free.Close()
	r := diagnose(t, s)
	fails(t, r, "tcp", failure.Transport, "nothing listens at 127.0.0.1:", "refused, after ", "start the server")
	want(t, r, "http", doctor.Skipped)
}

func TestTheWrongPath(t *testing.T) {
	t.Parallel()
	good := behave.Handler(behave.Good, behave.Fault{})
	for _, at := range []string{"/mcp", "/sse", "/"} {
		mux := http.NewServeMux()
		mux.HandleFunc("/", http.NotFound)
		if at == "/" {
			at = "/{$}"
		}
		mux.Handle(at, good)
		mux.Handle("/message", good)
		mux.HandleFunc("/docs", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>a page</html>") })
		srv := httptest.NewServer(mux)
		t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
		at = strings.TrimSuffix(at, "{$}")
		for _, wrong := range []string{"/wrong", "/docs"} {
			r := diagnose(t, config.Server{Name: "x", Transport: config.Auto, URL: srv.URL + wrong})
			want(t, r, "path", doctor.Failed, "a server answers at "+srv.URL+at, "as the URL")
			if e := r.Err(); e == nil || e.Kind != failure.Transport && e.Kind != failure.Protocol || !strings.Contains(e.Next, srv.URL+at) {
				t.Errorf("%+v", e)
			}
		}
	}
	fails(t, diagnose(t, faketest.HTTP(t, behave.Good, behave.Fault{Status: 503, Body: "no"})), "http", failure.Transport, "503", "the server's own log")
	fails(t, diagnose(t, faketest.HTTP(t, behave.Good, behave.Fault{Redirect: true})), "http", failure.Transport, "307 Temporary Redirect", "Location: ")
	hung := faketest.HTTP(t, behave.Good, behave.Fault{NoHeaders: true})
	hung.ConnectTimeout = 3 * time.Second
	fails(t, diagnose(t, hung), "http", failure.Timeout, "within 3s")
}

// secure is a good server behind a certificate, called by the name localhost.
func secure(t *testing.T, p nettest.Pair) config.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(behave.Handler(behave.Good, behave.Fault{}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{p.TLS}}
	srv.StartTLS()
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return config.Server{Name: "secure", Transport: config.HTTP, URL: srv.URL + "/mcp"}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	own := nettest.SelfSigned(t)
	s := secure(t, own)
	r := diagnose(t, s)
	fails(t, r, "tls", failure.Transport, "self-signed: ", "signed by an unknown authority", "certificate of CN=localhost for localhost, 127.0.0.1, valid 20", "name the PEM file")
	want(t, r, "http", doctor.Skipped)

	s.CA = own.Cert
	r = diagnose(t, s)
	want(t, r, "tls", doctor.Warning, "TLS 1.3, TLS_", "the certificate expires in ", "ALPN: ") // in an hour
	if !r.Connected() || r.Err() != nil {
		t.Error(said(r))
	}

	ca := nettest.SelfSigned(t, "some authority")
	old := nettest.MakeCert(t, &x509.Certificate{NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour)}, &ca)
	s = secure(t, old)
	s.CA = ca.Cert
	fails(t, diagnose(t, s), "tls", failure.Transport, "expired")

	s = secure(t, ca.Sign(t, "other.example.com"))
	s.CA = ca.Cert
	fails(t, diagnose(t, s), "tls", failure.Transport, "other.example.com", "IP SANs")

	plain := faketest.HTTP(t, behave.Good, behave.Fault{})
	plain.URL = "https" + strings.TrimPrefix(plain.URL, "http")
	fails(t, diagnose(t, plain), "tls", failure.Transport, "does not speak TLS", "http:// instead")
}

func TestProxies(t *testing.T) {
	t.Parallel()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "not you", http.StatusForbidden) }))
	t.Cleanup(refuses.Close)
	s := config.Server{Name: "far", Transport: config.HTTP, URL: "https://mcp.example.com/mcp", Proxy: refuses.URL}
	r := diagnose(t, s)
	fails(t, r, "proxy", failure.Transport, "answered 403 Forbidden", "through "+refuses.URL+", by the entry")
	want(t, r, "tls", doctor.Skipped, "the proxy made no connection")

	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	s.Proxy = gone.URL
	fails(t, diagnose(t, s), "tcp", failure.Transport, "the proxy does not answer", "refused, after")

	s.Proxy = "ftp://x"
	fails(t, diagnose(t, s), "config", failure.Usage)
}

func TestLogins(t *testing.T) {
	t.Parallel()
	logins := func(o *doctor.Options) { o.Session.Auth = &auth.Options{} }
	wants := authtest.Start(t, authtest.Knobs{})
	r := diagnose(t, wants.Config(), logins)
	want(t, r, "http", doctor.OK, "401 Unauthorized", "Www-Authenticate: Bearer")
	want(t, r, "handshake", doctor.Skipped, "wants a login first")
	want(t, r, "oauth", doctor.OK, "wants a login, and says where", "discover resource: done", "discover server: done", "/.well-known/oauth-protected-resource", "log in at the server")
	if r.Err() != nil || r.Connected() {
		t.Error(said(r))
	}

	broken := authtest.Start(t, authtest.Knobs{Metadata: func(doc map[string]any) { doc["issuer"] = "https://evil.example.com" }})
	fails(t, diagnose(t, broken.Config(), logins), "oauth", failure.OAuth, "evil.example.com", "RFC 8414 section 3.3")

	given := wants.Config()
	given.Headers = map[string]string{"Authorization": "Bearer wrong-token-123456"}
	r = diagnose(t, given, logins)
	if e := r.Err(); e == nil || e.Kind != failure.OAuth {
		t.Error(said(r))
	}
	assert.NotContains(t, said(r), "wrong-token-123456")

	key := faketest.HTTP(t, behave.Good, behave.Fault{Status: 401, Body: "an API key is needed"})
	r = diagnose(t, key, logins)
	if e := r.Err(); e == nil || e.Kind != failure.OAuth {
		t.Error(said(r))
	}
}
