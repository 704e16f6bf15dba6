package auth_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/authtest"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/test/sessiontest"
)

// ticketed is an MCP server that wants a header.
type ticketed struct {
	*httptest.Server
	mu   sync.Mutex
	want http.Header
	got  []http.Header
}

func newTicketed(t *testing.T, name, value string) *ticketed {
	s := &ticketed{}
	s.wants(name, value)
	mcp := behave.Handler(behave.Good, behave.Fault{JSON: true})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.got = append(s.got, r.Header.Clone())
		good := true
		for name := range s.want {
			good = good && r.Header.Get(name) == s.want.Get(name)
		}
		s.mu.Unlock()
		if !good {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		mcp.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *ticketed) wants(name, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want = http.Header{}
	s.want.Set(name, value)
}

func (s *ticketed) requests() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.got
}

// script is an executable file, and how often it has run so far.
func script(t *testing.T, body string) (path string, runs func() int) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("scripts are for a shell of Unix")
	}
	dir := t.TempDir()
	path = filepath.Join(dir, "print headers")
	log := filepath.Join(dir, "runs")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho >> '"+log+"'\n"+body+"\n"), 0o700))
	return path, func() int {
		b, err := os.ReadFile(log)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
		return len(b)
	}
}

// helped is a session at a URL with a headers helper.
func helped(t *testing.T, url string, argv ...string) *rig {
	r := &rig{t: t}
	cfg := config.Server{Name: "s", Transport: config.HTTP, URL: url, HeadersHelper: argv, Headers: map[string]string{"X-Ticket": "static"}}
	r.m, r.s = sessiontest.Register(t, session.Options{Auth: &auth.Options{}}, cfg)
	return r
}

// What the helper prints is sent with every request, in the place of what is configured, and stays out of the journal. It runs once
// per connection, knows its server, and gets its arguments as they are.
func TestHelper(t *testing.T) {
	const ticket = "opaque and unguessable"
	srv := newTicketed(t, "X-Ticket", ticket)
	path, runs := script(t, `printf '{"X-Ticket":"`+ticket+`","x-who":"%s %s $1"}' "$CLAUDE_CODE_MCP_SERVER_NAME" "$CLAUDE_CODE_MCP_SERVER_URL"`)
	r := helped(t, srv.URL, path, "$(touch here); a b")
	for range 2 {
		require.NoError(t, r.s.Connect(t.Context()))
		for range 3 {
			require.NoError(t, r.call("echo"))
		}
		r.s.Disconnect()
	}
	if n := runs(); n != 2 {
		t.Errorf("it ran %d times for two connections", n)
	}
	for _, h := range srv.requests() {
		assert.Equalf(t, h.Get("X-Who"), "s "+srv.URL+" $1", "it")
	}
	if j := r.journal(); strings.Contains(j, ticket) || strings.Contains(j, "s "+srv.URL) || !strings.Contains(j, "X-Ticket: ***") || !strings.Contains(j, "X-Who: ***") {
		t.Errorf("the journal has\n%s", j)
	}
}

