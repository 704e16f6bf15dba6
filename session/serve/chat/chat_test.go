package chat

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

func newClient(t *testing.T, m Model) *Client {
	t.Helper()
	c, err := New(m)
	require.NoError(t, err)
	return c
}

// An API elsewhere is asked through the proxy of the environment, one on this machine never is.
func TestProxyOfTheEnvironment(t *testing.T) {
	const answer = `{"model":"m","choices":[{"message":{"role":"assistant","content":"hello"}}]}`
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Host != "model.example" {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(proxy.Close)
	near := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) }))
	t.Cleanup(near.Close)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"} {
		t.Setenv(name, "")
	}
	t.Setenv("ALL_PROXY", proxy.URL)
	for url, through := range map[string]int64{"http://model.example/v1": 1, near.URL + "/v1": 0} {
		c := newClient(t, Model{URL: url, Name: "m"})
		before := asked.Load()
		turn, _, err := c.Complete(t.Context(), Request{Messages: []Message{Says("user", "hi")}}, nil)
		c.Close()
		if err != nil || turn.Content == nil || *turn.Content != "hello" {
			t.Fatalf("%s: %+v, %v", url, turn, err)
		}
		if asked.Load()-before != through {
			t.Errorf("%s: %d requests at the proxy, want %d", url, asked.Load()-before, through)
		}
	}
}

// The API is reached as a server is: with the certificates that are named for it, and others are refused.
func TestCertificates(t *testing.T) {
	own, me := nettest.SelfSigned(t), nettest.SelfSigned(t, "me")
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"model":"m","choices":[{"message":{"role":"assistant","content":"hello"}}]}`)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{own.TLS}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: me.Pool()}
	s.StartTLS()
	t.Cleanup(s.Close)
	for name, c := range map[string]struct {
		via config.Server
		ok  bool
	}{
		"both":           {config.Server{CA: own.Cert, ClientCert: me.Cert, ClientKey: me.Key}, true},
		"not checked":    {config.Server{Insecure: true, ClientCert: me.Cert, ClientKey: me.Key}, true},
		"nothing":        {config.Server{ClientCert: me.Cert, ClientKey: me.Key}, false},
		"nobody":         {config.Server{CA: own.Cert}, false},
		"another's":      {config.Server{CA: me.Cert, ClientCert: me.Cert, ClientKey: me.Key}, false},
		"of the proxy's": {config.Server{CA: own.Cert, ClientCert: me.Cert, ClientKey: me.Key, Proxy: "http://127.0.0.1:1"}, false},
	} {
		m := Model{URL: s.URL + "/v1", Name: "m", Via: c.via}
		client := newClient(t, m)
		_, _, err := client.Complete(t.Context(), Request{Messages: []Message{Says("user", "hi")}}, nil)
		client.Close()
		if (err == nil) != c.ok || m.Unverified() != c.via.Insecure {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(Model{URL: s.URL, Via: config.Server{CA: own.Cert + ".none"}}); failure.KindOf(err) != failure.Usage {
		t.Errorf("a file that is not there: %v", err)
	}
}
