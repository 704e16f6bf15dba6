package certs_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/wire/certs"
)

// knock connects to a server that has this certificate, sends it a secret, and returns what it got to read, with the error of
// the client.
func knock(t *testing.T, c *tls.Config, served tls.Certificate) (heard string, err error) {
	t.Helper()
	ln, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{served}})
	require.NoError(t, err)
	said := make(chan string, 1)
	go func() {
		defer close(said)
		s, err := ln.Accept()
		if err != nil {
			return
		}
		b, _ := io.ReadAll(s) // less than all is what it heard, too
		_ = s.Close()
		said <- string(b)
	}()
	s, err := tls.Dial("tcp", ln.Addr().String(), c)
	if err == nil {
		_, err = s.Write([]byte("secret"))
		err = errors.Join(err, s.Close())
	}
	heard = <-said
	_ = ln.Close()
	return heard, err
}

// bundle writes a file with the certificates of these.
func bundle(t *testing.T, of ...nettest.Pair) string {
	t.Helper()
	var text []byte
	for _, p := range of {
		b, err := os.ReadFile(p.Cert)
		require.NoError(t, err)
		text = append(text, b...)
	}
	file := filepath.Join(t.TempDir(), "bundle.pem")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

func TestWhoIsTrusted(t *testing.T) {
	authority, other := nettest.SelfSigned(t), nettest.SelfSigned(t) // of one name
	between := nettest.MakeCert(t, &x509.Certificate{IsCA: true}, &authority, "Between")
	leaf, far := authority.Sign(t), authority.Sign(t, "far.example")
	below := between.Sign(t)
	chain := below.TLS
	chain.Certificate = slices.Concat(chain.Certificate, between.TLS.Certificate)
	own := nettest.SelfSigned(t, "far.example")
	alone := nettest.MakeCert(t, &x509.Certificate{}, nil, "far.example")
	past := time.Now().Add(-time.Hour)
	stale := nettest.MakeCert(t, &x509.Certificate{NotBefore: past.Add(-time.Hour), NotAfter: past}, &authority)
	old := nettest.MakeCert(t, &x509.Certificate{NotBefore: past.Add(-time.Hour), NotAfter: past}, nil)
	for name, c := range map[string]struct {
		file   string
		served tls.Certificate
		wrong  string
	}{
		"its own, for other names":               {bundle(t, own), own.TLS, ""},
		"its own, of no authority":               {bundle(t, alone), alone.TLS, ""},
		"its own, that has expired":              {bundle(t, old), old.TLS, ""},
		"its own, that somebody signed":          {bundle(t, far), far.TLS, ""},
		"with those that vouch for it":           {bundle(t, below, between, authority), chain, ""},
		"after its key":                          {bundle(t, nettest.Pair{Cert: leaf.Key}, leaf), leaf.TLS, ""},
		"another of who vouches for that one":    {bundle(t, leaf, authority), far.TLS, "is not the one in"},
		"another for the same name":              {bundle(t, alone), nettest.MakeCert(t, &x509.Certificate{}, nil, "far.example").TLS, "is not the one in"},
		"another authority of the name":          {bundle(t, authority), other.TLS, "signed by unknown authority"},
		"signed by the authority":                {bundle(t, authority), leaf.TLS, ""},
		"signed by the second of two":            {bundle(t, other, authority), leaf.TLS, ""},
		"signed by one that it signed":           {bundle(t, authority), chain, ""},
		"signed by one that it keeps to itself":  {bundle(t, authority), below.TLS, "signed by unknown authority"},
		"signed by one in the middle":            {bundle(t, between), chain, ""},
		"signed by the authority, for elsewhere": {bundle(t, authority), far.TLS, "cannot validate certificate for 127.0.0.1"},
		"signed by the authority, expired":       {bundle(t, authority), stale.TLS, "expired"},
		"signed by another of its name":          {bundle(t, authority), other.Sign(t).TLS, "signed by unknown authority"},
		"signed by a server":                     {bundle(t, alone), nettest.MakeCert(t, &x509.Certificate{}, &alone).TLS, "is not the one in"},
		"that no system trusts":                  {bundle(t, other), leaf.TLS, "unknown authority"},
	} {
		trust, err := certs.Open(c.file)
		require.NoError(t, err)
		heard, err := knock(t, trust.Client("127.0.0.1"), c.served)
		if c.wrong == "" {
			if err != nil || heard != "secret" {
				t.Errorf("%s: %q, %v", name, heard, err)
			}
			continue
		}
		var e *certs.Error
		if !errors.As(err, &e) || heard != "" || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), c.file) || e.Host != "127.0.0.1" {
			t.Errorf("%s: %q, %v; want %q", name, heard, err, c.wrong)
		}
	}
	trust, err := certs.Open(authority.Cert)
	require.NoError(t, err)
	if heard, err := knock(t, trust.Client("far.example"), far.TLS); heard != "secret" || err != nil {
		t.Errorf("by its name: %q, %v", heard, err)
	}
	if heard, err := knock(t, trust.Client("::1"), authority.Sign(t, "::1").TLS); heard != "secret" || err != nil {
		t.Errorf("by an address: %q, %v", heard, err)
	}
}

// A server may have a new certificate before or after the file has it.
func TestAFileThatIsRenewed(t *testing.T) {
	before, after, never := nettest.SelfSigned(t), nettest.SelfSigned(t), nettest.SelfSigned(t)
	file := bundle(t, before)
	trust, err := certs.Open(file)
	require.NoError(t, err)
	c := trust.Client("127.0.0.1")
	reach := func(served nettest.Pair, want bool) {
		t.Helper()
		if heard, err := knock(t, c, served.TLS); (err == nil) != want || (heard == "secret") != want {
			t.Errorf("%q, %v", heard, err)
		}
	}
	replace := func(text []byte) {
		t.Helper()
		require.NoError(t, os.WriteFile(file, text, 0o600))
	}
	next, err := os.ReadFile(after.Cert)
	require.NoError(t, err)
	reach(before, true)
	reach(after, false)
	replace(nil)
	reach(before, true)
	reach(after, false)
	replace(next)
	reach(never, false)
	reach(before, true)
	reach(after, true)
	reach(before, false) // the one that took over is the only one
}

func TestFilesWithoutCertificates(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) string {
		file := filepath.Join(dir, "f.pem")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	one, err := os.ReadFile(nettest.SelfSigned(t).Cert)
	require.NoError(t, err)
	junk := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("swordfish")}))
	for want, open := range map[string]func() string{
		"no such file":          func() string { return filepath.Join(dir, "none.pem") },
		"not a regular file":    func() string { return dir },
		"larger than 1.0 MB":    func() string { return write(strings.Repeat("x", 1<<20+1)) },
		"no certificate in":     func() string { return write("swordfish") },
		"certificate 1 in":      func() string { return write(junk) },
		"certificate 2 in":      func() string { return write(string(one) + junk) },
		"-----BEGIN CERTIFICAT": func() string { return write("") },
	} {
		file := open()
		if _, err := certs.Open(file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%q: %v", want, err)
		}
	}
}
