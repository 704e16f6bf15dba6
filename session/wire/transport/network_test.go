package transport

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// tlsServer answers every call with answer1, over TLS.
func tlsServer(t *testing.T, conf *tls.Config) *httptest.Server {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer1) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS, s.EnableHTTP2 = conf, true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// proxy is one that leads to a single place, whatever host is asked for.
type proxy struct {
	*httptest.Server
	to string // host:port

	mu    sync.Mutex
	asked []string // first lines of requests
	user  string   // "user:password" that it wants; "" for none
}

func newProxy(t *testing.T, to string, conf *tls.Config) *proxy {
	p := &proxy{to: to}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(p.serve))
	p.Config.ErrorLog = log.New(io.Discard, "", 0)
	if p.TLS = conf; conf != nil {
		p.StartTLS()
	} else {
		p.Start()
	}
	t.Cleanup(p.Close)
	return p
}

func (p *proxy) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked = append(p.asked, r.Method+" "+r.RequestURI)
	user := p.user
	p.mu.Unlock()
	if user != "" && r.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(user)) {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	up, err := net.Dial("tcp", p.to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = up.Close() }()
	if r.Method != http.MethodConnect {
		if err := r.Write(up); err != nil {
			return
		}
		resp, err := http.ReadResponse(bufio.NewReader(up), r)
		if err == nil {
			w.WriteHeader(resp.StatusCode)
			_, _ = io.Copy(w, resp.Body)
			_ = resp.Body.Close()
		}
		return
	}
	down, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(down, "HTTP/1.1 200 Connection established\r\n\r\n")
	tunnel(down, up)
}

// tunnel copies both ways until one side ends.
func tunnel(a, b net.Conn) {
	var wg sync.WaitGroup
	for _, c := range [][2]net.Conn{{a, b}, {b, a}} {
		wg.Go(func() {
			_, _ = io.Copy(c[0], c[1])
			_ = c[0].Close()
			_ = c[1].Close()
		})
	}
	wg.Wait()
}

func (p *proxy) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked
}

func (p *proxy) want(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.user = user
}

// clearProxies lets no variable of the environment name a proxy.
func clearProxies(t *testing.T) {
	for _, name := range []string{ProxyVariable, "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		t.Setenv(name, "")
		t.Setenv(strings.ToLower(name), "")
	}
}

// A named proxy takes the requests, over HTTP and TLS, with its credentials, which are shown nowhere.
func TestNamedProxy(t *testing.T) {
	leakChecked(t)
	clearProxies(t)
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer1) })
	own := nettest.SelfSigned(t, "mcp.example")
	secure := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{own.TLS}})
	toPlain, toSecure := newProxy(t, plain.Listener.Addr().String(), nil), newProxy(t, secure.Listener.Addr().String(), nil)
	toPlain.want("me:hunter2-pass")
	toSecure.want("me:hunter2-pass")
	named := func(p *proxy, user string) string { return strings.Replace(p.URL, "://", "://"+user, 1) }
	for name, c := range map[string]struct {
		cfg   config.Server
		proxy *proxy
		asked string
		words []string
	}{
		"forwarded":        {config.Server{URL: "http://mcp.example/mcp", Proxy: named(toPlain, "me:hunter2-pass@")}, toPlain, "POST http://mcp.example/mcp", nil},
		"tunnelled":        {config.Server{URL: "https://mcp.example/mcp", CA: own.Cert, Proxy: named(toSecure, "me:hunter2-pass@")}, toSecure, "CONNECT mcp.example:443", nil},
		"on this machine":  {config.Server{URL: "http://localhost:1/mcp", Proxy: named(toPlain, "me:hunter2-pass@")}, toPlain, "POST http://localhost:1/mcp", nil},
		"refused, plain":   {config.Server{URL: "http://mcp.example/mcp", Proxy: named(toPlain, "me:hunter3-pass@")}, toPlain, "", []string{"wants a user name and a password", "user:password@host"}},
		"refused, tunnel":  {config.Server{URL: "https://mcp.example/mcp", CA: own.Cert, Proxy: named(toSecure, "me:hunter3-pass@")}, toSecure, "", []string{toSecure.Listener.Addr().String() + " wants a user name"}},
		"no way":           {config.Server{URL: "https://mcp.example/mcp", Proxy: named(newProxy(t, "127.0.0.1:1", nil), "")}, nil, "", []string{"answered 502 Bad Gateway"}},
		"not there":        {config.Server{URL: "https://mcp.example/mcp", Proxy: "http://me:hunter2-pass@127.0.0.1:1"}, nil, "", []string{"the proxy does not answer"}},
		"not there, SOCKS": {config.Server{URL: "https://mcp.example/mcp", Proxy: "socks5://127.0.0.1:1"}, nil, "", []string{"the proxy does not answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := httpPeer(t, c.cfg)
			before := 0
			if c.proxy != nil {
				before = len(c.proxy.requests())
			}
			if err := p.send(t, call("1", "ping")); c.words != nil {
				e := explained(err)
				fails(t, e, failure.Transport, c.words...)
				if failure.RemedyOf(e) != failure.ChooseProxy || strings.Contains(e.Error(), "hunter") {
					t.Errorf("%q: %v", failure.RemedyOf(e), e)
				}
			} else if asked := c.proxy.requests()[before:]; err != nil || len(asked) != 1 || asked[0] != c.asked {
				t.Errorf("asked %q: %v", asked, err)
			}
			assert.NotContains(t, p.journal(journal.HTTP), "hunter")
		})
	}
}

