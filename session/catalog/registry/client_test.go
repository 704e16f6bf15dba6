package registry_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/catalog/registry"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/registrytest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func server(name, version, more string) string {
	return fmt.Sprintf(`{"name":%q,"description":"about %s","version":%q%s}`, name, name, version, more)
}

func client(t *testing.T, r *registrytest.Registry) *registry.Client {
	t.Helper()
	c, err := registry.Open(config.Server{URL: r.URL}, nil)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

func all(t *testing.T, c *registry.Client, q registry.Query) (out []registry.Entry, err error) {
	t.Helper()
	_, err = c.List(t.Context(), q, func(page []registry.Entry) bool { out = append(out, page...); return true })
	return out, err
}

// The published descriptions come back by list, search, name and version.
func TestClient(t *testing.T) {
	r := registrytest.Start(t)
	for n := range 250 {
		r.Put(t, server(fmt.Sprintf("com.example/server-%03d", n), "1.0.0", ""))
	}
	for _, f := range []string{"airtable.json", "brave.json", "filesystem-2025-07.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", f))
		require.NoError(t, err)
		r.Put(t, string(b))
	}
	r.Put(t, server("com.example/server-007", "1.1.0+build", ""))
	r.Status("com.example/server-008", "deprecated", "use server-009")
	r.Status("com.example/server-009", "deleted", "")
	c := client(t, r)
	if got, err := all(t, c, registry.Query{Version: "latest"}); err != nil || len(got) != 252 {
		t.Errorf("%d entries, %v", len(got), err)
	}
	if got, err := all(t, c, registry.Query{Search: "airtable"}); err != nil || len(got) != 1 || got[0].Name != "io.github.domdomegg/airtable-mcp-server" || len(got[0].Packages) != 3 {
		t.Errorf("%v, %v", got, err)
	}
	e, err := c.Version(t.Context(), "com.example/server-007", "")
	if err != nil || e.Document.Version != "1.1.0+build" || !e.Latest || e.Published.IsZero() || e.Status != "active" {
		t.Errorf("%+v, %v", e, err)
	}
	if e, err := c.Version(t.Context(), "com.example/server-007", "1.1.0+build"); err != nil || e.Document.Version != "1.1.0+build" {
		t.Errorf("%+v, %v", e, err)
	}
	if v, err := c.Versions(t.Context(), "com.example/server-007"); err != nil || len(v) != 2 || v[0].Document.Version != "1.1.0+build" {
		t.Errorf("%v, %v", v, err)
	}
	if e, err := c.Version(t.Context(), "com.example/server-008", ""); err != nil || e.Status != "deprecated" || e.Message != "use server-009" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := c.Version(t.Context(), "com.example/none", ""); failure.KindOf(err) != failure.NotFound {
		t.Errorf("%v", err)
	}
}

