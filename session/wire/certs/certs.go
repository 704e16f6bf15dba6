// Package certs trusts TLS servers by a file of certificates (PEM), instead of the system's or beside them.
package certs

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/mcphud/mcphud/session/base/files"
)

// maxFile bounds a file of certificates, in bytes: those of a whole system take a quarter.
const maxFile = 1 << 20

// Trust is a file of certificates in PEM. If the first of them is a server's own, exactly that one is trusted, whoever
// signed it, for whatever names and until when: what else such a file has is how others come to trust it. If the first
// is an authority's, so is every server with one of the certificates of the file, or with one that they signed and that
// is good now and for its name. One that signed itself can be both.
//
// The file is read again when a server is not trusted by it, so that a certificate can be renewed while connections are
// made. A Trust is safe for concurrent use.
type Trust struct {
	file string
	now  atomic.Pointer[set]
}

// set is the content of a file when it was read.
type set struct {
	own   *x509.Certificate // the only one that is trusted, nil for authorities
	all   []*x509.Certificate
	roots *x509.CertPool
}

// Open reads a file of certificates. The error says why none can be read from it.
func Open(file string) (*Trust, error) {
	s, err := read(file)
	if err != nil {
		return nil, err
	}
	t := &Trust{file: file}
	t.now.Store(s)
	return t, nil
}

// Variable names a file of certificates (PEM) that are trusted beside the system's, whichever host shows them.
const Variable = "MCPHUD_CA"

// Roots are the authorities that the system trusts, and those of the file in Variable; nil without that, for the system's alone.
func Roots() (*x509.CertPool, error) {
	file := os.Getenv(Variable)
	if file == "" {
		return nil, nil
	}
	s, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Variable, err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("cannot read the certificates of the system: %w", err)
	}
	for _, c := range s.all {
		pool.AddCert(c)
	}
	return pool, nil
}

// Error is why a server is not trusted.
type Error struct {
	File, Host string
	Err        error // from crypto/x509; nil where the file has one server's certificate only
}

// Error names the host and the file.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("the certificate of %s is not the one in %s", e.Host, e.File)
	}
	return fmt.Sprintf("the certificate of %s is not signed by one in %s: %v", e.Host, e.File, e.Err)
}

// Unwrap is an error of crypto/x509, or nil.
func (e *Error) Unwrap() error { return e.Err }

// Client is the TLS configuration for connections to host, a name or an address, and to no other. A handshake with a
// server that is not trusted fails with an *Error, before anything is sent to it.
func (t *Trust) Client(host string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // VerifyConnection does it
		VerifyConnection: func(s tls.ConnectionState) error {
			ok, why := t.now.Load().verify(host, s.PeerCertificates)
			if ok {
				return nil
			}
			// A file that cannot be read now keeps the certificates that were read before.
			if next, err := read(t.file); err == nil {
				if ok, why = next.verify(host, s.PeerCertificates); ok {
					t.now.Store(next)
					return nil
				}
			}
			return &Error{t.file, host, why}
		},
	}
}

// verify reports whether a server with this chain, its own certificate first, is trusted, and why not.
func (s *set) verify(host string, chain []*x509.Certificate) (ok bool, why error) {
	same := func(c *x509.Certificate) bool { return len(chain) > 0 && bytes.Equal(chain[0].Raw, c.Raw) }
	if s.own != nil || len(chain) == 0 {
		return s.own != nil && same(s.own), nil
	}
	if slices.ContainsFunc(s.all, same) {
		return true, nil
	}
	between := x509.NewCertPool()
	for _, c := range chain[1:] {
		between.AddCert(c)
	}
	_, why = chain[0].Verify(x509.VerifyOptions{Roots: s.roots, Intermediates: between, DNSName: host})
	return why == nil, why
}

func read(file string) (*set, error) {
	text, err := files.Read(file, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read certificates (PEM): %w", err)
	}
	s := &set{roots: x509.NewCertPool()}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue // its key, say
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d in %s cannot be read: %w", len(s.all)+1, file, err)
		}
		s.all = append(s.all, c)
		s.roots.AddCert(c)
	}
	if len(s.all) == 0 {
		return nil, fmt.Errorf("no certificate in %s; it needs one that begins with -----BEGIN CERTIFICATE-----", file)
	}
	if first := s.all[0]; !first.BasicConstraintsValid || !first.IsCA {
		s.own = first
	}
	return s, nil
}
