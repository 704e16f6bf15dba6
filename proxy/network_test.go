package proxy

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

// A route says by which certificate its agent is trusted, which one to present there, and which proxy is on the way.
func TestRouteNetwork(t *testing.T) {
	t.Parallel()
	plain := newAgent(t)
	own := nettest.SelfSigned(t)
	secure := httptest.NewUnstartedServer(plain.Config.Handler)
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{own.TLS}, ClientCAs: own.Pool(), ClientAuth: tls.RequireAndVerifyClientCert}
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	var asked atomic.Int64
	forward := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		out, err := http.NewRequestWithContext(r.Context(), r.Method, plain.URL+r.URL.Path, r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		out.Header = r.Header
		res, err := http.DefaultTransport.RoundTrip(out)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
		w.Header().Set("Mcp-Session-Id", res.Header.Get("Mcp-Session-Id"))
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(forward.Close)
	client := `"clientCert":"` + own.Cert + `","clientKey":"` + own.Key + `"`
	f := start(
		t, Options{},
		route("trusted", secure.URL+"/mcp", client+`,"ca":"`+own.Cert+`"`),
		route("insecure", secure.URL+"/mcp", client+`,"insecure":true`),
		route("anonymous", secure.URL+"/mcp", `"ca":"`+own.Cert+`"`),
		route("unknown", secure.URL+"/mcp", client),
		route("far", "http://agent.example/mcp", `"proxy":"`+forward.URL+`"`),
		route("near", plain.at(), `"proxy":"none"`),
	)
	for name, ok := range map[string]bool{"trusted": true, "insecure": true, "anonymous": false, "unknown": false, "far": true, "near": true} {
		got := f.post(t, "/mcps/"+name+"/mcp", callEcho)
		if ok && (got.status != 200 || !strings.Contains(got.body, "up-")) || !ok && got.status != 502 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if asked.Load() == 0 {
		t.Error("nothing went through the proxy")
	}
}

// An agent at a Unix socket is called as any other, and an error names the socket.
func TestRouteToASocket(t *testing.T) {
	t.Parallel()
	plain := newAgent(t)
	socket := filepath.Join(shortFolder(t), "agent.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip("no Unix sockets: " + err.Error())
	}
	var path atomic.Value
	srv := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path.Store(r.Host + r.URL.Path)
		plain.ServeHTTP(w, r)
	})}}
	srv.Start()
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	f := start(t, Options{}, route("near", "unix://"+socket+":/x/mcp", ""), route("none", "unix://"+socket+".none:/mcp?token=swordfish", ""))
	for range 3 {
		if got := f.post(t, "/mcps/near/mcp", callEcho); got.status != 200 || !strings.Contains(got.body, "up-") || path.Load() != "localhost/x/mcp" {
			t.Errorf("%v: %+v", path.Load(), got)
		}
	}
	if got := f.post(t, "/mcps/none/mcp", callEcho); got.status != 502 || strings.Contains(got.body, "swordfish") {
		t.Errorf("%+v", got)
	}
}

// shortFolder is a folder whose path leaves room for the name of a socket.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "m")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
