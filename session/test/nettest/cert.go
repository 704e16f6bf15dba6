package nettest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
)

// Pair is a certificate and its key, in memory and in files.
type Pair struct {
	TLS       tls.Certificate
	Cert, Key string // files, in PEM
}

// SelfSigned is a certificate that no authority has signed, good for an hour and for these names and addresses; for
// this machine if there are none. As those that openssl makes it is an authority's, too.
func SelfSigned(t testing.TB, names ...string) Pair {
	t.Helper()
	return MakeCert(t, &x509.Certificate{IsCA: true}, nil, names...)
}

// Sign is the certificate of a server that p signed.
func (p Pair) Sign(t testing.TB, names ...string) Pair {
	t.Helper()
	return MakeCert(t, &x509.Certificate{}, &p, names...)
}

// Pool has the certificate, for clients that trust it.
func (p Pair) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(p.TLS.Leaf)
	return pool
}

// MakeCert is a certificate that by signed, or itself where that is nil. What of says of its subject and its times, and
// whether it is an authority's, counts.
func MakeCert(t testing.TB, of *x509.Certificate, by *Pair, names ...string) Pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	if len(names) == 0 {
		names = []string{"localhost", "127.0.0.1"}
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: of.Subject, NotBefore: of.NotBefore, NotAfter: of.NotAfter,
		IsCA: of.IsCA, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if c.IsCA {
		c.KeyUsage |= x509.KeyUsageCertSign
	}
	if c.Subject.String() == "" {
		c.Subject = pkix.Name{CommonName: names[0]}
	}
	if c.NotAfter.IsZero() {
		c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			c.IPAddresses = append(c.IPAddresses, ip)
		} else {
			c.DNSNames = append(c.DNSNames, name)
		}
	}
	parent, signer := c, any(key)
	if by != nil {
		parent, signer = by.TLS.Leaf, by.TLS.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, signer)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	p := Pair{TLS: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for file, b := range map[string]*pem.Block{p.Cert: {Type: "CERTIFICATE", Bytes: der}, p.Key: {Type: "PRIVATE KEY", Bytes: private}} {
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(b), 0o600))
	}
	return p
}
