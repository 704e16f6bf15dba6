package forward

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

type web struct {
	*httptest.Server
	conns atomic.Int64
	up    flow.Upstream
}

func serveWeb(t *testing.T, h http.HandlerFunc) *web {
	t.Helper()
	s := &web{Server: httptest.NewUnstartedServer(h)}
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.Start()
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	s.up = NewHTTP(&routes.Route{URL: u})
	t.Cleanup(func() {
		_ = s.up.Close() // has no error
		s.Close()
	})
	return s
}

func (s *web) send(ctx context.Context, t *testing.T, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/mcp?q=1", strings.NewReader(body))
	require.NoError(t, err)
	return s.up.RoundTrip(r)
}

func bodyOf(t *testing.T, res *http.Response, err error) string {
	t.Helper()
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(b)
}

func TestF1_F4_ConnectionsAreUsedAgain(t *testing.T) {
	s := serveWeb(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // what is missing is missing in the answer
		switch string(b) {
		case "none":
			w.WriteHeader(http.StatusAccepted)
			return
		case "empty":
			w.WriteHeader(http.StatusNoContent)
			return
		case "flushed":
			_ = http.NewResponseController(w).Flush()
		case "hint":
			w.WriteHeader(http.StatusEarlyHints)
		}
		_, _ = w.Write(append([]byte(r.URL.RequestURI()+" "), b...))
	})
	for _, body := range []string{"a", "none", "flushed", "empty", "hint", "", strings.Repeat("x", 100_000)} {
		want := "/mcp?q=1 " + body
		if body == "none" || body == "empty" {
			want = ""
		}
		res, err := s.send(t.Context(), t, body)
		assert.Equalf(t, bodyOf(t, res, err), want, "%.20q:", body)
	}
	assert.Equalf(t, s.conns.Load(), 1, "connections")
	// Those that the agent closed meanwhile are not.
	for range 3 {
		s.CloseClientConnections()
		res, err := s.send(t.Context(), t, "again")
		assert.Equal(t, bodyOf(t, res, err), "/mcp?q=1 again")
	}
	// One that was left in the middle is not either.
	before := s.conns.Load()
	res, err := s.send(t.Context(), t, strings.Repeat("x", 1<<20))
	require.NoError(t, err)
	_ = res.Body.Close()
	res, err = s.send(t.Context(), t, "b")
	if got := bodyOf(t, res, err); got != "/mcp?q=1 b" || s.conns.Load() != before+1 {
		t.Errorf("%q over %d more connections", got, s.conns.Load()-before)
	}
	assert.Equalf(t, len(s.up.(*plain).idle), 1, "idle connections")
}

// No request is lost to an agent that closes its connections whenever nobody uses them, however the two come together.
func TestF1_AnAgentThatClosesIdleConnections(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not tell at the moment of writing")
	}
	s := serveWeb(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }) // what is missing is missing in the answer
	for i := range 300 {
		s.CloseClientConnections()
		res, err := s.send(t.Context(), t, "a")
		if got := bodyOf(t, res, err); got != "a" {
			t.Fatalf("request %d: %q", i, got)
		}
	}
}

func TestIdleConnectionsAreClosed(t *testing.T) {
	s := serveWeb(t, func(http.ResponseWriter, *http.Request) {})
	res, err := s.send(t.Context(), t, "a")
	bodyOf(t, res, err)
	p := s.up.(*plain)
	p.mu.Lock()
	p.idle[0].since = time.Now().Add(-idleTime)
	p.mu.Unlock()
	p.expire()
	if len(p.idle) != 0 || p.sweep != nil {
		t.Errorf("%d idle connections", len(p.idle))
	}
}

func TestACancelledRequestEndsAtOnce(t *testing.T) {
	began, ended := make(chan bool, 1), make(chan bool, 1)
	s := serveWeb(t, func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			return
		}
		if r.Header.Get("X") != "" {
			_ = http.NewResponseController(w).Flush()
		}
		began <- true
		<-r.Context().Done()
		ended <- true
	})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-began; cancel(errSilent) }()
	if _, err := s.send(ctx, t, "a"); err != errSilent { //nolint:errorlint // exactly the cause
		t.Errorf("%v", err)
	}
	<-ended
}

func TestAHeadWithoutEnd(t *testing.T) {
	s := serveWeb(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ")
		line := strings.Repeat("x", 64<<10)
		for err == nil {
			_, err = io.WriteString(c, line)
		}
	})
	if _, err := s.send(t.Context(), t, "a"); err == nil || !strings.Contains(err.Error(), "larger than 262.1 kB") {
		t.Error(err)
	}
}

// quietLog is for servers whose clients leave on purpose.
func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }

// Under load, too: 64 callers at a time need 64 connections, and the next 64 none.
func TestF1_ConnectionsAreKeptUnderLoad(t *testing.T) {
	const callers = 64
	var together sync.WaitGroup
	s := serveWeb(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		together.Done()
		together.Wait() // so that each needs a connection of its own
		_, _ = io.WriteString(w, "{}")
	})
	for range 3 {
		together.Add(callers)
		var wave sync.WaitGroup
		for range callers {
			wave.Go(func() {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/mcp", strings.NewReader("x"))
				if err != nil {
					t.Error(err)
					return
				}
				res, err := s.up.RoundTrip(r)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			})
		}
		wave.Wait()
		if n := s.conns.Load(); n != callers {
			t.Fatalf("%d connections for waves of %d requests", n, callers)
		}
	}
}
