// Package natsconn connects to NATS with JetStream, for whatever replicas of one program share: work, records, presence.
//
// A connection that was made once comes back by itself for ever. What the server does not allow is said at once and in
// full, where the client library would wait for an answer that never comes.
package natsconn

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/session/base/mask"
)

const (
	// Oldest is the first server version that will do.
	Oldest = "2.9"

	dialTime       = 5 * time.Second        // for one server
	apiTime        = 5 * time.Second        // for a request that has no deadline of its own
	reconnectDelay = 200 * time.Millisecond // between attempts to connect again
	sayEvery       = 10 * time.Second       // between lines of the log about missing rights
	pingEvery      = 10 * time.Second       // after two without an answer the connection counts as gone
)

// Options say which server, and as whom. URL is nats:// or tls:// with a host, a port, and a user:password if the server wants one;
// several are separated by commas.
type Options struct {
	URL    string
	Creds  string // file of a user's JWT and key, "" for none
	CA     string // PEM file of the authorities that vouch for the server, "" for those of the system
	Cert   string // PEM file of the client's own certificate, "" for none; Key goes with it
	Key    string
	Name   string // by which the server's operator knows the connection
	Logger *slog.Logger
}

// Conn is a connection. It is safe for concurrent use, and must be closed.
type Conn struct {
	where  string
	nc     *nats.Conn
	js     jetstream.JetStream
	log    *slog.Logger
	closed chan struct{}

	mu      sync.Mutex
	changed chan struct{} // closed when Up changes
	denied  chan struct{} // closed when the server refuses something
	refusal error         // what it said
	said    time.Time     // when the log last had one
}

