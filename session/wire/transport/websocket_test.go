package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// accepting is a server that opens WebSockets and does script with each.
func accepting(t *testing.T, script func(ctx context.Context, c *websocket.Conn)) *httptest.Server {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(-1)
		script(r.Context(), c)
	})
}

func socketPeer(t *testing.T, cfg config.Server) (*httpConn, *socket) {
	t.Helper()
	p := &httpConn{got: &received{news: make(chan struct{}, 1)}, j: journal.New(journal.Options{Dir: t.TempDir()})}
	s := newSocket(cfg, Tap{Journal: p.j, Server: "srv", Conn: 1})
	p.Transport = s
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), p.j.Close()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p, s
}

func wsURL(s *httptest.Server) string {
	return "ws" + strings.TrimPrefix(s.URL, "http") + "/mcp?key=s3cret"
}

func TestP14_WebSocketCarriesFramesByteForByte(t *testing.T) {
	var seen http.Header
	var said error
	over := make(chan struct{})
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(over)
		seen = r.Header.Clone()
		seen.Set("Host", r.Host)
		c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"mcp"}, InsecureSkipVerify: true})
		if err != nil {
			t.Error(err)
			return
		}
		defer c.CloseNow()
		c.SetReadLimit(-1)
		for {
			kind, b, err := c.Read(r.Context())
			if err != nil {
				said = err
				return
			}
			if err := c.Write(r.Context(), kind, b); err != nil {
				said = err
				return
			}
		}
	})
	p, _ := socketPeer(t, config.Server{URL: wsURL(srv), Headers: map[string]string{"Authorization": "Bearer s3cret", "Host": "inner.example"}})
	require.NoError(t, p.Start(t.Context(), p.got))
	frames := []string{
		"{ \"jsonrpc\": \"2.0\",\n\t\"id\": 1, \"method\":\"ping\" }",
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"x":"` + strings.Repeat("ü", 1<<20) + `"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"ping"}`,
	}
	for _, f := range frames {
		require.NoError(t, p.send(t, message(f)))
	}
	p.got.await(t, "the echo", func() bool { return len(p.got.frames) == len(frames) })
	for i, f := range p.got.all() {
		if f != frames[i] {
			t.Errorf("%.80q came back as %.80q", frames[i], f)
		}
	}
	assert.NoError(t, p.Close())
	<-over
	if websocket.CloseStatus(said) != websocket.StatusNormalClosure {
		t.Errorf("the server saw %v", said)
	}
	for name, want := range map[string]string{"Sec-Websocket-Protocol": "mcp", "Origin": "", "Authorization": "Bearer s3cret", "Host": "inner.example", "Sec-Websocket-Extensions": ""} {
		assert.Equalf(t, seen.Get(name), want, "%s", name)
	}
	if log := p.journal(journal.HTTP); strings.Contains(log, "s3cret") || !strings.Contains(log, "101 Switching Protocols") {
		t.Errorf("journalled:\n%s", log)
	}
	fails(t, p.send(t, call("4", "ping")), failure.ChannelClosed)
}

func TestWebSocketsThatMisbehave(t *testing.T) {
	answer := func(ctx context.Context, c *websocket.Conn) { _ = c.Write(ctx, websocket.MessageText, []byte(answer1)) }
	for name, c := range map[string]struct {
		script func(ctx context.Context, c *websocket.Conn)
		broken string // a frame that is, after which the answer arrives
		lost   []string
	}{
		"too large": {func(ctx context.Context, c *websocket.Conn) {
			_ = c.Write(ctx, websocket.MessageText, []byte(`{"id":7,"result":"`+strings.Repeat("x", 100_000)+`"}`))
			answer(ctx, c)
			_, _, _ = c.Read(ctx)
		}, "larger than the limit of 1000 bytes", nil},
		"binary": {func(ctx context.Context, c *websocket.Conn) {
			_ = c.Write(ctx, websocket.MessageBinary, []byte(answer1))
			answer(ctx, c)
			_, _, _ = c.Read(ctx)
		}, "the server sent a binary message", nil},
		"empty messages": {func(ctx context.Context, c *websocket.Conn) {
			_ = c.Write(ctx, websocket.MessageText, []byte(" \n"))
			_ = c.Write(ctx, websocket.MessageText, nil)
			answer(ctx, c)
			_, _, _ = c.Read(ctx)
		}, "", nil},
		"goes away": {func(_ context.Context, c *websocket.Conn) {
			_ = c.Close(websocket.StatusGoingAway, "restarting")
		}, "", []string{"the server closed the WebSocket: 1001 going away: restarting", "reconnect"}},
		"policy": {func(_ context.Context, c *websocket.Conn) {
			_ = c.Close(websocket.StatusPolicyViolation, "")
		}, "", []string{"1008 policy violation", "check the credentials"}},
		"own code": {func(_ context.Context, c *websocket.Conn) {
			_ = c.Close(4711, "no")
		}, "", []string{"4711 of the server's own: no"}},
		"hangs up": {func(context.Context, *websocket.Conn) {}, "", []string{"without closing the WebSocket"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := accepting(t, c.script)
			p, _ := socketPeer(t, config.Server{URL: wsURL(srv), MaxFrame: 1000})
			require.NoError(t, p.Start(t.Context(), p.got))
			if c.lost != nil {
				p.got.await(t, "the end", func() bool { return p.got.lost != nil })
				fails(t, p.got.lost, failure.ChannelClosed, c.lost...)
				if strings.Contains(p.got.lost.Error(), "s3cret") {
					t.Error(p.got.lost)
				}
				return
			}
			p.got.await(t, "the answer", func() bool { return len(p.got.frames) == 1 })
			switch {
			case c.broken == "" && len(p.got.broken) > 0, p.got.frames[0] != answer1:
				t.Errorf("%v, %q", p.got.broken, p.got.frames)
			case c.broken != "" && (len(p.got.broken) != 1 || !strings.Contains(p.got.broken[0].Error(), c.broken) || p.got.heads[0] == ""):
				t.Errorf("%v, %q", p.got.broken, p.got.heads)
			}
		})
	}
}

func TestWebSocketsThatDoNotOpen(t *testing.T) {
	status := func(code int, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, "no socket here")
		}
	}
	upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket"}
	for name, c := range map[string]struct {
		handle http.HandlerFunc
		words  []string
	}{
		"page":      {status(200), []string{"200 OK instead of opening a WebSocket: no socket here", "check the path"}},
		"upgrade":   {status(426), []string{"426 Upgrade Required instead"}},
		"refused":   {status(401, "WWW-Authenticate", "Bearer"), []string{"answered with 401"}},
		"redirect":  {status(302, "Location", "http://elsewhere.example/mcp"), []string{"redirects to http://elsewhere.example/mcp", "give the final URL itself"}},
		"no accept": {status(101, upgrade...), []string{"opened the WebSocket wrongly: invalid Sec-WebSocket-Accept"}},
		"never":     {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, []string{"deadline exceeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, c.handle)
			p, _ := socketPeer(t, config.Server{URL: wsURL(srv)})
			ctx := t.Context()
			if name == "never" {
				short, stop := context.WithTimeout(ctx, 50*time.Millisecond)
				defer stop()
				ctx = short
			}
			err := p.Start(ctx, p.got)
			if err == nil {
				t.Fatal("it opened")
			}
			for _, w := range c.words {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("no %q: %v", w, err)
				}
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Error(err)
			}
		})
	}
	for raw, want := range map[string]string{"ws://": "has no host", "wsx://h/": "does not start with", "ftp://h/": "does not start with"} {
		p, _ := socketPeer(t, config.Server{URL: raw})
		fails(t, p.Start(t.Context(), p.got), failure.Usage, want)
	}
}

// A server that reads nothing, and says no goodbye either, holds nobody up for long.
func TestWebSocketServerThatDoesNotRead(t *testing.T) {
	srv := accepting(t, func(context.Context, *websocket.Conn) { <-t.Context().Done() }) // no context of a request ends once it was upgraded
	p, s := socketPeer(t, config.Server{URL: wsURL(srv)})
	s.stall = 100 * time.Millisecond
	require.NoError(t, p.Start(t.Context(), p.got))
	large := message(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":"` + strings.Repeat("x", 64<<20) + `"}}`)
	fails(t, p.send(t, large), failure.ChannelClosed, "the server does not read what it is sent (waited 100ms)")
	p.got.await(t, "the end", func() bool { return p.got.lost != nil })
	srv = accepting(t, func(context.Context, *websocket.Conn) { <-t.Context().Done() }) // no context of a request ends once it was upgraded
	p, _ = socketPeer(t, config.Server{URL: wsURL(srv)})
	require.NoError(t, p.Start(t.Context(), p.got))
	start := time.Now()
	if err := p.Close(); err != nil || time.Since(start) > 4*time.Second { // the library alone would wait for five
		t.Errorf("closed after %v: %v", time.Since(start), err)
	}
}