func explained(err error) error {
	if h, ok := err.(*HTTPError); ok {
		return h.Explain()
	}
	return err
}

// The environment decides where nothing is named: ALL_PROXY last, hosts of NO_PROXY and this machine not at all.
func TestProxyOfTheEnvironment(t *testing.T) {
	for name, c := range map[string]struct {
		env     map[string]string
		cfg     config.Server
		proxied string // what is asked, "" for no proxy
		words   string
	}{
		"by scheme":          {map[string]string{"HTTP_PROXY": "http://p:1", "ALL_PROXY": "http://q:1"}, config.Server{URL: "http://mcp.example/"}, "http://p:1", ""},
		"the rest":           {map[string]string{"HTTP_PROXY": "http://p:1", "ALL_PROXY": "socks5://q:1"}, config.Server{URL: "https://mcp.example/"}, "socks5://q:1", ""},
		"of desktops":        {map[string]string{"all_proxy": "socks://q:1"}, config.Server{URL: "https://mcp.example/"}, "socks5://q:1", ""},
		"lower case":         {map[string]string{"https_proxy": "p:1"}, config.Server{URL: "https://mcp.example/"}, "http://p:1", ""},
		"a WebSocket":        {map[string]string{"HTTPS_PROXY": "http://p:1"}, config.Server{URL: "wss://mcp.example/"}, "http://p:1", ""},
		"excepted":           {map[string]string{"ALL_PROXY": "http://q:1", "NO_PROXY": ".example"}, config.Server{URL: "https://mcp.example/"}, "", ""},
		"this machine":       {map[string]string{"ALL_PROXY": "http://q:1"}, config.Server{URL: "https://a.localhost/"}, "", ""},
		"a socket":           {map[string]string{"ALL_PROXY": "http://q:1"}, config.Server{URL: "unix:///run/x.sock"}, "", ""},
		"none":               {map[string]string{"ALL_PROXY": "http://q:1"}, config.Server{URL: "https://mcp.example/", Proxy: config.NoProxy}, "", ""},
		"another":            {map[string]string{"ALL_PROXY": "http://q:1", "NO_PROXY": "*"}, config.Server{URL: "https://mcp.example/", Proxy: "https://p:1"}, "https://p:1", ""},
		"the user's":         {map[string]string{"MCPHUD_PROXY": "http://u:1", "HTTPS_PROXY": "http://p:1"}, config.Server{URL: "https://mcp.example/"}, "http://u:1", ""},
		"but for":            {map[string]string{"MCPHUD_PROXY": "http://u:1", "NO_PROXY": ".example"}, config.Server{URL: "https://mcp.example/"}, "", ""},
		"its own":            {map[string]string{"MCPHUD_PROXY": "http://u:1"}, config.Server{URL: "https://mcp.example/", Proxy: "http://p:1"}, "http://p:1", ""},
		"wants none":         {map[string]string{"MCPHUD_PROXY": "none", "ALL_PROXY": "http://q:1"}, config.Server{URL: "https://mcp.example/"}, "", ""},
		"the user's is none": {map[string]string{"MCPHUD_PROXY": "gopher://me:hunter2@q:1"}, config.Server{URL: "https://mcp.example/"}, "", "what the environment names"},
		"no proxy":           {map[string]string{"ALL_PROXY": "gopher://me:hunter2@q:1"}, config.Server{URL: "https://mcp.example/"}, "", "what the environment names"},
	} {
		t.Run(name, func(t *testing.T) {
			clearProxies(t)
			for k, v := range c.env {
				t.Setenv(k, v)
			}
			n, err := NewNetwork(c.cfg)
			require.NoError(t, err)
			u, err := n.Proxy(n.URL())
			if c.words != "" {
				if err == nil || !strings.Contains(err.Error(), c.words) || strings.Contains(err.Error(), "hunter2") {
					t.Error(err)
				}
				return
			}
			got := ""
			if u != nil {
				got = u.String()
			}
			if err != nil || got != c.proxied {
				t.Errorf("%q, %v; want %q", got, err, c.proxied)
			}
		})
	}
}

