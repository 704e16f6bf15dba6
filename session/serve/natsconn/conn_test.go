package natsconn_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func open(t *testing.T, o natsconn.Options) *natsconn.Conn {
	t.Helper()
	c, err := natsconn.Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func TestKeepsAndComesBack(t *testing.T) {
	s := natstest.Run(t)
	c := open(t, natsconn.Options{URL: s.URL, Name: "test"})
	kv, err := c.Bucket(t.Context(), "mcphud_b", natsconn.BucketOptions{})
	require.NoError(t, err)
	if _, err := kv.Put(t.Context(), "k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	objects, err := c.Objects(t.Context(), "mcphud_o", 0)
	require.NoError(t, err)
	for _, ttl := range []time.Duration{time.Hour, 0} { // one that was made without gets it, and keeps it
		if objects, err = c.Objects(t.Context(), "mcphud_o", ttl); err != nil {
			t.Fatal(err)
		}
		if s, err := objects.Status(t.Context()); err != nil || s.TTL() != time.Hour {
			t.Errorf("%+v %v", s, err)
		}
	}
	if _, err := objects.PutBytes(t.Context(), "big", make([]byte, 3<<20)); err != nil {
		t.Fatal(err)
	}
	changed := c.Changed()
	s.Kill()
	<-changed
	if changed = c.Changed(); c.Up() {
		t.Error("up without a server")
	}
	assert.ErrorContains(t, c.Ready(), "connection is lost: "+s.URL)
	s.Restart()
	<-changed
	assert.NoError(t, c.Ready())
	kv, err = c.Bucket(t.Context(), "mcphud_b", natsconn.BucketOptions{TTL: time.Hour}) // as it is, whatever it was made with
	require.NoError(t, err)
	if v, err := kv.Get(t.Context(), "k"); err != nil || string(v.Value()) != "v" {
		t.Errorf("%v %v", v, err)
	}
	if got, err := objects.GetBytes(t.Context(), "big"); err != nil || len(got) != 3<<20 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// What is wrong is said with the place and what to do, and without a password.
func TestRefusals(t *testing.T) {
	plain := natstest.Run(t)
	closed := natstest.Run(t)
	closed.Kill()
	users := func(p *server.Permissions) func(*server.Options) {
		return func(o *server.Options) {
			o.Users = []*server.User{{Username: "ada", Password: "hunter2", Permissions: p}}
		}
	}
	locked := natstest.Run(t, users(nil))
	poor := natstest.Run(t, users(&server.Permissions{Publish: &server.SubjectPermission{Deny: []string{"$JS.>"}}}))
	none := natstest.Run(t, func(o *server.Options) { o.JetStream = false })
	as := func(s *natstest.Server, who string) string { return strings.Replace(s.URL, "://", "://"+who+"@", 1) }
	missing := filepath.Join(t.TempDir(), "none.creds")
	for _, c := range []struct {
		name string
		o    natsconn.Options
		want string
	}{
		{"gone", natsconn.Options{URL: closed.URL}, "nats: nothing answers: nats://127.0.0.1"},
		{"nobody", natsconn.Options{URL: locked.URL}, "the server refuses the user"},
		{"password", natsconn.Options{URL: as(locked, "ada:wrong-hunter2")}, "the server refuses the user: nats://***@127.0.0.1"},
		{"rights", natsconn.Options{URL: as(poor, "ada:hunter2")}, "the user may not ask about JetStream"},
		{"no JetStream", natsconn.Options{URL: none.URL}, "has no JetStream"},
		{"old", natsconn.Options{URL: fake(t, "2.8.4")}, "the server has version 2.8.4"},
		{"TLS", natsconn.Options{URL: strings.Replace(plain.URL, "nats:", "tls:", 1)}, "has no TLS"},
		{"scheme", natsconn.Options{URL: "http://ada:hunter2@127.0.0.1"}, "does not begin with nats://"},
		{"scheme less", natsconn.Options{URL: "ada:hunter2@127.0.0.1"}, "the address is not valid"},
		{"slash", natsconn.Options{URL: "nats://ada:hun/ter2@127.0.0.1"}, "cannot be read as a URL"},
		{"comma", natsconn.Options{URL: "nats://ada:hun,ter2@127.0.0.1"}, "the address is not valid"},
		{"credentials", natsconn.Options{URL: plain.URL, Creds: missing}, "the credentials file cannot be read"},
		{"authority", natsconn.Options{URL: plain.URL, CA: missing}, "the certificate authority file cannot be read"},
		{"key", natsconn.Options{URL: plain.URL, Cert: missing}, "needs its key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			conn, err := natsconn.Open(t.Context(), c.o)
			if err == nil {
				conn.Close()
				t.Fatal("it opened")
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "ter2") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// fake is a server of that version that says hello and no more.
func fake(t *testing.T, version string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				_, _ = conn.Write([]byte(`INFO {"server_id":"x","version":"` + version + `","headers":true,"max_payload":1048576}` + "\r\n"))
				b := make([]byte, 4096)
				for {
					n, err := conn.Read(b)
					if err != nil {
						return
					}
					for range strings.Count(string(b[:n]), "PING\r\n") {
						_, _ = conn.Write([]byte("PONG\r\n"))
					}
				}
			}()
		}
	}()
	return "nats://" + ln.Addr().String()
}

// A server that takes connections and says nothing does not hold up whoever has no time.
func TestSilentServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	at := time.Now()
	_, err := natsconn.Open(ctx, natsconn.Options{URL: fake(t, "2.10.0")})
	if err == nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if d := time.Since(at); d > 4*time.Second {
		t.Errorf("took %v", d)
	}
}

// A full server says so when something is to be made.
func TestFull(t *testing.T) {
	s := natstest.Run(t, func(o *server.Options) { o.JetStreamMaxStore = 1 << 20 })
	c := open(t, natsconn.Options{URL: s.URL})
	_, err := c.Bucket(t.Context(), "mcphud_b", natsconn.BucketOptions{MaxBytes: 2 << 20})
	if err == nil || !natsconn.Full(err) || !strings.Contains(err.Error(), "no room to use the bucket mcphud_b") {
		t.Error(err)
	}
}

func TestName(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{"", "_", "demo", "a.b", "a_b", "a b", "a*", "a>", "ä", "a_2eb", "$x", strings.Repeat("x", 200), strings.Repeat("x", 201), strings.Repeat("_", 50), string([]byte{0, 255})} {
		name := natsconn.Name(s)
		if was, twice := seen[name]; twice || name == "" || len(name) > 80 || strings.ContainsAny(name, " .*>/\\") {
			t.Errorf("%q is %q, as is %q", s, name, was)
		}
		seen[name] = s
	}
	assert.Equalf(t, natsconn.Name("demo-1"), "demo-1", "a plain name changed")
	s := natstest.Run(t)
	js := open(t, natsconn.Options{URL: s.URL}).JetStream()
	for name := range seen {
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "mcphud_" + name, Subjects: []string{"mcphud." + name + ".>"}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFilesOfTheKit(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("no /proc")
	}
	s := natstest.Run(t)
	before, _ := os.ReadDir("/proc/self/fd")
	for range 3 {
		c, err := natsconn.Open(t.Context(), natsconn.Options{URL: s.URL})
		require.NoError(t, err)
		c.Close()
	}
	// The server notices a little later.
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if after, _ := os.ReadDir("/proc/self/fd"); len(after) <= len(before) {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%d files were open, %d are", len(before), len(after))
		}
	}
}
