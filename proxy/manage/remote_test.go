package manage_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy"
	"github.com/mcphud/mcphud/proxy/manage"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// manager is how somebody connects whose certificate the router's authority signed.
func (g *rig) manager(t *testing.T) *tls.Config {
	return &tls.Config{RootCAs: g.ca.Pool(), Certificates: []tls.Certificate{g.ca.Sign(t, "manager").TLS}, NextProtos: []string{"h2"}}
}

// remote sends a request as JSON over TLS.
func (g *rig) remote(with *tls.Config, verb, body string, head ...string) (status int, answer string, err error) {
	tr := &http.Transport{TLSClientConfig: with, ForceAttemptHTTP2: true}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(g.t.Context(), http.MethodPost, "https://"+g.ManageAddr().String()+"/"+verb, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for i := 0; i+1 < len(head); i += 2 {
		req.Header.Set(head[i], head[i+1])
	}
	res, err := (&http.Client{Transport: tr, Timeout: time.Minute}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, string(b), err
}

// The JSON operations are served with a certificate that the authority signed, by TLS 1.3, and to nobody else.
func TestG1_G3_ManagersWithACertificate(t *testing.T) {
	g := start(t, "")
	if status, answer, err := g.remote(g.manager(t), "RegisterMcpServer", web("far", "http://127.0.0.1:1/mcp", "")); err != nil || status != http.StatusOK || g.entry("far").Status != "Disconnected" {
		t.Errorf("%d %s %v", status, answer, err)
	}
	if status, answer, err := g.remote(g.manager(t), "ListMcpServers", ""); err != nil || status != http.StatusOK || !strings.Contains(answer, `"far"`) {
		t.Errorf("%d %s %v", status, answer, err)
	}
	if status, answer, err := g.remote(g.manager(t), "ListMcpServers", "", "Origin", "https://evil.example"); err != nil || status != http.StatusForbidden {
		t.Errorf("a web page is served: %d %s %v", status, answer, err)
	}
	old := g.manager(t)
	old.MaxVersion = tls.VersionTLS12
	late := g.manager(t)
	late.Certificates[0] = nettest.MakeCert(t, &x509.Certificate{NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour)}, &g.ca, "manager").TLS
	for who, with := range map[string]*tls.Config{
		"without a certificate":                    {RootCAs: g.ca.Pool()},
		"with one of another authority":            {RootCAs: g.ca.Pool(), Certificates: []tls.Certificate{nettest.SelfSigned(t).Sign(t, "manager").TLS}},
		"with one that nobody signed":              {RootCAs: g.ca.Pool(), Certificates: []tls.Certificate{nettest.SelfSigned(t, "manager").TLS}},
		"with one that is over":                    late,
		"by TLS 1.2":                               old,
		"who does not know the router's authority": {RootCAs: x509.NewCertPool(), Certificates: g.manager(t).Certificates},
	} {
		if status, answer, err := g.remote(with, "ListMcpServers", ""); err == nil {
			t.Errorf("somebody is served %s: %d %s", who, status, answer)
		}
	}
	res, err := http.Get("http://" + g.ManageAddr().String() + "/ListMcpServers")
	if err == nil {
		_ = res.Body.Close()
	}
	if err == nil && res.StatusCode == http.StatusOK {
		t.Error("somebody is served without TLS")
	}
}

// A file that is missing, and an address that is taken, keep the router from starting.
func TestG1_ManagementAddressesThatCannotBe(t *testing.T) {
	g := start(t, "")
	ca := nettest.SelfSigned(t)
	none := filepath.Join(t.TempDir(), "none")
	require.NoError(t, os.WriteFile(none, []byte("nothing"), 0o600))
	whole := manage.Remote{Addr: "127.0.0.1:0", Cert: ca.Cert, Key: ca.Key, CA: ca.Cert}
	for want, change := range map[string]func(*manage.Remote){
		"must be given together":              func(r *manage.Remote) { r.CA = "" },
		"cannot load the management":          func(r *manage.Remote) { r.Key = "nowhere.pem" },
		"cannot read the authorities":         func(r *manage.Remote) { r.CA = "nowhere.pem" },
		"none has no certificate (PEM)":       func(r *manage.Remote) { r.CA = none },
		"cannot listen at the management add": func(r *manage.Remote) { r.Addr = g.ManageAddr().String() },
	} {
		at := whole
		change(&at)
		r, err := proxy.New(proxy.Options{Routes: g.file, Manage: true, Remote: at})
		if err == nil {
			err = r.Start(t.Context())
			assert.NoError(t, r.Close(context.Background()))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %s", at, err, want)
		}
	}
}

// The log says who managed the router from elsewhere, and without a socket there is the address still.
func TestG1_ManagersAreLogged(t *testing.T) {
	ca := nettest.SelfSigned(t)
	t.Setenv("MCPHUD_TAP_DIR", filepath.Join(t.TempDir(), strings.Repeat("long", 60)))
	var log faketest.Buffer
	r, err := proxy.New(proxy.Options{
		Routes: filepath.Join(t.TempDir(), "routing.json"), Manage: true, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		Remote: manage.Remote{Addr: "127.0.0.1:0", Cert: ca.Cert, Key: ca.Key, CA: ca.Cert},
	})
	if err == nil {
		err = r.Start(t.Context())
	}
	require.NoError(t, err)
	defer func() { assert.NoError(t, r.Close(context.Background())) }()
	g := &rig{t: t, Router: r, ca: ca}
	if status, answer, err := g.remote(g.manager(t), "ListMcpServers", ""); err != nil || status != http.StatusOK {
		t.Errorf("%d %s %v", status, answer, err)
	}
	assert.Contains(t, log.String(), "path=/ListMcpServers client=manager", "management socket not available")
}