// A hostile registry ends in an error that says what it does, never in a hang, a panic or a full memory.
func TestHostileRegistry(t *testing.T) {
	endless := func(cursor func(n int) string) func(http.ResponseWriter, *http.Request) bool {
		n := 0
		return func(w http.ResponseWriter, _ *http.Request) bool {
			n++
			fmt.Fprintf(w, `{"servers":[{"server":%s}],"metadata":{"nextCursor":%q}}`, server("a/b", "1", ""), cursor(n))
			return true
		}
	}
	text := func(s string) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool { _, _ = w.Write([]byte(s)); return true }
	}
	many := func(servers, size int) func(http.ResponseWriter, *http.Request) bool {
		n := 0
		one := `{"server":` + server("a/b", "1", `,"x":"`+strings.Repeat("x", size-5)+`"`) + `}`
		body := one + strings.Repeat(","+one, servers-1)
		return func(w http.ResponseWriter, _ *http.Request) bool {
			n++
			fmt.Fprintf(w, `{"servers":[%s],"metadata":{"nextCursor":"%d"}}`, body, n)
			return true
		}
	}
	for name, c := range map[string]struct {
		before func(http.ResponseWriter, *http.Request) bool
		want   string
	}{
		"the same cursor": {endless(func(int) string { return "again" }), "never ends"},
		"endless cursors": {endless(func(n int) string { return fmt.Sprint(n) }), "more than 1000 pages"},
		"endless servers": {many(100, 10), "more than 60000 servers"},
		"endless bytes":   {many(10, 1<<20), "more than 100.7 MB"},
		"a long cursor":   {endless(func(int) string { return strings.Repeat("x", 5000) }), "cursor is longer"},
		"an empty page":   {text(`{"servers":[],"metadata":{"nextCursor":"x"}}`), "after an empty page"},
		"a huge page":     {text(strings.Repeat(" ", 17<<20)), "more than 16"},
		"a deep page":     {text(`{"servers":` + strings.Repeat("[", 100_000)), "levels"},
		"no JSON":         {text("<html>"), "not the JSON"},
		"another type":    {text(`{"servers":{}}`), "not the JSON"},
		"an error":        {func(w http.ResponseWriter, _ *http.Request) bool { http.Error(w, "\x1b]0;x\a", 500); return true }, "answered 500"},
		"many redirects": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, r.URL.String(), http.StatusFound)
			return true
		}, "redirects"},
		"a file": {func(w http.ResponseWriter, r *http.Request) bool {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
			return true
		}, "redirects to"},
		"a broken promise": {func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Content-Length", "100")
			return true
		}, "cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			r := registrytest.Start(t)
			r.Before(c.before)
			_, err := all(t, client(t, r), registry.Query{})
			var f *failure.Error
			if !errors.As(err, &f) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("another server", func(t *testing.T) {
		r := registrytest.Start(t)
		r.Before(text(`{"server":` + server("evil/other", "1", "") + `}`))
		if _, err := client(t, r).Version(t.Context(), "good/server", ""); err == nil || !strings.Contains(err.Error(), "evil/other") {
			t.Errorf("%v", err)
		}
	})
	t.Run("never answers", func(t *testing.T) {
		r := registrytest.Start(t)
		r.Before(func(_ http.ResponseWriter, req *http.Request) bool { <-req.Context().Done(); return true })
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		if _, err := client(t, r).Version(ctx, "good/server", ""); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	})
}

// A registry of the Internet cannot send anyone to a program of this machine.
func TestRedirectsInwards(t *testing.T) {
	asked := false
	c, err := registry.Open(config.Server{URL: "https://registry.example.com"}, roundTrip(func(req *http.Request) (*http.Response, error) {
		if asked = asked || req.URL.Hostname() != "registry.example.com"; asked {
			return nil, errors.New("asked " + req.URL.Host)
		}
		return &http.Response{StatusCode: 302, Header: http.Header{"Location": {"https://169.254.169.254/latest"}}, Body: http.NoBody, Request: req}, nil
	}))
	require.NoError(t, err)
	if _, err := all(t, c, registry.Query{}); err == nil || asked || !strings.Contains(err.Error(), "this machine or its network") {
		t.Errorf("%v, asked: %v", err, asked)
	}
	for _, base := range []string{"ftp://h", "http://registry.example.com", "", "https://", "https://h?x=1"} {
		if _, err := registry.Open(config.Server{URL: base}, nil); err == nil {
			t.Errorf("%q is taken as the URL of a registry", base)
		}
	}
}

