package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
)

// Other machines manage the router with a certificate, at the address that the log names.
func TestG1_RouterManagedWithACertificate(t *testing.T) {
	t.Parallel()
	ca := nettest.SelfSigned(t)
	own, me := ca.Sign(t), ca.Sign(t, "me")
	files := []string{"--manage-cert", own.Cert, "--manage-key", own.Key, "--manage-ca", ca.Cert}
	r := launch(t, routerCommand(t, `{"routes":{"a":{"hostPort":1}}}`, nil, append([]string{"--port", "0", "--manage-addr", "127.0.0.1:0"}, files...)...), routerReady)
	at := regexp.MustCompile(`from other machines","address":"([^"]+)"`)
	require.Eventually(t, "the address", func() bool { return at.MatchString(r.log()) })
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Pool(), Certificates: []tls.Certificate{me.TLS}}}
	defer tr.CloseIdleConnections()
	res, err := (&http.Client{Transport: tr}).Get("https://" + at.FindStringSubmatch(r.log())[1] + "/ListMcpServers")
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), `"name":"a"`) {
		t.Errorf("%d %s %v", res.StatusCode, body, err)
	}
	for args, want := range map[string]string{
		"--port 0 --manage-addr 127.0.0.1:0": "must be given together",
		"--port 0 --manage-ca x.pem":         "must be given together",
		"--stdio --manage-addr 127.0.0.1:0":  "--manage-addr does not apply with --stdio",
	} {
		o := finish(t, routerCommand(t, "", nil, strings.Fields(args)...))
		if e := o.errorLine(t); o.code != cli.ExitFailure || !strings.Contains(e.Message, want) {
			t.Errorf("%s: exit %d, %s", args, o.code, o.stderr)
		}
	}
}
