package agentclient

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/certs"
)

const (
	plainScheme  = "http"
	secureScheme = "https"
)

// Host parses the address of a router: a name or an address, in brackets or not, after http://, https:// or nothing,
// which is http. The error hides what may be a password.
func Host(s string) (scheme, host string, err error) {
	scheme, host, named := strings.Cut(s, "://")
	if scheme = strings.ToLower(scheme); !named {
		scheme, host = plainScheme, s
	}
	if inner, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inner, "]") {
		host = strings.TrimSuffix(inner, "]")
	}
	if scheme != plainScheme && scheme != secureScheme || net.ParseIP(host) == nil && !hostName(host) {
		if at := strings.LastIndexByte(s, '@'); at >= 0 {
			s = mask.Hidden + s[at:]
		}
		return "", "", fmt.Errorf("the router's host is %.100q; it must be a name or an address, without port or path, alone or after http:// or https://", mask.Text(s))
	}
	return scheme, host, nil
}

// hostName reports whether s has only characters of host names.
func hostName(s string) bool {
	return s != "" && len(s) <= 253 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
}

// trust is the TLS configuration for the router.
func (o *Options) trust(scheme, host string) (*tls.Config, error) {
	if o.RouterCA == "" {
		roots, err := certs.Roots()
		return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}, err
	}
	t, err := certs.Open(o.RouterCA)
	if err != nil {
		return nil, fmt.Errorf("the router's certificate: %w", err)
	}
	if scheme == plainScheme { // with a certificate set, nothing is sent to a server that it does not verify
		return nil, fmt.Errorf("a router certificate is set (%s), but the router's host is http; write https:// before the host, or remove the certificate", o.RouterCA)
	}
	return t.Client(host), nil
}

// explainTLS is what a handshake that failed means and what to do then, "" if it is nothing that has to do with TLS.
func (f errorMaker) explainTLS(err error) (message, next string) {
	var (
		file   *certs.Error
		system *tls.CertificateVerificationError
		record tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &file), errors.As(err, &system):
		return "the router at " + f.c.router + " is not trusted; nothing was sent: " + err.Error(),
			"name a file with its certificate, or its authority's, in ROUTER_CA"
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the router at " + f.c.router + " does not speak TLS; nothing was sent", "write http:// instead of https:// in ROUTER_HOST"
	}
	return "", ""
}

// saysTLS is what Go's HTTPS server answers a plain HTTP request.
const saysTLS = "Client sent an HTTP request to an HTTPS server"
