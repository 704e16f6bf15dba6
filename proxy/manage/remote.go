package manage

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/listen"
)

// Remote is an address for managers with a certificate. All of it is given, or nothing.
type Remote struct {
	Addr      string // HOST:PORT
	Cert, Key string // files of the address's own certificate (PEM)
	CA        string // file of the authorities that sign the certificates of managers (PEM)
}

// Check reports what is missing, nil for nothing.
func (r Remote) Check() error {
	if r == (Remote{}) || r.Addr != "" && r.Cert != "" && r.Key != "" && r.CA != "" {
		return nil
	}
	return errors.New("a management address, its certificate and key, and the authorities of managers must be given together")
}

// maxCA is how large the file of authorities may be.
const maxCA = 1 << 20

// Listen listens at the address, for TLS 1.3 with certificates on both sides only.
func Listen(ctx context.Context, r Remote) (net.Listener, error) {
	cert, err := tls.LoadX509KeyPair(r.Cert, r.Key)
	if err != nil {
		return nil, fmt.Errorf("cannot load the management certificate %s and key %s: %w", r.Cert, r.Key, err)
	}
	text, err := files.Read(r.CA, maxCA)
	if err != nil {
		return nil, fmt.Errorf("cannot read the authorities of managers: %w", err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("cannot read the authorities of managers: %s has no certificate (PEM)", r.CA)
	}
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", r.Addr)
	if err != nil {
		return nil, fmt.Errorf("cannot listen at the management address: %w", err)
	}
	return tls.NewListener(ln, &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"h2", "http/1.1"},
		Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities,
	}), nil
}

// handler serves managers: those of the socket, and those with a certificate, which a browser would use for any web page.
func (s *Server) handler() http.Handler {
	own := http.HandlerFunc(s.serve)
	guarded := listen.Guard(own, "*")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil {
			own.ServeHTTP(w, r)
			return
		}
		who := r.TLS.PeerCertificates[0].Subject
		s.o.Logger.Info("management request", "path", clip(r.URL.Path), "client", clip(cmp.Or(who.CommonName, who.String())), "address", r.RemoteAddr)
		guarded.ServeHTTP(w, r)
	})
}
