package main

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
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

// secured is a server over TLS. conf may be nil.
func secured(t *testing.T, conf *tls.Config) *httptest.Server {
	s := httptest.NewUnstartedServer(behave.Handler(behave.Good, behave.Fault{JSON: true}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS, s.EnableHTTP2 = conf, true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// What a server's network needs can be said by flags, and by its entry.
func TestNetworkOfAServer(t *testing.T) {
	own, me := nettest.SelfSigned(t), nettest.SelfSigned(t, "me")
	strict := secured(t, &tls.Config{Certificates: []tls.Certificate{own.TLS}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: me.Pool()}).URL + "/mcp"
	open := secured(t, &tls.Config{Certificates: []tls.Certificate{own.TLS}}).URL + "/mcp"
	file := filepath.Join(t.TempDir(), "mcphud.yaml")
	text := "servers:\n" +
		"  strict: {url: '" + strict + "', ca: '" + own.Cert + "', client_cert: '" + me.Cert + "', client_key: '" + me.Key + "', proxy: none}\n" +
		"  open: {url: '" + open + "', insecure: true}\n" +
		"  both: {url: '" + open + "', insecure: true, ca: x.pem}\n" +
		"  proxied: {url: '" + open + "', proxy: 'ftp://me:" + secret + "@host'}\n" +
		"  through: {url: '" + open + "', proxy: 'http://me:" + secret + "@127.0.0.1:1'}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	for name, args := range map[string][]string{
		"flags":    {"tools", "list", strict, "--ca", own.Cert, "--client-cert", me.Cert, "--client-key", me.Key},
		"an entry": {"tools", "list", "--config", file, "--server", "strict"},
	} {
		if o := mcphud(t, args...); !strings.Contains(o.ok(t), `"echo"`) || strings.Contains(o.stderr, "warning") {
			t.Errorf("%s: %s %s", name, o.out, o.stderr)
		}
	}
	for name, args := range map[string][]string{
		"a flag":       {"tools", "list", open, "--insecure"},
		"a file":       {"tools", "list", "--config", file, "--server", "open"},
		"all at once":  {"tools", "list", "--config", file, "--all"},
		"for a while":  {"ping", "--config", file, "--server", "open"},
		"CA as a flag": {"ping", "--config", file, "--server", "open", "--ca", own.Cert},
	} {
		o := mcphud(t, args...)
		if warned := strings.Contains(o.stderr, "its certificate is not checked: anybody on the way"); name != "all at once" && o.code != cli.ExitOK || warned != (name != "CA as a flag") {
			t.Errorf("%s: exit %d %s", name, o.code, o.stderr)
		}
	}
	for want, args := range map[string][]string{
		"is signed by an unknown authority":       {"ping", open},
		"(--ca FILE)":                             {"ping", open},
		"no such file":                            {"ping", open, "--ca", own.Cert + ".none"},
		"(--client-cert FILE --client-key FILE)":  {"ping", strict, "--ca", own.Cert},
		"is not the URL of a proxy":               {"ping", open, "--proxy", "ftp://me:" + secret + "@host"},
		"the proxy does not answer":               {"ping", open, "--ca", own.Cert, "--proxy", "http://me:" + secret + "@127.0.0.1:1"},
		"contradict each other":                   {"ping", open, "--ca", own.Cert, "--insecure"},
		"ca and insecure contradict each other":   {"ping", "--config", file, "--server", "both"},
		"proxy: is not the URL of a proxy; write": {"ping", "--config", file, "--server", "proxied"},
		"--proxy does not apply to":               {"ping", "--proxy", "none", "--", "true"},
	} {
		o := mcphud(t, append(args, "--format", "text")...)
		if o.code == cli.ExitOK || !strings.Contains(o.stderr, want) || strings.Contains(o.out+o.stderr, secret) {
			t.Errorf("%v: exit %d, lacks %q: %s", args, o.code, want, o.stderr)
		}
	}
	for _, args := range [][]string{{"servers", "list"}, {"servers", "list", "--format", "text"}, {"config", "explain"}} {
		if o := mcphud(t, append(args, "--config", file)...); strings.Contains(o.out+o.stderr, secret) || !strings.Contains(o.out, "mcphud.yaml") {
			t.Errorf("%v: %s%s", args, o.out, o.stderr)
		}
	}
}

// A proxy takes what a command sends, and what it was told to leave out goes past it.
func TestProxyOfACommand(t *testing.T) {
	srv := httptest.NewServer(behave.Handler(behave.Good, behave.Fault{JSON: true}))
	t.Cleanup(srv.Close)
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		r.RequestURI, r.URL.Host = "", srv.Listener.Addr().String()
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
		_ = resp.Body.Close()
	}))
	t.Cleanup(proxy.Close)
	if o := mcphud(t, "tools", "list", "http://mcp.example/mcp", "--proxy", proxy.URL); !strings.Contains(o.ok(t), `"echo"`) || asked.Load() == 0 {
		t.Errorf("%d requests: %s", asked.Load(), o.out)
	}
	before := asked.Load()
	cmd := command(t, "tools", "list", "http://mcp.example/mcp")
	cmd.Env = append(cmd.Env, "ALL_PROXY="+proxy.URL, "HTTP_PROXY=", "http_proxy=", "NO_PROXY=", "no_proxy=")
	if o := finish(t, cmd); !strings.Contains(o.ok(t), `"echo"`) || asked.Load() == before {
		t.Errorf("of the environment: %s", o.out)
	}
	before = asked.Load()
	cmd = command(t, "ping", srv.URL+"/mcp")
	cmd.Env = append(cmd.Env, "ALL_PROXY="+proxy.URL)
	if o := finish(t, cmd); o.code != cli.ExitOK || asked.Load() != before {
		t.Errorf("this machine: %s", o.stderr)
	}
}

