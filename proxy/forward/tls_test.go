package forward

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/routes"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// secure is a web server over TLS that offers these protocols; upstream trusts it.
func secure(t *testing.T, h http.HandlerFunc, protocols ...string) *web {
	t.Helper()
	s := &web{Server: httptest.NewUnstartedServer(h)}
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			s.conns.Add(1)
		}
	}
	s.Config.ErrorLog = quietLog()
	s.TLS = &tls.Config{NextProtos: protocols}
	s.EnableHTTP2 = len(protocols) > 0 && protocols[0] == "h2"
	s.StartTLS()
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	s.up = NewHTTP(&routes.Route{URL: u})
	s.transport().TLSClientConfig.RootCAs = s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	t.Cleanup(func() {
		_ = s.up.Close() // has no error
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

func (s *web) transport() *http.Transport { return s.up.(direct).Transport }

// What client and server agree on is the newest that both know, and an agent that agrees on nothing cannot be reached.
func TestTLS_WhatIsSpokenIsNegotiated(t *testing.T) {
	for _, c := range []struct {
		offers []string
		major  int
	}{{[]string{"h2", "http/1.1"}, 2}, {[]string{"http/1.1"}, 1}, {nil, 1}, {[]string{"spdy/3"}, 0}} {
		s := secure(t, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body) // what is missing is missing in the answer
			_, _ = w.Write(append([]byte(r.URL.RequestURI()+" "), b...))
		}, c.offers...)
		for range 3 {
			res, err := s.send(t.Context(), t, "a")
			if c.major == 0 {
				if err == nil {
					t.Errorf("%q: %d", c.offers, res.StatusCode)
					_ = res.Body.Close()
				}
				continue
			}
			if got := bodyOf(t, res, err); got != "/mcp?q=1 a" || res.ProtoMajor != c.major {
				t.Errorf("%q: %q over HTTP/%d", c.offers, got, res.ProtoMajor)
			}
		}
		if n := s.conns.Load(); c.major > 0 && n != 1 {
			t.Errorf("%q: %d connections for 3 requests", c.offers, n)
		}
	}
}

func TestTLS_PiecesComeAsTheyAreWritten(t *testing.T) {
	for _, offers := range [][]string{{"h2"}, nil} {
		next := make(chan string, 1)
		s := secure(t, func(w http.ResponseWriter, _ *http.Request) {
			for part := range next {
				_, _ = io.WriteString(w, part) // the reader sees what is missing
				_ = http.NewResponseController(w).Flush()
			}
		}, offers...)
		next <- "data: 0\n"
		res, err := s.send(t.Context(), t, "a")
		require.NoError(t, err)
		lines := bufio.NewReader(res.Body)
		for _, want := range []string{"data: 0\n", "\n", "data: \xf0\x9f\n", ""} {
			if want == "" {
				close(next)
			} else if want != "data: 0\n" {
				next <- want
			}
			if got, err := lines.ReadString('\n'); got != want || err != nil && want != "" {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
		}
		_ = res.Body.Close()
	}
}

// The agent ends idle connections, whole or half: the next request goes over a new one.
func TestTLS_IdleConnectionsThatTheAgentEnds(t *testing.T) {
	var mu sync.Mutex
	var conns []net.Conn
	s := secure(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body) // as above
		_, _ = w.Write(b)
	})
	raw := &net.ListenConfig{}
	ln, err := raw.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var relays sync.WaitGroup
	relays.Go(func() { // a wire that can be cut on one side
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			agent, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				_ = c.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			relays.Go(func() {
				_, _ = io.Copy(agent, c)
				_ = agent.Close()
			})
			relays.Go(func() { _, _ = io.Copy(c, agent) })
		}
	})
	defer func() {
		_ = ln.Close()
		_ = s.up.Close() // has no error
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		relays.Wait()
	}()
	s.URL = "https://" + ln.Addr().String()
	for i := range 4 {
		res, err := s.send(t.Context(), t, "a")
		assert.Equalf(t, bodyOf(t, res, err), "a", "request %d", i)
		mu.Lock()
		last, n := conns[len(conns)-1].(*net.TCPConn), len(conns)
		mu.Unlock()
		if n != i+1 {
			t.Errorf("%d connections after %d requests", n, i+1)
		}
		if i%2 == 0 {
			_ = last.CloseWrite() // half: the router's side stays open
		} else {
			_ = last.Close()
		}
		waitIdle(t, s)
	}
}

// waitIdle waits until the transport noticed that its idle connection is gone: then one that asks for an idle one only fails.
func waitIdle(t *testing.T, s *web) {
	t.Helper()
	dial := s.transport().DialContext
	defer func() { s.transport().DialContext = dial }()
	none := errors.New("no idle connection")
	s.transport().DialContext = func(context.Context, string, string) (net.Conn, error) { return nil, none }
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		res, err := s.send(t.Context(), t, "")
		if errors.Is(err, none) {
			return
		}
		if err == nil {
			_ = res.Body.Close()
		}
	}
	t.Fatal("a connection that the agent ended is still used")
}

// An agent that accepts a connection and says nothing does not keep the request longer than a handshake may take.
func TestTLS_AHandshakeThatDoesNotEnd(t *testing.T) {
	lns, err := listen.Listen(t.Context(), "127.0.0.1", 0)
	require.NoError(t, err)
	for _, ln := range lns {
		defer func() { _ = ln.Close() }() // connections wait in its queue
	}
	u := &url.URL{Scheme: "https", Host: lns[0].Addr().String(), Path: "/mcp"}
	up := NewHTTP(&routes.Route{URL: u})
	assert.Equalf(t, up.(direct).TLSHandshakeTimeout, dialTimeout, "handshakes have no limit")
	up.(direct).TLSHandshakeTimeout = 50 * time.Millisecond
	ask := func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader("a"))
		require.NoError(t, err)
		res, err := up.RoundTrip(r)
		if err == nil {
			_ = res.Body.Close()
		}
		return err
	}
	assert.ErrorContains(t, ask(t.Context()), "TLS handshake timeout")
	up.(direct).TLSHandshakeTimeout = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > 30*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	_ = up.Close() // has no error
}

func TestTLS_ACancelledRequestEndsAtOnce(t *testing.T) {
	for _, offers := range [][]string{{"h2"}, nil} {
		began, ended := make(chan bool, 1), make(chan bool, 1)
		s := secure(t, func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			began <- true
			<-r.Context().Done()
			ended <- true
			panic(http.ErrAbortHandler) // an answer that ends well could still arrive
		}, offers...)
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { <-began; cancel(errSilent) }()
		res, err := s.send(ctx, t, "a")
		if err == nil {
			_, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
		}
		if err == nil || !errors.Is(context.Cause(ctx), errSilent) {
			t.Errorf("%v", err)
		}
		<-ended
	}
}