// A 401 makes it run again, once for all who wait; where it prints the same, or the new headers are refused as well, the request ends.
func TestHelperAgain(t *testing.T) {
	srv := newTicketed(t, "Authorization", "Bearer 1")
	path, runs := script(t, `printf '{"Authorization":"Bearer %s"}' $(wc -l < "$(dirname "$0")/runs")`)
	r := helped(t, srv.URL, path)
	require.NoError(t, r.s.Connect(t.Context()))
	srv.wants("Authorization", "Bearer 2")
	var all sync.WaitGroup
	failed := make([]error, 8)
	for i := range failed {
		all.Go(func() { failed[i] = r.call("echo") })
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil || runs() != 2 {
		t.Errorf("after %d runs: %v", runs(), err)
	}
	srv.wants("Authorization", "Bearer none")
	err := r.call("echo")
	e := (*failure.Error)(nil)
	if !errors.As(err, &e) || e.Kind != failure.OAuth || e.Status != 401 || e.Remedy != "" || !strings.Contains(e.Message, "refuses the Authorization that it printed") || runs() != 3 {
		t.Errorf("after %d runs: %+v", runs(), err)
	}
}

// A helper that prints no Authorization leaves the login to the server.
func TestHelperBesideLogin(t *testing.T) {
	path, _ := script(t, `echo '{"X-Ticket":"mine"}'`)
	r := at(t, authtest.Start(t, authtest.Knobs{}), auth.Options{}, func(cfg *config.Server) { cfg.HeadersHelper = []string{path} })
	r.open()
	assert.NoError(t, r.call("echo"))
	for _, c := range r.Calls("/mcp") {
		if c.Header.Get("X-Ticket") != "mine" {
			t.Errorf("a request had %v", c.Header)
		}
	}
}

// A helper that fails is the reason that is given, with what it wrote to stderr, and without what it printed.
func TestHelperFails(t *testing.T) {
	srv := newTicketed(t, "X-Ticket", "no")
	for body, want := range map[string]string{
		"echo 'token=hunter2-hunter2 is too old, log in to the vault' >&2; echo '{\"a\":\"s3cret\"}'; exit 3": "it exited with status 3",
		"echo s3cret":                       "it did not print a JSON object of strings",
		`echo '{"A":1}'`:                    "it did not print a JSON object of strings",
		`echo '{"A":"s3cret","A":"b"}'`:     "it did not print a JSON object of strings",
		`printf '{"A":"s3cret\\r\\nB: c"}'`: "name or value HTTP does not allow",
		`echo '{"A B":"s3cret"}'`:           "name or value HTTP does not allow",
		"yes s3cret":                        "it printed more than 65.5 kB",
		"kill -9 $$":                        "it was ended by signal killed",
		`echo null`:                         "it did not print a JSON object of strings",
		`echo '{}' && exec >&- && exit 42`:  "it exited with status 42",
	} {
		path, runs := script(t, body)
		r := helped(t, srv.URL, path)
		err := r.s.Connect(t.Context())
		e := (*failure.Error)(nil)
		if !errors.As(err, &e) || e.Kind != failure.OAuth || !strings.Contains(e.Message, want) || !strings.Contains(e.Message, "print headers") || runs() != 1 {
			t.Errorf("%s: %d runs, %v", body, runs(), err)
		}
		if text := fmt.Sprintf("%+v %s", e, r.journal()); strings.Contains(text, "s3cret") {
			t.Errorf("%s: its output is in %s", body, text)
		}
		if strings.Contains(want, "status 3") && !strings.Contains(e.Detail, "log in to the vault") {
			t.Errorf("its stderr is missing: %+v", e)
		}
	}
	assert.Equalf(t, len(srv.requests()), 0, "requests were made without headers")
	assert.ErrorContains(t, helped(t, srv.URL, "/nowhere/helper").s.Connect(t.Context()), "command not found")
}

// Those who wait for a helper share its failure, which is the reason that a connection is not made.
func TestHelperFailsForAll(t *testing.T) {
	path, runs := script(t, "sleep 600")
	cfg := config.Server{Name: "s", Transport: config.HTTP, URL: newTicketed(t, "X-Ticket", "no").URL, HeadersHelper: []string{path}, ConnectTimeout: time.Minute}
	opts := &auth.Options{}
	assert.Equalf(t, auth.LimitHelper(opts, 2*time.Second), 10*time.Second, "a helper")
	_, s := sessiontest.Register(t, session.Options{Auth: opts}, cfg)
	if err := s.Connect(t.Context()); err == nil || !strings.Contains(err.Error(), "it did not end within 2s") || runs() != 1 {
		t.Errorf("%d runs: %v", runs(), err)
	}
}

// What a helper leaves running ends with it, and does not hold it up.
func TestHelperForks(t *testing.T) {
	srv := newTicketed(t, "X-Ticket", "mine")
	path, _ := script(t, `sleep 600 & echo $! > "$(dirname "$0")/pid"; echo '{"X-Ticket":"mine"}'`)
	start := time.Now()
	require.NoError(t, helped(t, srv.URL, path).s.Connect(t.Context()))
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(path), "pid"))
	require.NoError(t, err)
	proc := filepath.Join("/proc", strings.TrimSpace(string(b)), "stat")
	for deadline := time.Now().Add(30 * time.Second); runtime.GOOS == "linux"; time.Sleep(5 * time.Millisecond) {
		b, err := os.ReadFile(proc)
		if err != nil || strings.Contains(string(b), ") Z ") {
			break // init has not looked at it yet
		}
		if time.Now().After(deadline) {
			t.Fatal("what it forked still runs")
		}
	}
}

// Another origin gets nothing of what the helper printed, whatever the name.
func TestHelperRedirect(t *testing.T) {
	var got http.Header
	away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(away.Close)
	here := httptest.NewServer(http.RedirectHandler(away.URL+"/mcp", http.StatusTemporaryRedirect))
	t.Cleanup(here.Close)
	path, _ := script(t, `echo '{"X-Ticket":"mine","Authorization":"Custom mine","X-Other":"mine"}'`)
	if err := helped(t, here.URL, path).s.Connect(t.Context()); err == nil {
		t.Error("connected to a teapot")
	}
	if got == nil {
		t.Fatal("the redirect was not followed")
	}
	for name, values := range got {
		if strings.Contains(strings.Join(values, " "), "mine") {
			t.Errorf("another origin got %s", name)
		}
	}
}

// A server that repeats what it refuses, in whatever place, does not bring it into the journal or an error.
func TestRefusalRepeatsTheSecret(t *testing.T) {
	path, _ := script(t, `echo '{"Authorization":"Custom opaque and unguessable","X-Ticket":"another unguessable one"}'`)
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusBadRequest, http.StatusOK} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			said := r.Header.Get("Authorization") + " and " + r.Header.Get("X-Ticket")
			w.Header().Set("WWW-Authenticate", `Custom error_description="not `+said+`"`)
			w.Header().Set("X-Seen", said)
			w.WriteHeader(status)
			_, _ = fmt.Fprintf(w, "you sent %s", said)
		}))
		r := helped(t, srv.URL, path)
		err := r.s.Connect(t.Context())
		srv.Close()
		if err == nil {
			t.Fatalf("%d: connected", status)
		}
		if got := fmt.Sprintf("%v %+v", err, err) + r.journal(); status != http.StatusOK && strings.Contains(got, "unguessable") {
			t.Errorf("%d: %s", status, got)
		} else if head, _, _ := strings.Cut(got[strings.LastIndex(got, "X-Seen"):], "\n"); strings.Contains(head, "unguessable") {
			t.Errorf("%d: %s", status, head)
		}
	}
}