// A URL can be that of a Unix socket, wherever one is taken.
func TestUnixSocketOfAServer(t *testing.T) {
	dir, err := os.MkdirTemp("", "s") // the path of a socket has to be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "notes.sock")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: behave.Handler(behave.Good, behave.Fault{JSON: true})}}
	s.Start()
	t.Cleanup(s.Close)
	file := filepath.Join(dir, "mcphud.yaml")
	require.NoError(t, os.WriteFile(file, []byte("servers: {notes: {url: 'unix://"+path+":/mcp'}}\n"), 0o600))
	for _, args := range [][]string{
		{"tools", "list", "unix://" + path + ":/mcp"},
		{"tools", "list", "--url", "http+unix://" + strings.ReplaceAll(path, "/", "%2F") + "/mcp"},
		{"tools", "list", "--config", file, "--server", "notes"},
	} {
		if o := mcphud(t, args...); !strings.Contains(o.ok(t), `"echo"`) {
			t.Errorf("%v: %s", args, o.out)
		}
	}
	mcphud(t, "ping", "unix://"+path+"x", "--format", "text").exits(t, cli.ExitUnreachable, "there is no socket "+path+"x")
}

// What a registry and its downloads are asked goes through the proxy too.
func TestProxyOfARegistry(t *testing.T) {
	r := testRegistry(t)
	var asked atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked.Add(1)
		req.RequestURI = ""
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
		_ = resp.Body.Close()
	}))
	t.Cleanup(proxy.Close)
	for _, args := range [][]string{
		{"registry", "show", "com.example/fake"},
		{"open", "com.example/fake", "--print", "--set", "X-Api-Key=k"},
	} {
		before := asked.Load()
		if o := mcphud(t, append(args, "--registry", r.URL, "--proxy", proxy.URL)...); o.code != cli.ExitOK || asked.Load() == before {
			t.Errorf("%v: exit %d, %d requests: %s", args, o.code, asked.Load()-before, o.stderr)
		}
	}
	mcphud(t, "registry", "show", "com.example/fake", "--registry", r.URL, "--proxy", "nonsense").exits(t, cli.ExitFailure, "is not the URL of a proxy")
}

