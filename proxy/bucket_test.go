package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/mcphud/mcphud/proxy/cluster"

	"github.com/mcphud/mcphud/session/serve/natsconn"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/natstest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func logTo(l *faketest.Buffer) *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// fromBucket is a router with the routes of a bucket.
func fromBucket(t *testing.T, s *natstest.Server, l *faketest.Buffer, o Options) *fixture {
	t.Helper()
	keys, err := cluster.OpenRoutes(t.Context(), natsconn.Options{URL: s.URL, Logger: logTo(l)}, cluster.DefaultBucket)
	require.NoError(t, err)
	o.Keys, o.Logger = keys, logTo(l)
	r, err := New(o)
	if err != nil {
		keys.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		assert.NoError(t, r.Close(context.Background()))
		keys.Close()
	})
	require.NoError(t, r.Start(t.Context()))
	return &fixture{Router: r, client: http.DefaultClient}
}

// registered registers an agent until the test, or whoever calls its end, is over.
func registered(t *testing.T, target, name string, a *agent, token string) *cluster.Registration {
	t.Helper()
	r, err := cluster.OpenRegistration(t.Context(), cluster.RegistrationOptions{Target: target, Name: name, URL: a.at(), Token: token, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	return r
}

// connected is a connection to write into the bucket by hand.
func connected(t *testing.T, s *natstest.Server) jetstream.KeyValue {
	t.Helper()
	c, err := natsconn.Open(t.Context(), natsconn.Options{URL: s.URL, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	kv, err := c.Bucket(t.Context(), cluster.DefaultBucket, natsconn.BucketOptions{})
	require.NoError(t, err)
	return kv
}

func TestAgentsRegisterInABucket(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t)
	one, two := named(t, "one"), named(t, "two")
	var l faketest.Buffer
	f := fromBucket(t, s, &l, Options{})
	a := registered(t, s.URL, "a", one, "")
	require.Eventually(t, "the agent", func() bool { return f.modern(t).status == 200 })
	b := registered(t, s.URL+"/"+cluster.DefaultBucket, "a", two, "")
	require.Eventually(t, "the other", func() bool { return strings.Contains(f.modern(t).body, "two") })
	assert.NoError(t, a.Close())
	require.Eventually(t, "the first to be gone", func() bool { return urlsOf(f, "a") == two.at() })
	// The server goes and comes back: who is registered stays so, and the router says that it cannot know.
	s.Kill()
	require.Eventually(t, "the router to say so", func() bool { return f.RoutesErr() != nil })
	if got := f.modern(t); got.status != 200 || !strings.Contains(f.Status().Routes.Error, "the last valid ones stay in force") {
		t.Errorf("%+v; %v", got, f.RoutesErr())
	}
	s.Restart()
	require.Eventually(t, "the routes to be known again", func() bool { return f.RoutesErr() == nil })
	c := registered(t, s.URL, "a", one, "")
	require.Eventually(t, "the first again", func() bool { return strings.Contains(f.modern(t).body, "one") })
	for _, r := range []*cluster.Registration{b, c} {
		assert.NoError(t, r.Close())
	}
	require.Eventually(t, "nobody", func() bool { return f.modern(t).status == 404 })
}

func urlsOf(f *fixture, agent string) string {
	route := f.Routes().Routes[agent]
	if route == nil {
		return ""
	}
	var all []string
	for _, one := range route.Replicas() {
		all = append(all, one.Endpoint().String())
	}
	return strings.Join(all, " ")
}

// What others put there can neither take the place of an agent nor run anything; it is named, and what was valid stays.
func TestHostileRegistrations(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t)
	one := named(t, "one")
	kv := connected(t, s)
	put := func(key, text string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		if _, err := kv.Put(ctx, key, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	good := func(name, url string) string {
		return fmt.Sprintf(`{"v":1,"name":%q,"url":%q,"transport":"http"}`, name, url)
	}
	put("route.a", good("a", one.at()))
	var l faketest.Buffer
	f := fromBucket(t, s, &l, Options{})
	for key, text := range map[string]string{
		"agent.b.1": good("a", one.at()), "agent.c.1": `{"v":1,"name":"c","command":"sh"}`, "agent.d.1": `{"v":1,"name":"d","url":"file:///etc/passwd"}`,
		"agent.e.1": `{"v":2,"name":"e","urls":[]}`, "agent.f.1": `{"v":1,"name":"f","url":"https://h/","ca":"/etc/passwd"}`, "agent.g.1": "\x00",
		"agent.h.1": `{"v":1,"name":"h","url":"http://h/` + strings.Repeat("x", 100_000) + `"}`, "agent.i.1": `{"v":1,"name":"i","url":"https://h/","oauth":{}}`,
		"route.a.b": good("a.b", one.at()), "other": good("other", one.at()), "agent.j.1": `{"v":1,"name":"j","registered":true}`,
		"agent.k.1": `{"name":"k","url":"http://h/"}`,
	} {
		put(key, text)
	}
	// A broken value keeps the last valid one.
	put("route.a", `{"v":1,"name":"a","url":`)
	put("agent.z=z.1", good("z.z", one.at())) // comes last
	require.Eventually(t, "the last", func() bool { return urlsOf(f, "z.z") != "" })
	assert.Equalf(t, strings.Join(f.Routes().Names(), " "), "a z.z", "routes")
	if got := f.modern(t); got.status != 200 {
		t.Errorf("%+v", got)
	}
	assert.ErrorContains(t, f.RoutesErr(), "and 12 more")
	for _, want := range []string{
		"not that of its key", "would run with the rights of the router", "has version 2, and this router knows 1: update the router", "file of the router's machine",
		"the maximum is 65536", "has no version", "the last valid ones stay in force",
	} {
		assert.Contains(t, l.String(), want)
	}
	for i := range 300 { // of which 256 count
		put(fmt.Sprintf("agent.m.%d", i), good("m", fmt.Sprintf("http://127.0.0.1:%d/mcp", i+1)))
	}
	require.Eventually(t, "as many as there may be", func() bool { return strings.Count(urlsOf(f, "m"), "http") == 256 })
}

// What somebody puts into the bucket under a name that the router's file has does not get a single call of that route, unless the file says so.
func TestABucketDoesNotJoinTheRoutesOfAFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more  string // of the route in the file
		joins bool
	}{"plain": {"", false}, "shared": {`,"shared":true`, true}} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Run(t)
			mine, evil := named(t, "mine"), named(t, "evil")
			kv := connected(t, s)
			for _, key := range []string{"agent.a.evil", "route.a"} {
				if _, err := kv.Put(t.Context(), key, []byte(`{"v":1,"name":"a","url":"`+evil.at()+`"}`)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := kv.Put(t.Context(), "route.new", []byte(`{"v":1,"name":"new","url":"`+evil.at()+`"}`)); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "routing.json")
			require.NoError(t, os.WriteFile(file, []byte(`{"routes":{"a":{"url":"`+mine.at()+`"`+c.more+`}}}`), 0o600))
			var l faketest.Buffer
			f := fromBucket(t, s, &l, Options{Routes: file})
			require.Eventually(t, "the name that only the bucket has", func() bool { return urlsOf(f, "new") == evil.at() })
			if got := strings.Contains(urlsOf(f, "a"), evil.at()); got != c.joins || !strings.Contains(urlsOf(f, "a"), mine.at()) {
				t.Errorf("the upstreams are %s", urlsOf(f, "a"))
			}
			there := 0
			for range 10 {
				if strings.Contains(f.modern(t).body, "evil") {
					there++
				}
			}
			if (there > 0) != c.joins {
				t.Errorf("%d of 10 calls went to whoever wrote into the bucket", there)
			}
			if said := strings.Contains(l.String(), `has this route, and does not say \"shared\": true`); said == c.joins {
				t.Errorf("the log: %s", l.String())
			}
		})
	}
}

