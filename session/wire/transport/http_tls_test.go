package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestS5_TLSFailures(t *testing.T) {
	leakChecked(t)
	now := time.Now()
	for name, c := range map[string]struct {
		host     string
		from, to time.Duration
		trust    bool
		words    []string
	}{
		"unknown authority": {"127.0.0.1", -time.Hour, time.Hour, false, []string{"unknown authority", "CN=Test CA", "network.ca"}},
		"expired":           {"127.0.0.1", -2 * time.Hour, -time.Hour, true, []string{"expired on", "renew"}},
		"not yet valid":     {"127.0.0.1", time.Hour, 2 * time.Hour, true, []string{"not valid before", "clock"}},
		"wrong host":        {"good.example", -time.Hour, time.Hour, true, []string{"is for good.example, not for 127.0.0.1"}},
		"fine":              {"127.0.0.1", -time.Hour, time.Hour, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			own := nettest.MakeCert(t, &x509.Certificate{
				Subject: pkix.Name{CommonName: "Test CA"}, NotBefore: now.Add(c.from), NotAfter: now.Add(c.to), IsCA: true,
			}, nil, c.host)
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer1) }))
			s.Config.ErrorLog = log.New(io.Discard, "", 0)
			s.TLS = &tls.Config{Certificates: []tls.Certificate{own.TLS}}
			s.StartTLS()
			t.Cleanup(s.Close)
			p := httpPeer(t, config.Server{URL: s.URL})
			roots := x509.NewCertPool()
			if c.trust {
				roots = own.Pool()
			}
			p.Transport.(*streamable).rt.TLSClientConfig = &tls.Config{RootCAs: roots}
			err := p.send(t, call("1", "ping"))
			if c.words == nil {
				assert.NoError(t, err)
				return
			}
			fails(t, err, failure.Transport, c.words...)
		})
	}
}

// Where there is no HTTP at all.
// TestHTTPToAnHTTPSServer: a URL that lacks an s is refused with what to do about it.
func TestHTTPToAnHTTPSServer(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	var h *HTTPError
	err := httpPeer(t, config.Server{URL: "http" + strings.TrimPrefix(s.URL, "https")}).send(t, call("1", "ping"))
	if !errors.As(err, &h) || !strings.Contains(h.Explain().Next, "https://") {
		t.Error(err)
	}
}

func TestS5_Unreachable(t *testing.T) {
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer1) })
	fails(t, httpPeer(t, config.Server{URL: strings.Replace(plain.URL, "http:", "https:", 1)}).send(t, call("1", "ping")),
		failure.Transport, "does not speak TLS", "http://")

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	talk := make(chan string, 1)
	served := make(chan struct{})
	go func() {
		defer close(served)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadAtLeast(c, make([]byte, 1000), 10)
			_, _ = io.WriteString(c, <-talk)
			_ = c.Close()
		}
	}()
	url := "http://" + l.Addr().String() + "/mcp?token=hunter2"
	for text, want := range map[string]string{"": "closed the connection without", "SSH-2.0-OpenSSH\r\n": "does not speak HTTP"} {
		talk <- text
		err := httpPeer(t, config.Server{URL: url}).send(t, call("1", "ping"))
		fails(t, err, failure.Transport, want)
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a secret is in %v", err)
		}
	}
	_ = l.Close()
	<-served
	fails(t, httpPeer(t, config.Server{URL: url}).send(t, call("1", "ping")), failure.Transport, "nothing listens at 127.0.0.1", "start the server")
	e := explainHTTP(&net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}, mustURL(t, "http://nowhere.invalid/"), time.Second)
	fails(t, e, failure.Transport, `no host named "nowhere.invalid"`)
	e = explainHTTP(&net.OpError{Op: "dial", Err: errTimeout{}}, mustURL(t, "http://h/"), 15*time.Second)
	fails(t, e, failure.Transport, "within 15s", "give it more time")
	assert.ErrorIs(t, httpPeer(t, config.Server{URL: url}).Send(canceled(), call("1", "x")), context.Canceled)
}

// A file vouches for one host: the server is trusted by it and nobody else is, also if the server says so.
func TestAFileVouchesForAServer(t *testing.T) {
	leakChecked(t)
	own, other := nettest.SelfSigned(t, "other.example"), nettest.SelfSigned(t, "other.example")
	start := func(served nettest.Pair, h http.HandlerFunc) string {
		s := httptest.NewUnstartedServer(h)
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{served.TLS}}
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	shown := make(chan string, 9)
	answer := func(w http.ResponseWriter, r *http.Request) {
		shown <- r.Header.Get("Authorization")
		_, _ = io.WriteString(w, answer1)
	}
	there := start(own, answer)
	away := start(own, func(w http.ResponseWriter, r *http.Request) {
		shown <- "away"
		http.Redirect(w, r, there, http.StatusTemporaryRedirect)
	})
	for name, c := range map[string]struct {
		url, ca string
		words   []string
		heard   string
	}{
		"its own":      {there, own.Cert, nil, "Bearer t0p-secret"},
		"another":      {start(other, answer), own.Cert, []string{"the certificate of 127.0.0.1 is not signed by one in " + own.Cert, "name the file"}, ""},
		"leads away":   {away, own.Cert, []string{"redirects to " + there, "no certificate was named"}, "away"},
		"not asked of": {there, "", []string{"is for other.example, not for 127.0.0.1"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := httpPeer(t, config.Server{URL: c.url, CA: c.ca, Headers: map[string]string{"Authorization": "Bearer t0p-secret"}})
			if err := p.send(t, call("1", "ping")); c.words == nil {
				assert.NoError(t, err)
			} else {
				fails(t, err, failure.Transport, c.words...)
			}
			heard := ""
			for len(shown) > 0 {
				heard += <-shown
			}
			if heard != c.heard {
				t.Errorf("it heard %q", heard)
			}
		})
	}
	missing := newHTTP(config.Server{URL: there, CA: own.Cert + ".none"}, Tap{})
	if err := missing.Start(t.Context(), nil); failure.KindOf(err) != failure.Usage || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

type errTimeout struct{}

func (errTimeout) Error() string   { return "i/o timeout" }
func (errTimeout) Timeout() bool   { return true }
func (errTimeout) Temporary() bool { return true }

func mustURL(t *testing.T, raw string) *url.URL {
	t.Helper()
	u, err := url.Parse(raw)
	require.NoError(t, err)
	return u
}

func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
