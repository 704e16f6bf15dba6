package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/certs"
)

// explainHTTP says in plain words why there was no HTTP answer, and what to do about it. connect is the time that
// connecting may take.
func explainHTTP(err error, u *url.URL, connect time.Duration) *failure.Error {
	var ue *url.Error
	for errors.As(err, &ue) {
		err = ue.Err // its text repeats the URL, with everything secret in it
		ue = nil
	}
	e := &failure.Error{Kind: failure.Transport, URL: mask.URL(u.String()), Err: err}
	e.Message, e.Next, e.Remedy = reachProblem(err, u, connect)
	if e.Message == "" {
		e.Message, e.Next, e.Remedy = tlsProblem(err, u)
	}
	if e.Message == "" {
		e.Message, e.Next = mask.Text(err.Error()), "check the URL and that the server runs"
	}
	return e
}

// explain is explainHTTP where a socket or a client certificate may be what fails.
func (n *Network) explain(err error, connect time.Duration) *failure.Error {
	e := explainHTTP(err, n.url, connect)
	var op *net.OpError
	if n.asked.Load() && refusedCertificate(err) {
		e.Message, e.Next, e.Remedy = "the server wants a client certificate, and got none", "name one with its private key", failure.GiveCertificate
		if n.client != nil {
			e.Message, e.Next = "the server refused the client certificate "+n.server.ClientCert, "name one that the server trusts"
			if errors.As(err, &op) && op.Op == "remote error" {
				e.Message += ": " + op.Err.Error()
			}
		}
		return e
	}
	if n.socket == "" || !errors.As(err, &op) || op.Op != "dial" {
		return e
	}
	e.URL, e.Next = mask.URL(n.server.URL), "start the server, or check the path in the URL"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Message = "there is no socket " + n.socket
	case errors.Is(err, fs.ErrPermission):
		e.Message, e.Next = "the socket "+n.socket+" is not open to this user", "change who may write to it, or be another user"
	case errors.Is(err, syscall.ECONNREFUSED):
		e.Message = "nothing listens at the socket " + n.socket
	default:
		e.Message = n.socket + " cannot be connected to: " + op.Err.Error()
	}
	return e
}

// refusedCertificate reports whether err is how a connection ends that the server does not like the client certificate of. Its
// alert comes after the handshake, and does not always reach whoever sends the first request.
func refusedCertificate(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		return true
	}
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		strings.Contains(err.Error(), "http2: client conn") // which has no error value
}

// Refused reports whether nothing listens at the server's address: there is no server any more, whatever a health check
// would find out later.
func Refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// reachProblem says what kept a request from getting to the server, below TLS; message is "" where it is something else. The order matters: a
// proxy's refusal wraps what a direct connection would end with too. Some errors of net/http have no value to compare with, only a text.
func reachProblem(err error, u *url.URL, connect time.Duration) (message, next string, remedy failure.Remedy) {
	var (
		dns      *net.DNSError
		op       *net.OpError
		redirect *errRedirect
		proxy    *proxyError
		timeout  net.Error
	)
	switch {
	case errors.As(err, &redirect):
		return redirect.reason, "give the final URL itself", ""
	case errors.As(err, &proxy):
		return proxy.message, proxy.next, failure.ChooseProxy
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return "the proxy does not answer: " + op.Err.Error(), "check HTTP_PROXY, HTTPS_PROXY and NO_PROXY, or what was given instead", failure.ChooseProxy
	case errors.As(err, &op) && op.Op == "socks connect":
		return "the SOCKS proxy does not connect to " + u.Host + ": " + op.Err.Error(), "check that the proxy may connect to the server, or use none", failure.ChooseProxy
	case errors.As(err, &dns) && !dns.IsTimeout:
		return fmt.Sprintf("there is no host named %q", dns.Name), "check the name in the URL", ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at " + u.Host, "start the server, or check host and port in the URL", ""
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return u.Host + " cannot be reached from here", "check the network and the URL", ""
	case errors.As(err, &op) && op.Op == "dial" && op.Timeout(), strings.Contains(err.Error(), "TLS handshake timeout"):
		return fmt.Sprintf("%s did not accept a connection within %v", u.Host, connect), "check host and port in the URL, or give it more time", failure.RaiseConnectTimeout
	case errors.As(err, &timeout) && timeout.Timeout() && !errors.Is(err, context.DeadlineExceeded):
		return "the network timed out: " + err.Error(), "try again", ""
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the server closed the connection without an HTTP answer", "look at the server's own log; check http:// against https://", ""
	case strings.Contains(err.Error(), "malformed HTTP"):
		return "what listens at " + u.Host + " does not speak HTTP: " + err.Error(), "check the port in the URL; for https servers use https://", ""
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return fmt.Sprintf("the server sent more than %d bytes of headers", maxHTTPHeader), "check the URL", ""
	}
	return "", "", ""
}

