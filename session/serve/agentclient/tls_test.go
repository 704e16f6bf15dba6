package agentclient

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// secure is a router over TLS with this certificate; asked is how many requests it saw, and port where it is.
func secure(t *testing.T, own nettest.Pair, answer http.HandlerFunc) (asked *atomic.Int64, port int) {
	t.Helper()
	asked = &atomic.Int64{}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		answer(w, r)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{own.TLS}}
	srv.StartTLS()
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	u, err := url.Parse(srv.URL)
	require.NoError(t, err)
	port, err = strconv.Atoi(u.Port())
	require.NoError(t, err)
	return asked, port
}

func TestR15_OverTLS(t *testing.T) {
	const token = "t0p-secret"
	own, other := nettest.SelfSigned(t, "router.example"), nettest.SelfSigned(t, "router.example")
	alone := nettest.MakeCert(t, &x509.Certificate{}, nil, "router.example")
	authority := nettest.SelfSigned(t, "Authority")
	signed, far := authority.Sign(t), authority.Sign(t, "router.example")
	for name, c := range map[string]struct {
		host   string
		ca     string
		served nettest.Pair
		says   string
	}{
		"its own, for another name":   {"https://127.0.0.1", own.Cert, own, ""},
		"its own, of no authority":    {"https://127.0.0.1", alone.Cert, alone, ""},
		"signed, by address":          {"https://127.0.0.1", authority.Cert, signed, ""},
		"signed, by name":             {"https://LOCALHOST", authority.Cert, signed, ""},
		"signed, for another name":    {"https://127.0.0.1", authority.Cert, far, "cannot validate certificate for 127.0.0.1"},
		"another of its name":         {"https://127.0.0.1", own.Cert, other, "the certificate of 127.0.0.1 is not signed by one in " + own.Cert},
		"another of its name, pinned": {"https://localhost", alone.Cert, own, "the certificate of localhost is not the one in " + alone.Cert},
		"that no system trusts":       {"https://127.0.0.1", "", signed, "unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			var shown atomic.Value
			asked, port := secure(t, c.served, func(w http.ResponseWriter, r *http.Request) {
				shown.Store(r.Header.Get("Authorization"))
				result(`{"x":1}`)(w, r)
			})
			client, err := New(Options{RouterHost: c.host, RouterPort: port, RouterCA: c.ca, AuthToken: token})
			require.NoError(t, err)
			defer client.Close()
			got, err := client.Request(t.Context(), "b", "ping", nil)
			if c.says == "" {
				if err != nil || string(got) != `{"x":1}` || shown.Load() != "Bearer "+token {
					t.Errorf("%s %v, shown %v", got, err, shown.Load())
				}
				return
			}
			if n := asked.Load(); n != 0 {
				t.Errorf("it was asked %d times", n)
			}
			for _, says := range []string{c.says, "the router at " + client.Router() + " is not trusted; nothing was sent", "in ROUTER_CA"} {
				if err == nil || failure.KindOf(err) != failure.Transport || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), token) {
					t.Errorf("%v does not say %q", err, says)
				}
			}
			if _, err := client.Agents(t.Context()); err == nil || asked.Load() != 0 {
				t.Errorf("its agents: %v", err)
			}
		})
	}
}

// The token goes nowhere but to the router, also if that says so.
func TestARedirectOverTLSIsNotFollowed(t *testing.T) {
	own := nettest.SelfSigned(t)
	elsewhere, there := secure(t, own, result(`{}`))
	var to string
	_, port := secure(t, own, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	})
	client, err := New(Options{RouterHost: "https://localhost", RouterPort: port, RouterCA: own.Cert, AuthToken: "s3cret"})
	require.NoError(t, err)
	defer client.Close()
	for _, to = range []string{"https://localhost:" + strconv.Itoa(there) + "/mcps/b/mcp", "/elsewhere"} {
		if _, err := client.Request(t.Context(), "b", "ping", nil); err == nil || !strings.Contains(err.Error(), "307") || elsewhere.Load() != 0 {
			t.Errorf("%s: %v, %d requests there", to, err, elsewhere.Load())
		}
	}
}

// Whoever takes http for https, or the other way, is told.
func TestTheOtherScheme(t *testing.T) {
	own := nettest.SelfSigned(t)
	_, plain := serve(t, Options{}, result(`{}`))
	asked, port := secure(t, own, result(`{}`))
	_, at, _ := strings.Cut(plain.Router(), ":")
	plainPort, err := strconv.Atoi(at)
	require.NoError(t, err)
	for says, o := range map[string]Options{
		"does not speak TLS; nothing was sent; write http://": {RouterHost: "https://127.0.0.1", RouterPort: plainPort, RouterCA: own.Cert, AuthToken: "s3cret"},
		"write https:// before the host in ROUTER_HOST":       {RouterPort: port, AuthToken: "s3cret"},
	} {
		client, err := New(o)
		require.NoError(t, err)
		_, err = client.Request(t.Context(), "b", "ping", nil)
		client.Close()
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	assert.Equalf(t, asked.Load(), 0, "requests")
}

func TestACertificateThatCannotBe(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.pem")
	require.NoError(t, os.WriteFile(text, []byte("swordfish"), 0o600))
	own := nettest.SelfSigned(t)
	for says, o := range map[string]Options{
		"no such file":                {RouterHost: "https://x", RouterCA: text + ".none"},
		"no certificate in":           {RouterHost: "https://x", RouterCA: text},
		"is not a regular file":       {RouterHost: "https://x", RouterCA: filepath.Dir(text)},
		"write https:// before":       {RouterHost: "x", RouterCA: own.Cert},
		"remove the certificate":      {RouterHost: "http://x", RouterCA: own.Cert},
		"a router certificate is set": {RouterCA: own.Cert},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), o.RouterCA) || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%+v: %v, want %q", o, err, says)
		}
	}
}