// A proxy over TLS is verified by the system, not by the file for the server, and sees no client certificate. That it is not
// trusted says so, and that the proxy was reached by TLS.
func TestProxyOverTLS(t *testing.T) {
	leakChecked(t)
	clearProxies(t)
	own, own2 := nettest.SelfSigned(t), nettest.SelfSigned(t)
	server := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{own.TLS}})
	p := newProxy(t, server.Listener.Addr().String(), &tls.Config{Certificates: []tls.Certificate{own2.TLS}})
	for _, ca := range []string{own.Cert, own2.Cert} {
		err := httpPeer(t, config.Server{URL: "https://mcp.example/mcp", CA: ca, Proxy: p.URL}).send(t, call("1", "ping"))
		fails(t, err, failure.Transport, "the proxy does not answer", "certificate")
	}
	assert.Equalf(t, len(p.requests()), 0, "a proxy was used that nobody vouches for")
}

// A SOCKS proxy is given the name of the host.
func TestSOCKSProxy(t *testing.T) {
	leakChecked(t)
	clearProxies(t)
	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer1) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	names := make(chan string, 9)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { socks(c, plain.Listener.Addr().String(), names) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	proxy := "socks5://" + l.Addr().String()
	p := httpPeer(t, config.Server{URL: "http://mcp.example/mcp", Proxy: proxy})
	assert.NoError(t, p.send(t, call("1", "ping")))
	if got := <-names; got != "mcp.example" {
		t.Errorf("the proxy heard of %q", got)
	}
	fails(t, httpPeer(t, config.Server{URL: "http://refused.example/mcp", Proxy: proxy}).send(t, call("1", "ping")),
		failure.Transport, "the SOCKS proxy does not connect to refused.example")
	_ = p.Close()
}

// socks is one connection of a SOCKS5 proxy (RFC 1928).
func socks(c net.Conn, to string, names chan<- string) {
	defer func() { _ = c.Close() }()
	r := bufio.NewReader(c)
	head := make([]byte, 2)
	if _, err := io.ReadFull(r, head); err != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, r, int64(head[1]))
	_, _ = c.Write([]byte{5, 0})
	request := make([]byte, 5)
	if _, err := io.ReadFull(r, request); err != nil || request[3] != 3 {
		return
	}
	name := make([]byte, request[4])
	var port uint16
	if _, err := io.ReadFull(r, name); err != nil || binary.Read(r, binary.BigEndian, &port) != nil {
		return
	}
	if string(name) == "refused.example" {
		_, _ = c.Write([]byte{5, 5, 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	names <- string(name)
	up, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	_, _ = c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	tunnel(c, up)
}

// A server that wants to know who connects is told, and no other host is.
func TestClientCertificate(t *testing.T) {
	leakChecked(t)
	own, me, other := nettest.SelfSigned(t), nettest.SelfSigned(t, "me"), nettest.SelfSigned(t, "other")
	s := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{own.TLS}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: me.Pool()})
	both := filepath.Join(t.TempDir(), "both.pem")
	var text []byte
	for _, file := range []string{me.Cert, me.Key} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		text = append(text, b...)
	}
	writeFile(t, both, string(text), 0o600)
	for name, c := range map[string]struct {
		cert, key string
		words     []string
	}{
		"two files": {me.Cert, me.Key, nil},
		"one file":  {both, "", nil},
		"none":      {"", "", []string{"wants a client certificate", "name one with its private key"}},
		"another":   {other.Cert, other.Key, []string{"refused the client certificate"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := httpPeer(t, config.Server{URL: s.URL, CA: own.Cert, ClientCert: c.cert, ClientKey: c.key})
			err := p.send(t, call("1", "ping"))
			if c.words == nil {
				assert.NoError(t, err)
				return
			}
			fails(t, err, failure.Transport, c.words...)
			assert.Equal(t, failure.RemedyOf(err), failure.GiveCertificate)
		})
	}
	n, err := NewNetwork(config.Server{URL: s.URL, ClientCert: me.Cert, ClientKey: me.Key, Insecure: true})
	require.NoError(t, err)
	if conf := n.Transport(mustURL(t, "https://login.example/"), nil).TLSClientConfig; conf.GetClientCertificate != nil || conf.InsecureSkipVerify {
		t.Error("what is for the server is for another host")
	}
}

func writeFile(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.WriteFile(file, []byte(text), mode))
	if err := os.Chmod(file, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
}