// What config.yaml says of the network holds for all that is reached: servers, the registry, what doctor looks at, a language model and
// a collector. Each of them shows a certificate that only the file of the user vouches for.
func TestNetworkOfTheUser(t *testing.T) {
	ours := nettest.SelfSigned(t)
	var mu sync.Mutex
	asked := map[string]bool{}
	good := behave.Handler(behave.Good, behave.Fault{JSON: true})
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path] = true
		mu.Unlock()
		switch r.URL.Path {
		case "/mcp":
			good.ServeHTTP(w, r)
		case "/v0.1/servers":
			_, _ = io.WriteString(w, `{"servers":[],"metadata":{}}`)
		case "/v1/chat/completions":
			_, _ = io.WriteString(w, `{"model":"m","choices":[{"message":{"role":"assistant","content":"as the model says"}}]}`)
		case "/v1/traces":
			_, _ = io.WriteString(w, `{}`)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{ours.Sign(t).TLS}}
	s.StartTLS()
	t.Cleanup(s.Close)
	asks := []string{"tools", "call", "ask_agent", "agent_uri=percolate-test-agent", "tenant_id=t", "prompt=hi", "--yes", "-e", "AGENT_MODEL_URL=" + s.URL + "/v1", "-e", asMain + "=1", "--", os.Args[0], "agent", "--stdio", "--ephemeral"}
	for path, args := range map[string][]string{
		"/mcp":                 {"tools", "list", s.URL + "/mcp"},
		"/v0.1/servers":        {"registry", "search", "x", "--registry", s.URL},
		"/v1/chat/completions": asks,
		"/v1/traces":           {"ping", s.URL + "/mcp", "--traceparent", "all"},
	} {
		for _, trusted := range []bool{false, true} {
			cmd := command(t, args...)
			cmd.Env = append(cmd.Env, "MCPHUD_CA=", "MCPHUD_PROXY=")
			if path == "/v1/traces" {
				cmd.Env = append(cmd.Env, "OTEL_EXPORTER_OTLP_ENDPOINT="+s.URL)
			}
			if trusted {
				dir := filepath.Join(cmd.Dir, ".config", "mcphud")
				writeText(t, filepath.Join(dir, "config.yaml"), "network: {ca: ca.pem}\n")
				pem, err := os.ReadFile(ours.Cert)
				require.NoError(t, err)
				writeText(t, filepath.Join(dir, "ca.pem"), string(pem))
			}
			mu.Lock()
			clear(asked)
			mu.Unlock()
			o := finish(t, cmd)
			mu.Lock()
			got := asked[path]
			mu.Unlock()
			if got != trusted || trusted && o.code != cli.ExitOK && path != "/v1/chat/completions" { // whose answer does not fit the agent
				t.Errorf("%s, trusted %v: reached %v, exit %d %s%s", path, trusted, got, o.code, o.out, o.stderr)
			}
		}
	}
	cmd := command(t, "doctor", s.URL+"/mcp", "--format", "text")
	cmd.Env = append(cmd.Env, "MCPHUD_CA="+ours.Cert, "MCPHUD_PROXY=none", "ALL_PROXY=http://127.0.0.1:1")
	finish(t, cmd).prints(t, cli.ExitOK, "TLS 1.3")
	cmd = command(t, "ping", s.URL+"/mcp", "--format", "text")
	cmd.Env = append(cmd.Env, "MCPHUD_CA="+ours.Cert+".none")
	if o := finish(t, cmd); o.code == cli.ExitOK || !strings.Contains(o.stderr, "MCPHUD_CA: cannot read certificates") || !strings.Contains(o.stderr, "network.ca of config.yaml") {
		t.Errorf("a file that is not there: exit %d %s", o.code, o.stderr)
	}
}

// The API of a language model is reached by settings of its own, and a command that cannot use them says so.
func TestNetworkOfTheModel(t *testing.T) {
	for want, file := range map[string]string{
		"the language model's API: cannot read certificates":                   "model: {url: 'https://models.example/v1', ca: none.pem}\n",
		"a file of certificates was named, and that none is checked":           "model: {url: 'https://models.example/v1', ca: x.pem, insecure: true}\n",
		"certificate of the language model's API is not checked":               "model: {url: 'https://models.example/v1', insecure: true}\n",
		`model.proxy is "ftp://***@host", and must be the URL of a proxy such`: "model: {url: 'https://models.example/v1', proxy: 'ftp://me:" + secret + "@host'}\n",
	} {
		cmd := command(t, "--linear", "--config", "none.yaml")
		writeText(t, filepath.Join(cmd.Dir, ".config", "mcphud", "config.yaml"), file)
		writeText(t, filepath.Join(cmd.Dir, "none.yaml"), "servers: {}\n")
		if o := finish(t, cmd); !strings.Contains(o.stderr, want) || strings.Contains(o.stderr, secret) {
			t.Errorf("%s: exit %d lacks %q: %s", file, o.code, want, o.stderr)
		}
	}
}