// nameCA is what to do about a file that vouches for nobody, or not for the server.
const nameCA = "name the file that has the server's certificate, or that of who signed it"

// tlsProblem says what was wrong with the server's certificate or with the handshake of TLS; message is "" where neither was.
func tlsProblem(err error, u *url.URL) (message, next string, remedy failure.Remedy) {
	var (
		file    *certs.Error
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		record  tls.RecordHeaderError
		alert   tls.AlertError
		remote  *net.OpError
		verify  *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &file):
		return file.Error(), nameCA, failure.TrustAuthority
	case errors.As(err, &unknown):
		issuer := ""
		if unknown.Cert != nil && unknown.Cert.Issuer.String() != "" {
			issuer = " (issued by " + unknown.Cert.Issuer.String() + ")"
		}
		return "the certificate of " + u.Hostname() + " is signed by an unknown authority" + issuer,
			"name the PEM file of that authority, or add it to network.ca of config.yaml, or to the system's trust store", failure.TrustAuthority
	case errors.As(err, &host):
		names := append([]string(nil), host.Certificate.DNSNames...)
		for _, ip := range host.Certificate.IPAddresses {
			names = append(names, ip.String())
		}
		if len(names) == 0 {
			names = []string{"no host"}
		}
		return fmt.Sprintf("the server's certificate is for %s, not for %s", strings.Join(names[:min(len(names), 8)], ", "), host.Host),
			"use a host name that the certificate has", ""
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired && invalid.Cert != nil:
		if now := time.Now(); now.Before(invalid.Cert.NotBefore) {
			return "the server's certificate is not valid before " + invalid.Cert.NotBefore.Format(time.RFC3339), "check this machine's clock, or renew the certificate", ""
		}
		return "the server's certificate expired on " + invalid.Cert.NotAfter.Format(time.RFC3339), "renew it on the server, or check this machine's clock", ""
	case errors.As(err, &record), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "the server does not speak TLS at " + u.Host, "use http:// instead of https://", ""
	case errors.As(err, &alert):
		return "the server refused the TLS handshake: " + alert.Error(), "check which TLS versions and certificates it wants", ""
	case errors.As(err, &remote) && remote.Op == "remote error":
		return "the server refused the TLS handshake: " + remote.Err.Error(), "check which TLS versions and certificates it wants", failure.GiveCertificate
	case errors.As(err, &verify):
		return "the server's certificate is not valid: " + verify.Err.Error(), "renew it on the server", ""
	}
	return "", "", ""
}

// endsSession reports whether a refusal means that the session is gone. The specification says 404; servers built after
// the TypeScript SDK's examples say 400 and name the session in the body. answer is the body as far as it answers
// the request, which some servers send with such a status as well; null says that it names no request.
func endsSession(h *HTTPError, answer jsonrpc.Envelope, null bool) bool {
	switch h.Status {
	case http.StatusNotFound:
		e, err := jsonrpc.ParseError(answer.Error)
		return err != nil || e.Code != jsonrpc.CodeMethodNotFound
	case http.StatusBadRequest:
		return (null || answer.Kind == jsonrpc.Invalid) && strings.Contains(strings.ToLower(string(h.Body)), "session")
	}
	return false
}