// What settings cannot mean is said before anything is sent.
func TestNetworkSettings(t *testing.T) {
	me := nettest.SelfSigned(t, "me")
	open := filepath.Join(t.TempDir(), "open.pem")
	key, err := os.ReadFile(me.Key)
	require.NoError(t, err)
	writeFile(t, open, string(key), 0o644)
	locked, old := open+".locked", open+".old"
	writeFile(t, locked, "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n", 0o600)
	writeFile(t, old, "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n", 0o600)
	for name, c := range map[string]struct {
		cfg  config.Server
		want string
	}{
		"open key":     {config.Server{ClientCert: me.Cert, ClientKey: open}, "is open to others (mode 0644): chmod 600"},
		"passphrase":   {config.Server{ClientCert: me.Cert, ClientKey: locked}, "has a passphrase: write one without it"},
		"old locked":   {config.Server{ClientCert: me.Cert, ClientKey: old}, "has a passphrase: write one without it"},
		"no key":       {config.Server{ClientCert: me.Cert}, "no private key in " + me.Cert},
		"swapped":      {config.Server{ClientCert: me.Key, ClientKey: me.Key}, "no certificate in " + me.Key},
		"another key":  {config.Server{ClientCert: me.Cert, ClientKey: nettest.SelfSigned(t).Key}, "cannot be used with the key"},
		"missing":      {config.Server{ClientCert: me.Cert + ".none", ClientKey: me.Key}, "no such file"},
		"missing key":  {config.Server{ClientCert: me.Cert, ClientKey: me.Key + ".none"}, "no such file"},
		"key alone":    {config.Server{ClientKey: me.Key}, "of no use without its certificate"},
		"contradicted": {config.Server{CA: me.Cert, Insecure: true}, "leave one of both out"},
		"proxy":        {config.Server{Proxy: "ftp://me:hunter2@host"}, "is not the URL of a proxy"},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.URL = "https://mcp.example/"
			_, err := NewNetwork(c.cfg)
			if failure.KindOf(err) != failure.Usage || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Error(err)
			}
		})
	}
}

// Without a check any certificate will do, for the server and for nobody that it sends us to.
func TestInsecure(t *testing.T) {
	leakChecked(t)
	own := nettest.SelfSigned(t, "other.example")
	there := tlsServer(t, &tls.Config{Certificates: []tls.Certificate{own.TLS}})
	p := httpPeer(t, config.Server{URL: there.URL, Insecure: true})
	assert.NoError(t, p.send(t, call("1", "ping")))
	assert.Contains(t, p.journal(journal.HTTP), "200 OK, HTTP/2: HTTP/2.0 200 OK")
	away := httptest.NewUnstartedServer(http.RedirectHandler(there.URL, http.StatusTemporaryRedirect))
	away.StartTLS()
	t.Cleanup(away.Close)
	fails(t, httpPeer(t, config.Server{URL: away.URL, Insecure: true}).send(t, call("1", "ping")),
		failure.Transport, "redirects to "+there.URL, "for which certificates are checked")
}

// A Unix socket is a server in either spelling of its URL.
func TestUnixSocket(t *testing.T) {
	leakChecked(t)
	dir, err := os.MkdirTemp("", "s") // the path of a socket has to be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "a b.sock")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	heard := make(chan string, 9)
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		heard <- r.Host + r.RequestURI
		if r.URL.Path == "/away" {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.WriteString(w, answer1)
	})}}
	s.Start()
	t.Cleanup(s.Close)
	escaped := strings.NewReplacer("/", "%2F", " ", "%20").Replace(path)
	for raw, want := range map[string]string{
		"unix://" + path:                                 "localhost/mcp",
		"unix://" + path + ":/x/y?z=1":                   "localhost/x/y?z=1",
		"http+unix://" + escaped + "/x":                  "localhost/x",
		"http+unix://" + escaped:                         "localhost/mcp",
		"unix://" + strings.ReplaceAll(path, " ", "%20"): "localhost/mcp",
	} {
		if err := httpPeer(t, config.Server{URL: raw}).send(t, call("1", "ping")); err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got := <-heard; got != want {
			t.Errorf("%s: asked for %q, want %q", raw, got, want)
		}
	}
	fails(t, httpPeer(t, config.Server{URL: "unix://" + path + ":/away"}).send(t, call("1", "ping")), failure.Transport, "not in its socket")
	fails(t, httpPeer(t, config.Server{URL: "unix://" + path + "x"}).send(t, call("1", "ping")), failure.Transport, "there is no socket "+path+"x", "start the server")
	plain := filepath.Join(dir, "plain")
	writeFile(t, plain, "", 0o600)
	fails(t, httpPeer(t, config.Server{URL: "unix://" + plain}).send(t, call("1", "ping")), failure.Transport, "nothing listens at the socket")
	for _, raw := range []string{"unix://relative.sock", "unix://", "http+unix://relative/x", "http+unix://%zz/x"} {
		if _, err := NewNetwork(config.Server{URL: raw}); failure.KindOf(err) != failure.Usage {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