// A registry is reached as servers are: through the proxy of the environment, whichever variable names it, and with the file of
// certificates that vouches for it; a connection serves for more than one request.
func TestNetwork(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"} {
		t.Setenv(name, "")
		t.Setenv(strings.ToLower(name), "")
	}
	asked := make(chan string, 9)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		asked <- req.Method + " " + req.Host
		http.Error(w, "not from here", http.StatusForbidden)
	}))
	t.Cleanup(proxy.Close)
	own := nettest.SelfSigned(t)
	var made atomic.Int32
	secure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"server":%s}`, server("a/b", "1", ""))
	}))
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{own.TLS}}
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			made.Add(1)
		}
	}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	get := func(at config.Server) error {
		t.Helper()
		c, err := registry.Open(at, nil)
		require.NoError(t, err)
		defer c.Close()
		for range 3 {
			if _, err = c.Version(t.Context(), "a/b", ""); err != nil {
				break
			}
		}
		return err
	}
	if err := get(config.Server{URL: secure.URL, CA: own.Cert}); err != nil || made.Load() != 1 {
		t.Errorf("%v, over %d connections", err, made.Load())
	}
	if err := get(config.Server{URL: secure.URL}); err == nil {
		t.Error("a registry is trusted that nobody vouches for")
	}
	t.Setenv("ALL_PROXY", proxy.URL)
	if err := get(config.Server{URL: secure.URL, CA: own.Cert}); err != nil {
		t.Errorf("on this machine: %v", err)
	}
	assert.ErrorContains(t, get(config.Server{URL: "https://registry.example/x"}), "403")
	if got := <-asked; got != "CONNECT registry.example:443" {
		t.Errorf("the proxy was asked for %s", got)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The cached list follows the registry: everything once, then what changed; it is there without the registry.
func TestCache(t *testing.T) {
	r := registrytest.Start(t)
	for n := range 150 {
		r.Put(t, server(fmt.Sprintf("com.example/server-%03d", n), "1.0.0", `,"remotes":[{"type":"sse","url":"https://h/sse"}]`))
	}
	c, cache := client(t, r), registry.OpenCache(filepath.Join(t.TempDir(), "new"), r.URL)
	empty, err := cache.Load()
	if err != nil || len(empty.Servers) > 0 {
		t.Fatal(empty, err)
	}
	last := 0
	l, bad, err := cache.Sync(t.Context(), c, empty, func(n int) { last = n })
	if err != nil || bad != 0 || len(l.Servers) != 150 || last != 150 {
		t.Fatal(len(l.Servers), bad, last, err)
	}
	r.Put(t, server("com.example/server-003", "2.0.0", ""))
	r.Put(t, server("com.example/new", "0.1.0", ""))
	r.Status("com.example/server-004", "deleted", "")
	r.Status("com.example/server-005", "deprecated", "")
	before := len(r.Requests())
	if l, _, err = cache.Sync(t.Context(), c, l, nil); err != nil || len(l.Servers) != 150 {
		t.Fatal(len(l.Servers), err)
	}
	if asked := r.Requests()[before:]; !strings.Contains(asked[0], "updated_since=") {
		t.Errorf("asked for %v", asked)
	}
	r.Before(func(w http.ResponseWriter, _ *http.Request) bool {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return true
	})
	if again, _, err := cache.Sync(t.Context(), c, l, nil); err == nil || len(again.Servers) != 150 {
		t.Errorf("without the registry: %d, %v", len(again.Servers), err)
	}
	l, err = cache.Load()
	if err != nil || len(l.Servers) != 150 || l.Synced.IsZero() {
		t.Fatal(len(l.Servers), err)
	}
	for name, want := range map[string][3]string{
		"com.example/server-003": {"2.0.0", "", ""},
		"com.example/server-005": {"1.0.0", "deprecated", "remote"},
		"com.example/server-149": {"1.0.0", "", "remote"},
		"com.example/new":        {"0.1.0", "", ""},
	} {
		s, ok := l.Find(name)
		e, err := l.Entry(s)
		if !ok || err != nil || s.Version != want[0] || s.Status != want[1] || s.Kinds != want[2] || e.Name != name || e.Document.Version != want[0] {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if _, ok := l.Find("com.example/server-004"); ok {
		t.Error("a deleted server is in the list")
	}
	if other, err := registry.OpenCache(t.TempDir(), r.URL).Load(); err != nil || len(other.Servers) > 0 {
		t.Error(other, err)
	}
}

// A damaged file is read as far as it makes sense.
func TestCacheOfGarbage(t *testing.T) {
	r := registrytest.Start(t)
	r.Put(t, server("com.example/a", "1", ""))
	dir := t.TempDir()
	cache := registry.OpenCache(dir, r.URL)
	if _, _, err := cache.Sync(t.Context(), client(t, r), registry.List{}, nil); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(files) != 1 {
		t.Fatal(files)
	}
	good, _ := os.ReadFile(files[0])
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, bad := range []string{"", "{", string(good[:len(good)/2]), string(good) + "x\ty\n{\"n\":\"../..\"}\t{}\n" + strings.Repeat("z", 3<<20), strings.Repeat("\x00", 1<<20)} {
		require.NoError(t, os.WriteFile(files[0], []byte(bad), 0o600))
		if l, err := cache.Load(); err != nil || len(l.Servers) > 1 {
			t.Errorf("%.40q: %d, %v", bad, len(l.Servers), err)
		}
	}
}
