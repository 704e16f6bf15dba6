package natsconn

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/session/base/mask"
)

// check is what has to hold of a server before anybody relies on it.
func (c *Conn) check(ctx context.Context) error {
	if v := c.nc.ConnectedServerVersion(); isOlder(v) {
		return fmt.Errorf("nats: the server has version %s: %s; %s or newer is needed", v, c.where, Oldest)
	}
	js, err := jetstream.New(c.nc, jetstream.WithDefaultTimeout(apiTime))
	if err != nil {
		return fmt.Errorf("nats: %s: %w", c.where, err)
	}
	c.js = js
	return c.Try(ctx, "ask about JetStream", func(ctx context.Context) error {
		_, err := js.AccountInfo(ctx)
		return err
	})
}

// isOlder reports whether a version comes before Oldest. One that cannot be read is somebody's own build.
func isOlder(version string) bool {
	var have, want [2]int
	for i, part := range strings.SplitN(version, ".", 3)[:min(2, strings.Count(version, ".")+1)] {
		n, err := strconv.Atoi(part)
		if err != nil {
			return false
		}
		have[i] = n
	}
	for i, part := range strings.Split(Oldest, ".") {
		want[i], _ = strconv.Atoi(part)
	}
	return have[0] < want[0] || have[0] == want[0] && have[1] < want[1]
}

// Try does something that the server must allow, what being an infinitive for messages. A refusal ends it at once.
func (c *Conn) Try(ctx context.Context, what string, f func(context.Context) error) error {
	c.mu.Lock()
	denied := c.denied
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, apiTime)
	defer cancel()
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-denied:
			cancel()
		case <-stop:
		}
	}()
	err := f(ctx)
	close(stop)
	<-ended
	if err == nil {
		return nil
	}
	select {
	case <-denied:
		c.mu.Lock()
		err = c.refusal
		c.mu.Unlock()
	default:
	}
	return c.explain(what, err)
}

// Subscribe is nats.Conn.Subscribe that waits for the server, which says too late for Try that it does not allow that.
func (c *Conn) Subscribe(ctx context.Context, subject string, f nats.MsgHandler) (s *nats.Subscription, err error) {
	return s, c.Try(ctx, "subscribe to "+subject, func(ctx context.Context) error {
		if s, err = c.nc.Subscribe(subject, f); err != nil {
			return err
		}
		if err = c.nc.FlushWithContext(ctx); err != nil {
			return err
		}
		if last := c.nc.LastError(); Denied(last, subject) {
			return last
		}
		return nil
	})
}

// Denied reports whether an error says that the user may not use a subject.
func Denied(err error, subject string) bool {
	return errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), strconv.Quote(subject))
}

// explain says what an error of the server means.
func (c *Conn) explain(what string, err error) error {
	var api *jetstream.APIError
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		return fmt.Errorf("nats: the user may not %s: %s; give it these rights: %w", what, c.where, plain{err})
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("nats: the server has no JetStream: %s; start it with -js: %w", c.where, plain{err})
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("nats: the account has no JetStream: %s; enable it for the account: %w", c.where, plain{err})
	case Full(err):
		return fmt.Errorf("nats: the server has no room to %s: %s; give JetStream more storage: %w", what, c.where, plain{err})
	case errors.As(err, &api):
		return fmt.Errorf("nats: cannot %s: %s: %w", what, c.where, plain{err})
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		return fmt.Errorf("nats: no answer: %s; the server is slow or ends: cannot %s: %w", c.where, what, plain{err})
	}
	return fmt.Errorf("nats: cannot %s: %s: %w", what, c.where, plain{err})
}

// Full reports that the server, or what it grants the account or a stream, has no room left.
func Full(err error) bool {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch api.ErrorCode {
	case 10002, 10023, 10028, 10047, 10077, 10122: // resource limits, no storage, too big
		return true
	}
	return strings.Contains(api.Description, "insufficient") || strings.Contains(api.Description, "maximum bytes") || strings.Contains(api.Description, "no space")
}

// connectError says why there is no connection.
func (c *Conn) connectError(err error) error {
	var unknown x509.UnknownAuthorityError
	var other x509.HostnameError
	var expired x509.CertificateInvalidError
	var dns *net.DNSError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), strings.Contains(strings.ToLower(err.Error()), "authorization violation"):
		return fmt.Errorf("nats: the server refuses the user: %s; check name, password or credentials: %w", c.where, plain{err})
	case errors.As(err, &unknown):
		return fmt.Errorf("nats: the server's certificate is not trusted: %s; name its authority's file: %w", c.where, plain{err})
	case errors.As(err, &other):
		return fmt.Errorf("nats: the server's certificate is for other names: %s: %w", c.where, plain{err})
	case errors.As(err, &expired):
		return fmt.Errorf("nats: the server's certificate is not valid: %s: %w", c.where, plain{err})
	case errors.Is(err, nats.ErrSecureConnRequired):
		return fmt.Errorf("nats: the server wants TLS: %s; write tls:// instead of nats://: %w", c.where, plain{err})
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("nats: the server has no TLS: %s; write nats:// instead of tls://, and give no certificates: %w", c.where, plain{err})
	case errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, nats.ErrNoServers):
		return fmt.Errorf("nats: nothing answers: %s; start the server, or check the address: %w", c.where, plain{err})
	case errors.As(err, &dns):
		return fmt.Errorf("nats: the host is unknown: %s; check the address: %w", c.where, plain{err})
	}
	return fmt.Errorf("nats: cannot connect: %s; start the server, or check the address: %w", c.where, plain{err})
}

// plain is an error without its package's name and without secrets.
type plain struct{ error }

func (p plain) Error() string { return reason(p.error) }
func (p plain) Unwrap() error { return p.error }

func reason(err error) string {
	if err == nil {
		return "the server closed it"
	}
	return mask.Text(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "nats: "), "API error: "))
}

func checkReadable(what, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("nats: the %s file cannot be read: %w", what, err)
	}
	return f.Close()
}
