package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/natsconn"
)

const (
	// DefaultBucket is where routes are where no other bucket is named.
	DefaultBucket = "mcphud-routes"

	lease             = 10 * time.Second // after which an agent that died is taken for gone
	refresh           = 3 * time.Second
	unregisterTimeout = 2 * time.Second // for the server to forget it
)

// RegistrationOptions are what is registered, and where.
type RegistrationOptions struct {
	Target string           // a folder, or nats://HOST/BUCKET
	NATS   natsconn.Options // how to connect, but for the URL
	Name   string           // of the agent, which others of the same name share
	URL    string           // where routers reach it
	Token  string           // that it requires of callers, "" for none
	Logger *slog.Logger
}

// Registration is an agent that is registered until Close.
type Registration struct {
	o    RegistrationOptions
	put  func(context.Context) error
	drop func(context.Context) error
	conn *natsconn.Conn // nil for a folder
	end  context.CancelFunc
	over sync.WaitGroup
}

// IsNATS reports whether a target is a bucket, and not a folder.
func IsNATS(target string) bool {
	return strings.HasPrefix(target, "nats://") || strings.HasPrefix(target, "tls://")
}

// Bucket divides nats://HOST/BUCKET into the server's URL and the bucket, which has a default. Of several addresses the last has it.
func Bucket(target string) (server, bucket string, err error) {
	last := strings.LastIndexByte(target, ',') + 1
	from := last
	if i := strings.Index(target[last:], "://"); i >= 0 {
		from += i + len("://")
	}
	host, bucket, _ := strings.Cut(target[from:], "/")
	if bucket = strings.TrimSuffix(bucket, "/"); bucket == "" {
		bucket = DefaultBucket
	}
	for _, c := range bucket {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return "", "", fmt.Errorf("the bucket's name is not valid: %q; it may have letters, digits, dashes and underscores", bucket)
		}
	}
	return target[:from] + host, bucket, nil
}

// route is what is registered.
type route struct {
	Version   int               `json:"v,omitempty"`
	Name      string            `json:"name,omitempty"`
	Lease     int64             `json:"lease_ms,omitempty"`
	URL       string            `json:"url"`
	Transport routes.Transport  `json:"transport"`
	Stream    bool              `json:"stream"`
	Headers   map[string]string `json:"headers,omitempty"`
}

// OpenRegistration registers an agent, and keeps it registered until Close. An error says that it is not registered.
func OpenRegistration(ctx context.Context, o RegistrationOptions) (*Registration, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("register: %w", err)
	}
	sum := sha256.Sum256([]byte(o.URL))
	id := hex.EncodeToString(sum[:8])
	what := route{URL: o.URL, Transport: routes.HTTP, Stream: true}
	if o.Token != "" {
		what.Headers = map[string]string{"Authorization": "Bearer " + o.Token}
	}
	r := &Registration{o: o}
	open := r.folder
	if IsNATS(o.Target) {
		open = r.bucket
	}
	err := open(ctx, id, what)
	if err == nil {
		err = r.put(ctx)
	}
	if err != nil {
		if r.conn != nil {
			r.conn.Close()
		}
		return nil, fmt.Errorf("register: %w", err)
	}
	o.Logger.Info("registered", "agent", o.Name, "url", o.URL, "at", natsconn.Shown(o.Target))
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	r.end = end
	r.over.Go(func() { r.keep(life) })
	return r, nil
}

// check refuses what no router would serve.
func (o *RegistrationOptions) check() error {
	if !config.ValidName(o.Name) {
		return fmt.Errorf("the agent's name cannot be that of a route: %q; it may have %s", o.Name, config.NameRule)
	}
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Fragment != "" || u.User != nil {
		return errors.New("the agent's URL is not valid: give an http or https URL such as http://10.0.0.5:7000/mcp, without a user")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsUnspecified() {
		return fmt.Errorf("%s is every address of this machine: say by which one routers reach it", u.Hostname())
	}
	return nil
}

// folder registers by a file.
func (r *Registration) folder(_ context.Context, id string, what route) error {
	info, err := os.Stat(r.o.Target)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", r.o.Target)
	}
	text, err := json.MarshalIndent(map[string]any{"routes": map[string]route{r.o.Name: what}}, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(r.o.Target, "agent."+r.o.Name+"."+id+".json")
	text = append(text, '\n')
	r.put = func(context.Context) error {
		if _, err := os.Lstat(file); err == nil && r.end != nil {
			return nil // it is there since the start
		}
		return files.Write(file, text)
	}
	r.drop = func(context.Context) error { return os.Remove(file) }
	return nil
}

// bucket registers by a key.
func (r *Registration) bucket(ctx context.Context, id string, what route) error {
	o := r.o.NATS
	server, name, err := Bucket(r.o.Target)
	if err != nil {
		return err
	}
	if o.URL = server; o.Logger == nil {
		o.Logger = r.o.Logger
	}
	if r.conn, err = natsconn.Open(ctx, o); err != nil {
		return err
	}
	what.Version, what.Name, what.Lease = routes.Format, r.o.Name, lease.Milliseconds()
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	key := routes.AgentKey(r.o.Name, id)
	var kv jetstream.KeyValue
	r.put = func(ctx context.Context) error {
		if err := r.conn.Ready(); err != nil {
			return err
		}
		if kv == nil {
			if kv, err = r.conn.Bucket(ctx, name, natsconn.BucketOptions{MaxBytes: routes.MaxBucket}); err != nil {
				return err
			}
		}
		err := r.conn.Try(ctx, "put the key "+key+" into the bucket "+name, func(ctx context.Context) error {
			_, err := kv.Put(ctx, key, text)
			return err
		})
		if err != nil {
			kv = nil // it may be gone
		}
		return err
	}
	r.drop = func(ctx context.Context) error {
		for {
			changed := r.conn.Changed()
			switch {
			case r.conn.Up() && kv != nil:
				return kv.Purge(ctx, key)
			case r.conn.Up():
				return nil // the last attempt failed, and was logged
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return r.conn.Ready()
			}
		}
	}
	return nil
}

// keep refreshes the registration.
func (r *Registration) keep(ctx context.Context) {
	tick := time.NewTicker(refresh)
	defer tick.Stop()
	var failed error
	for {
		var changed <-chan struct{}
		if r.conn != nil {
			changed = r.conn.Changed()
		}
		select {
		case <-tick.C:
		case <-changed:
		case <-ctx.Done():
			return
		}
		err := r.put(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && failed == nil:
			r.o.Logger.Warn("registration not refreshed: routers may take this agent for gone", "agent", r.o.Name, "error", err.Error())
		case err == nil && failed != nil:
			r.o.Logger.Info("registered again", "agent", r.o.Name)
		}
		failed = err
	}
}

// Close takes the registration back. What cannot be reached forgets it by itself, a folder does not.
func (r *Registration) Close() error {
	r.end()
	r.over.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), unregisterTimeout)
	defer cancel()
	err := r.drop(ctx)
	if r.conn != nil {
		r.conn.Close()
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("register: %w", err)
	}
	return nil
}
