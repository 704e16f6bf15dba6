//go:build unix

package main

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// reverse runs mcphud tap --http and returns the address that a client takes instead of the server's.
func reverse(t *testing.T, url string, args ...string) (address string, stop func()) {
	t.Helper()
	cmd := command(t, append([]string{"tap", "--http", url}, args...)...)
	stderr := &faketest.Buffer{}
	cmd.Stderr = stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	require.Eventually(t, "the proxy", func() bool { return routerReady.MatchString(stderr.String()) })
	return routerReady.FindStringSubmatch(stderr.String())[1], func() {
		t.Helper()
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit %d: %s", code, stderr)
		}
	}
}

// What is on the way to the server is said by the flags that every client has: certificates, and a socket in the URL.
func TestTapHTTPNetwork(t *testing.T) {
	runtimeDir(t)
	own := nettest.SelfSigned(t)
	secure := httptest.NewUnstartedServer(behave.Handler(behave.Good, behave.Fault{JSON: true}))
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{own.TLS}, ClientCAs: own.Pool(), ClientAuth: tls.RequireAndVerifyClientCert}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	dir, err := os.MkdirTemp("", "s") // the path of a socket has to be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "mcp.sock"))
	require.NoError(t, err)
	socket := &httptest.Server{Listener: l, Config: &http.Server{Handler: behave.Handler(behave.Good, behave.Fault{JSON: true})}}
	socket.Start()
	t.Cleanup(socket.Close)
	client := []string{"--client-cert", own.Cert, "--client-key", own.Key}
	for _, c := range []struct {
		url  string
		args []string
	}{
		{secure.URL + "/mcp", append([]string{"--ca", own.Cert}, client...)},
		{secure.URL + "/mcp", append([]string{"--insecure"}, client...)},
		{"unix://" + dir + "/mcp.sock:/mcp", nil},
	} {
		url, stop := reverse(t, c.url, c.args...)
		if o := mcphud(t, "tools", "list", url); !strings.Contains(o.ok(t), `"echo"`) {
			t.Errorf("%s %q: %s", c.url, c.args, o.out)
		}
		stop()
	}
	for want, args := range map[string][]string{
		"is for --http":         {"tap", "--ca", own.Cert},
		"contradict each other": {"tap", "--http", secure.URL, "--ca", own.Cert, "--insecure"},
		"does not start with":   {"tap", "--http", "ftp://x/"},
	} {
		mcphud(t, args...).exits(t, cli.ExitFailure, want)
	}
}

// A client at the proxy's address sees the server, over both transports, and tap sees what they say: each answer with its request.
func TestTapHTTP(t *testing.T) {
	for _, s := range []config.Server{faketest.HTTP(t, behave.Good, behave.Fault{}), faketest.SSE(t, behave.Good, behave.Fault{})} {
		t.Run(s.Transport, func(t *testing.T) {
			runtimeDir(t)
			lines := watchTap(t)
			url, stop := reverse(t, s.URL, "--name", "far")
			args := []string{"tools", "list", "--protocol", "2025-11-25", "--url"}
			direct, through := mcphud(t, append(args, s.URL)...), mcphud(t, append(args, url)...)
			if through.ok(t) != direct.ok(t) {
				t.Errorf("%s differs from %s", through.out, direct.out)
			}
			lines.shows(`"kind":"response","method":"tools/list"`)
			stop()
			for line := range strings.Lines(lines.stop()) {
				var e struct{ Server, Kind, Method, Status, Note string }
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				if e.Server != "far" || e.Kind == "bad" || e.Kind == "response" && (e.Method == "" || e.Status != "ok") || e.Note == "empty response" {
					t.Error(line)
				}
			}
		})
	}
}

// Events come as they are sent, heads are the client's and the server's, and whoever is foreign is refused.
func TestTapHTTPStreams(t *testing.T) {
	runtimeDir(t)
	more := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("X-Saw", r.Host+" "+r.Header.Get("Authorization")+" "+r.URL.RawQuery+" "+r.Header.Get("X-Forwarded-For"))
		_, _ = io.WriteString(w, "data: 1\n\n")
		w.(http.Flusher).Flush()
		<-more
		_, _ = io.WriteString(w, "data: 2\n\n")
	}))
	defer srv.Close()
	url, stop := reverse(t, srv.URL+"/mcp?key=k")
	defer stop()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer geheim")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	if saw := res.Header.Get("X-Saw"); saw != host+" Bearer geheim key=k" {
		t.Errorf("the server saw %q", saw)
	}
	first := make([]byte, len("data: 1\n\n"))
	if _, err := io.ReadFull(res.Body, first); err != nil || string(first) != "data: 1\n\n" { // before the second is sent
		t.Fatalf("%q, %v", first, err)
	}
	close(more)
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "data: 2\n\n" {
		t.Errorf("%q, %v", rest, err)
	}
	for name, value := range map[string]string{"Host": "evil.example", "Origin": "https://evil.example"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{}`))
		require.NoError(t, err)
		if req.Header.Set(name, value); name == "Host" {
			req.Host = value
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		assert.Equalf(t, res.StatusCode, http.StatusForbidden, "%s", name)
	}
	http.DefaultClient.CloseIdleConnections()
}

// A server that is not there is said to be so.
func TestTapHTTPWithoutAServer(t *testing.T) {
	runtimeDir(t)
	server := fmt.Sprintf("http://127.0.0.1:%d", nettest.FreePort(t))
	url, stop := reverse(t, server+"/mcp")
	defer stop()
	client := http.Client{Timeout: time.Minute}
	res, err := client.Post(url, "application/json", strings.NewReader(`{}`))
	require.NoError(t, err)
	defer res.Body.Close()
	defer client.CloseIdleConnections()
	if b, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusBadGateway || !strings.Contains(string(b), "cannot reach "+server) {
		t.Errorf("%d %s", res.StatusCode, b)
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"--http", "far"}, "does not start with http:// or https://"},
		{[]string{"--http", "http://h", "--format", "text"}, "--format does not apply with --http"},
		{[]string{"--port", "1"}, "--port is for --http"},
	} {
		ownProcess(t, append([]string{"tap"}, c.args...)...).exits(t, 1, c.says)
	}
}