// Open connects, and checks that the server is recent enough and has JetStream for this user.
func Open(ctx context.Context, o Options) (*Conn, error) {
	c := &Conn{
		where: Shown(o.URL), log: cmp.Or(o.Logger, slog.Default()),
		closed: make(chan struct{}), changed: make(chan struct{}), denied: make(chan struct{}),
	}
	settings, err := c.settings(o)
	if err != nil {
		return nil, err
	}
	if c.nc, err = dial(ctx, o.URL, settings); err != nil {
		return nil, c.connectError(err)
	}
	if err := c.check(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// dial is nats.Connect with an end.
func dial(ctx context.Context, url string, settings []nats.Option) (*nats.Conn, error) {
	type outcome struct {
		nc  *nats.Conn
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		nc, err := nats.Connect(url, settings...)
		done <- outcome{nc, err}
	}()
	select {
	case r := <-done:
		return r.nc, r.err
	case <-ctx.Done():
		go func() { // at most dialTime a server
			if r := <-done; r.nc != nil {
				r.nc.Close()
			}
		}()
		return nil, context.Cause(ctx)
	}
}

func (c *Conn) settings(o Options) ([]nats.Option, error) {
	if err := Valid(o.URL); err != nil {
		return nil, fmt.Errorf("nats: the address is not valid: %s: %w", c.where, err)
	}
	s := []nats.Option{
		nats.Name(o.Name), nats.Timeout(dialTime), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectDelay), nats.ReconnectJitter(reconnectDelay, reconnectDelay),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		nats.ReconnectBufSize(-1), // whoever publishes has to know that nobody hears it
		nats.IgnoreAuthErrorAbort(),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { c.handleLost(err) }),
		nats.ReconnectHandler(func(*nats.Conn) { c.handleReconnect() }),
		nats.ClosedHandler(func(*nats.Conn) { close(c.closed) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { c.problem(err) }),
	}
	if o.Creds != "" {
		if err := checkReadable("credentials", o.Creds); err != nil {
			return nil, err
		}
		s = append(s, nats.UserCredentials(o.Creds))
	}
	if o.CA != "" {
		if err := checkReadable("certificate authority", o.CA); err != nil {
			return nil, err
		}
		s = append(s, nats.RootCAs(o.CA))
	}
	switch {
	case o.Cert != "" && o.Key != "":
		s = append(s, nats.ClientCert(o.Cert, o.Key))
	case o.Cert != o.Key:
		return nil, errors.New("nats: a client certificate needs its key, and a key its certificate; give both files")
	}
	return s, nil
}

// NATS is the connection itself.
func (c *Conn) NATS() *nats.Conn { return c.nc }

// JetStream is what the server keeps.
func (c *Conn) JetStream() jetstream.JetStream { return c.js }

// Where are the servers as they were given, without what is secret.
func (c *Conn) Where() string { return c.where }

// Up reports whether the connection is there now.
func (c *Conn) Up() bool { return c.nc.IsConnected() }

// Ready is nil while the connection is there, and else says what is missing.
func (c *Conn) Ready() error {
	if c.Up() {
		return nil
	}
	if err := c.nc.LastError(); err != nil {
		return fmt.Errorf("nats: the connection is lost: %s: %s; it comes back by itself", c.where, reason(err))
	}
	return fmt.Errorf("nats: the connection is lost: %s; it comes back by itself", c.where)
}

// Changed is closed when Up becomes another; ask again afterwards.
func (c *Conn) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// Close ends the connection; what was published before has been sent when it returns, if the server is there.
func (c *Conn) Close() {
	if c.nc.IsConnected() {
		_ = c.nc.FlushTimeout(time.Second) // whoever needed to know asked for an answer
	}
	c.nc.Close()
	<-c.closed
}

func (c *Conn) handleLost(err error) {
	if c.nc != nil && c.nc.IsClosed() {
		return
	}
	c.log.Warn("nats: the connection is lost", "server", c.where, "err", reason(err))
	c.notifyChange()
}

func (c *Conn) handleReconnect() {
	c.log.Info("nats: connected again", "server", c.where)
	c.notifyChange()
}

func (c *Conn) notifyChange() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

// problem is what the server says outside of answers.
func (c *Conn) problem(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		c.log.Warn("nats: the server reports an error", "server", c.where, "err", reason(err))
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusal = err
	close(c.denied)
	c.denied = make(chan struct{})
	if time.Since(c.said) >= sayEvery { // the rights may have been taken away while nobody tries anything that reports it
		c.said = time.Now()
		c.log.Error("nats: the user lacks rights; give it those", "server", c.where, "err", reason(err))
	}
}

// Name makes any string one token of a subject, and part of the name of a stream or bucket. Different strings have
// different names.
func Name(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	name := b.String()
	switch {
	case name == "":
		return "_"
	case len(name) > longest:
		return fmt.Sprintf("%s__%x", name[:longest-34], sha256.Sum256([]byte(s)))[:longest]
	}
	return name
}

// longest is how long a name may be: servers keep a stream in a folder of that name.
const longest = 80

// Shown is a URL without what is secret in it, several as well.
func Shown(urls string) string {
	all := strings.Split(urls, ",")
	for i, u := range all {
		u = strings.TrimSpace(u)
		if valid(u) != nil && strings.Contains(urls, "@") { // where the password ends is a guess
			return mask.Hidden
		}
		all[i] = mask.URL(u)
	}
	return strings.Join(all, ",")
}

// Valid says what is wrong with a URL, or one of several, without repeating it.
func Valid(urls string) error {
	for u := range strings.SplitSeq(urls, ",") {
		if err := valid(strings.TrimSpace(u)); err != nil {
			return err
		}
	}
	return nil
}

func valid(u string) error {
	parsed, err := url.Parse(u)
	switch {
	case err != nil:
		return errors.New("it cannot be read as a URL; write %2F and the like for what is special in a password")
	case parsed.Scheme != "nats" && parsed.Scheme != "tls":
		return errors.New("it does not begin with nats:// or tls://")
	case parsed.Hostname() == "":
		return errors.New("it names no host")
	}
	return nil
}
