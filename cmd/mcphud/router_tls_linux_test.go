package main

import (
	"crypto/tls"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// An agent, a router over HTTPS in front of it, and a second one that reaches the first by a route: it trusts whom the
// system trusts, which SSL_CERT_FILE sets.
func TestTLS_FromTheCommandsToTheAgent(t *testing.T) {
	t.Parallel()
	own, other := nettest.SelfSigned(t), nettest.SelfSigned(t)
	agent := serveAgent(t, "--ephemeral", "--port", "0")
	inner := launch(t, routerCommand(t, `{"routes":{"one":{"url":"`+agent.url+`","stream":true}}}`, nil, "--port", "0", "--tls-cert", own.Cert, "--tls-key", own.Key), routerReady)
	if !strings.HasPrefix(inner.url, "https://") {
		t.Fatalf("listening on %s", inner.url)
	}
	endpoint := inner.url + "/mcps/one/mcp"
	inner.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: own.Pool()}, ForceAttemptHTTP2: true}
	defer inner.http.CloseIdleConnections()
	if got := inner.via("one", addCall, "Origin", inner.url); got.status != 200 || !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":"x","result":`) {
		t.Errorf("%+v", got)
	}
	if got := inner.via("one", addCall, "Origin", strings.Replace(inner.url, "https", "http", 1)); got.status != 403 {
		t.Errorf("the origin of another scheme: %+v", got)
	}
	trust := []string{"SSL_CERT_FILE=" + own.Cert, "SSL_CERT_DIR=" + t.TempDir()}
	cmd := command(t, "tools", "call", "add", "--url", endpoint, "--args", `{"a":1,"b":2}`)
	cmd.Env = append(cmd.Env, trust...)
	assert.Contains(t, finish(t, cmd).ok(t), "3")
	routes := `{"routes":{"far":{"url":"` + endpoint + `","headers":{"Authorization":"Bearer hunter1"}},` +
		`"user":{"url":"` + strings.Replace(endpoint, "https://", "https://me:hunter2@", 1) + `?token=hunter3"}}}`
	outer := launch(t, routerCommand(t, routes, trust, "--port", "0"), routerReady)
	for _, name := range []string{"far", "user"} {
		if got := outer.via(name, addCall); got.status != 200 || !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":"x","result":`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	wary := launch(t, routerCommand(t, routes, []string{"SSL_CERT_FILE=" + other.Cert, "SSL_CERT_DIR=" + t.TempDir()}, "--port", "0"), routerReady)
	for _, name := range []string{"far", "user"} {
		got := wary.via(name, addCall)
		if got.status != 502 || !strings.Contains(got.body, `"id":"x"`) || !strings.Contains(got.body, "Failed to reach agent: ") ||
			!strings.Contains(got.body, "certificate") || !strings.Contains(got.body, "SSL_CERT_FILE") {
			t.Errorf("%s: %+v", name, got)
		}
		if strings.Contains(got.body+wary.log(), "hunter") {
			t.Errorf("%s: credentials in %s or the log", name, got.body)
		}
	}
}

func TestTLS_FilesThatAreNoCertificateAndKey(t *testing.T) {
	t.Parallel()
	dir, own := t.TempDir(), nettest.SelfSigned(t)
	cert, key, other := own.Cert, own.Key, nettest.SelfSigned(t).Key
	text := filepath.Join(dir, "text.pem")
	require.NoError(t, os.WriteFile(text, []byte("swordfish"), 0o600))
	for _, c := range []struct{ cert, key, says, names string }{
		{filepath.Join(dir, "none.pem"), key, "no such file", "none.pem"},
		{cert, filepath.Join(dir, "none.pem"), "no such file", "none.pem"},
		{cert, other, "does not match", other},
		{text, key, "PEM", text},
		{cert, text, "PEM", text},
		{key, cert, "PEM", key},
		{dir, key, "directory", dir},
		{cert, "", "a TLS certificate and its key must be given together", ""},
		{"", key, "a TLS certificate and its key must be given together", ""},
	} {
		args := []string{"--port", "0"}
		if c.cert != "" {
			args = append(args, "--tls-cert", c.cert)
		}
		if c.key != "" {
			args = append(args, "--tls-key", c.key)
		}
		o := finish(t, routerCommand(t, `{"routes":{}}`, nil, args...))
		if e := o.errorLine(t); o.code != cli.ExitFailure || !strings.Contains(e.Message, c.says) || !strings.Contains(e.Message, c.names) ||
			strings.Contains(o.stderr, "swordfish") || strings.Contains(o.stderr, "listening on") {
			t.Errorf("%q %q: exit %d, %s", c.cert, c.key, o.code, o.stderr)
		}
	}
}