func TestSecureWebSocketTrustsTheNamedCertificate(t *testing.T) {
	leakChecked(t)
	own := nettest.SelfSigned(t)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 {
			t.Errorf("asked over %s", r.Proto)
		}
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		_ = c.Write(r.Context(), websocket.MessageText, []byte(answer1))
		_, _, _ = c.Read(r.Context())
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{own.TLS}}
	srv.EnableHTTP2 = true
	srv.StartTLS()
	t.Cleanup(srv.Close)
	url := "wss" + strings.TrimPrefix(srv.URL, "https")
	for ca, want := range map[string]string{"": "unknown authority", own.Cert: ""} {
		p, _ := socketPeer(t, config.Server{URL: url, CA: ca})
		switch err := p.Start(t.Context(), p.got); {
		case want != "":
			fails(t, err, failure.Transport, want)
		case err != nil:
			t.Error(err)
		default:
			p.got.await(t, "a frame", func() bool { return len(p.got.frames) == 1 })
		}
	}
	assert.Equal(t, fmt.Sprint(Kinds(config.Server{URL: url}), Kinds(config.Server{URL: url, Transport: config.Auto})), "[ws] [ws]")
}

// Close may come while the WebSocket is being opened: nothing is left of it, and no frame arrives afterwards.
func TestWebSocketClosedWhileItOpens(t *testing.T) {
	for i := range 20 {
		srv := accepting(t, func(ctx context.Context, c *websocket.Conn) { _, _, _ = c.Read(ctx) })
		p, _ := socketPeer(t, config.Server{URL: wsURL(srv)})
		started := make(chan error)
		go func() { started <- p.Start(t.Context(), p.got) }()
		time.Sleep(time.Duration(i) * 100 * time.Microsecond) // before, in the middle of it, and after
		assert.NoError(t, p.Close())
		<-started
		if err := p.send(t, call("1", "ping")); err == nil {
			t.Error("sent something after Close")
		}
	}
}