// An agent that died is gone when its lease is over, and its key with it; clocks play no part in it.
func TestARegistrationThatIsNotRefreshedEnds(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t)
	one := named(t, "one")
	kv := connected(t, s)
	if _, err := kv.Put(t.Context(), "agent.a.1", []byte(`{"v":1,"name":"a","url":"`+one.at()+`","lease_ms":600}`)); err != nil {
		t.Fatal(err)
	}
	var l faketest.Buffer
	f := fromBucket(t, s, &l, Options{})
	if got := f.modern(t); got.status != 200 {
		t.Errorf("%+v", got)
	}
	require.Eventually(t, "the route to be gone", func() bool { return f.modern(t).status == 404 })
	require.Eventually(t, "the key to be gone", func() bool {
		_, err := kv.Get(t.Context(), "agent.a.1")
		return err != nil
	})
	assert.Contains(t, l.String(), "agent did not refresh its registration")
}

func TestAgentsRegisterInAFolder(t *testing.T) {
	one := named(t, "one")
	dir := t.TempDir()
	a := registered(t, dir, "my.agent", one, "sesame")
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	r, err := New(Options{Routes: dir})
	require.NoError(t, err)
	defer func() { _ = r.Close(t.Context()) }()
	if route := r.Routes().Routes["my.agent"]; route == nil || route.Headers.Get("Authorization") != "Bearer sesame" || route.URL.String() != one.at() || !route.Stream {
		t.Errorf("%+v", route)
	}
	assert.NoError(t, a.Close())
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

func TestRegistrationsThatCannotBe(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t, func(o *server.Options) { o.JetStream = false })
	dir := t.TempDir()
	for _, c := range []struct{ target, name, url, want string }{
		{dir, "a b", "http://h:1/mcp", "the agent's name cannot be that of a route"},
		{dir, "a", "ftp://h:1/mcp", "URL is not valid"},
		{dir, "a", "http://user:secret@h:1/mcp", "without a user"},
		{dir, "a", "http://[::]:1/mcp", "say by which one routers reach it"},
		{dir, "a", "http://0.0.0.0:1/mcp", "say by which one routers reach it"},
		{filepath.Join(dir, "none"), "a", "http://h:1/mcp", "no such file"},
		{s.URL, "a", "http://h:1/mcp", "the server has no JetStream"},
		{s.URL + "/a.b", "a", "http://h:1/mcp", "the bucket's name is not valid"},
		{"nats://127.0.0.1:1", "a", "http://h:1/mcp", "nothing answers"},
	} {
		r, err := cluster.OpenRegistration(t.Context(), cluster.RegistrationOptions{Target: c.target, Name: c.name, URL: c.url, Logger: slog.New(slog.DiscardHandler)})
		if err == nil {
			_ = r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%v: %v", c, err)
		}
	}
	for target, want := range map[string]string{
		"nats://h": "nats://h mcphud-routes", "tls://u:p@h:1/": "tls://u:p@h:1 mcphud-routes", "nats://h/b": "nats://h b", "nats://h:1,nats://i:2/b_1": "nats://h:1,nats://i:2 b_1",
	} {
		if at, bucket, err := cluster.Bucket(target); err != nil || at+" "+bucket != want {
			t.Errorf("%s: %s %s %v", target, at, bucket, err)
		}
	}
}

// A user without the right to read the bucket is told so when the router starts; one who loses it later goes on.
func TestRoutersWithoutRights(t *testing.T) {
	t.Parallel()
	s := natstest.Run(t, func(o *server.Options) {
		o.Users = []*server.User{{Username: "u", Password: "swordfish", Permissions: &server.Permissions{
			Publish: &server.SubjectPermission{Allow: []string{"$JS.API.INFO", "$JS.API.STREAM.INFO.*"}}, Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
		}}}
	})
	began := time.Now()
	_, err := cluster.OpenRoutes(t.Context(), natsconn.Options{URL: strings.Replace(s.URL, "//", "//u:swordfish@", 1), Logger: slog.New(slog.DiscardHandler)}, "b")
	if err == nil || !strings.Contains(err.Error(), "may not use the bucket b") || strings.Contains(err.Error(), "swordfish") || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}
