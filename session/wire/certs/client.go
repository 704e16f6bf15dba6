package certs

import (
	"cmp"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/mcphud/mcphud/session/base/files"
)

// Client is the certificate by which a server knows who connects, with its private key: two files in PEM, or one that has both,
// where key is "". A file with a key that others can read is refused. The errors name the file and what to do.
func Client(cert, key string) (*tls.Certificate, error) {
	if cert == "" {
		return nil, fmt.Errorf("the private key %s is of no use without its certificate", key)
	}
	key = cmp.Or(key, cert)
	chain, err := files.Read(cert, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the client certificate: %w", err)
	}
	info, err := os.Stat(key)
	if err != nil {
		var p *fs.PathError
		if errors.As(err, &p) {
			err = p.Err
		}
		return nil, fmt.Errorf("cannot read the private key %s: %w", key, err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o027 != 0 {
		return nil, fmt.Errorf("the private key %s is open to others (mode %04o): chmod 600 it", key, mode)
	}
	secret, err := files.Read(key, maxFile)
	if err != nil {
		return nil, fmt.Errorf("cannot read the private key: %w", err)
	}
	switch kinds := blocks(secret); {
	case slices.Contains(kinds, "ENCRYPTED PRIVATE KEY"), slices.Contains(kinds, encrypted):
		return nil, fmt.Errorf("the private key %s has a passphrase: write one without it, as openssl pkey does", key)
	case !slices.ContainsFunc(kinds, func(k string) bool { return k == "PRIVATE KEY" || k == "RSA PRIVATE KEY" || k == "EC PRIVATE KEY" }):
		return nil, fmt.Errorf("no private key in %s; it needs one that begins with -----BEGIN PRIVATE KEY-----", key)
	case !slices.Contains(blocks(chain), "CERTIFICATE"):
		return nil, fmt.Errorf("no certificate in %s; it needs one that begins with -----BEGIN CERTIFICATE-----", cert)
	}
	pair, err := tls.X509KeyPair(chain, secret)
	if err != nil {
		return nil, fmt.Errorf("the client certificate %s cannot be used with the key %s: %w", cert, key, err)
	}
	return &pair, nil
}

// encrypted is what blocks calls keys of OpenSSL's older kind that have a passphrase.
const encrypted = "encrypted"

// blocks are the kinds of what a PEM file holds.
func blocks(text []byte) (kinds []string) {
	for {
		var b *pem.Block
		if b, text = pem.Decode(text); b == nil {
			return kinds
		}
		if _, ok := b.Headers["DEK-Info"]; ok {
			b.Type = encrypted
		}
		kinds = append(kinds, b.Type)
	}
}
