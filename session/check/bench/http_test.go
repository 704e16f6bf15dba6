package bench

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/require"
)

// raw is a server that writes what it is told, after the handshake. It counts its connections.
type raw struct {
	answer func(frame string) string // all bytes of an answer; it ends with "CLOSE" where the connection does
	made   atomic.Int64
}

func (s *raw) serve(t *testing.T, network, addr string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, addr)
	require.NoError(t, err)
	var all sync.WaitGroup
	ctx, end := context.WithCancel(context.Background())
	t.Cleanup(func() {
		_ = l.Close()
		end()
		all.Wait()
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer context.AfterFunc(ctx, func() { _ = c.Close() })()
				defer c.Close()
				s.connection(c)
			})
		}
	})
	return l
}

func (s *raw) connection(c net.Conn) {
	in, asked := bufio.NewReader(c), false
	for {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		env, _ := jsonrpc.Scan(body)
		out := ""
		switch {
		case r.Method != http.MethodPost:
			out = "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n"
		case env.Kind == jsonrpc.Notification:
			out = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
		case env.Method == "server/discover":
			out = withLength(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, env.ID))
		case env.Method == "initialize":
			out = withLength(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, env.ID, greeting))
		default:
			if !asked {
				asked = true
				s.made.Add(1)
			}
			out = s.answer(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, env.ID))
		}
		out, ends := strings.CutSuffix(out, "CLOSE")
		if _, err := io.WriteString(c, out); err != nil || ends {
			return
		}
	}
}

func withLength(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func chunked(body, trailer string) string {
	var b strings.Builder
	w := httputil.NewChunkedWriter(&b)
	for part := range strings.SplitSeq(body, ",") {
		if b.Len() > 0 {
			part = "," + part
		}
		_, _ = io.WriteString(w, part)
	}
	_ = w.Close()
	return b.String() + trailer + "\r\n"
}

// An answer that is none fails its request with the kind that says why.
func TestAnswersOverHTTP(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n"
	for _, c := range []struct {
		name   string
		answer func(frame string) string
		kind   string // of the error, "" for none
		text   string // in it
	}{
		{"length", withLength, "", ""},
		{"chunks and a trailer", func(f string) string {
			return head + "Transfer-Encoding: Chunked\r\n\r\n" + chunked(f, "A: b\r\nC: d\r\n")
		}, "", ""},
		{"events in chunks", func(f string) string {
			return head + "Content-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked("data: "+f+"\n\n", "")
		}, "", ""},
		{"closes", func(f string) string {
			return fmt.Sprintf("%sConnection: x, Close\r\nContent-Length: %d\r\n\r\n%s", head, len(f), f)
		}, "", ""},
		{"a refusal", func(string) string { return "HTTP/1.1 429 Slow down\r\nContent-Length: 4\r\n\r\nwait" }, "HTTP 429", "wait"},
		{"a redirect", func(string) string { return "HTTP/1.1 307 X\r\nLocation: /mcp\r\nContent-Length: 0\r\n\r\n" }, "HTTP 307", ""},
		{"nothing", func(string) string { return "HTTP/1.1 204 No Content\r\n\r\n" }, KindProtocol, ""},
		{"less than was announced", func(string) string { return head + "Content-Length: 100\r\n\r\n{CLOSE" }, KindConnection, "unexpected EOF"},
		{"no last chunk", func(string) string { return head + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nCLOSE" }, KindConnection, "unexpected EOF"},
		{"no answer", func(string) string { return "CLOSE" }, KindConnection, "EOF"},
		{"no HTTP", func(string) string { return "220 ready\r\n" }, KindConnection, "malformed HTTP"},
		{"an endless head", func(string) string { return head + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 1200) }, KindConnection, "exceeded"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &raw{answer: c.answer}
			target := opened(t, config.Server{Name: "raw", Transport: config.HTTP, URL: "http://" + s.serve(t, "tcp", "127.0.0.1:0").Addr().String() + "/mcp"}, 1)
			one := measured(t, Plan{Method: "tools/list", Count: 3}, nil, target).Targets[0]
			switch {
			case c.kind == "" && one.Answered != 3, c.kind != "" && (one.Failed != 3 || len(one.Errors) != 1 || one.Errors[0].Kind != c.kind || !strings.Contains(one.Errors[0].First, c.text)):
				t.Errorf("%d answered, errors %+v", one.Answered, one.Errors)
			}
		})
	}
}

// A connection is used again by the runs after.
func TestConnectionsAreUsedAgain(t *testing.T) {
	s := &raw{answer: withLength}
	path := filepath.Join(t.TempDir(), "s")
	s.serve(t, "unix", path)
	target := opened(t, config.Server{Name: "raw", Transport: config.HTTP, URL: "unix://" + path + ":/mcp"}, 1)
	for range 3 {
		if one := measured(t, Plan{Method: "tools/list", Count: 2}, nil, target).Targets[0]; one.Answered != 2 {
			t.Fatalf("%+v", one)
		}
	}
	if n := s.made.Load(); n > 3 { // net/http does not wait for one whose request is still being written
		t.Errorf("%d connections for 6 requests", n)
	}
}

// An early end does not wait for answers.
func TestHTTPEndsEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := make(chan struct{}, 10)
	target := opened(t, here(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k := &known{answer: func(jsonrpc.Envelope, int) string {
			_ = http.NewResponseController(w).Flush() // the head, and no body
			asked <- struct{}{}
			<-r.Context().Done()
			return `"result":{}`
		}}
		k.ServeHTTP(w, r)
	})), 1)
	run, err := New(t.Context(), Plan{Method: "ping", Clients: 10, For: time.Hour}, nil, "test", target)
	require.NoError(t, err)
	go func() {
		for range 10 {
			<-asked
		}
		cancel()
	}()
	if r, err := run.Do(ctx); err != nil || r.Ended == "" || r.Targets[0].Failed != 0 || r.Targets[0].Answered != 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

// Through a proxy requests go as net/http sends them.
func TestThroughProxy(t *testing.T) {
	k := &known{}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Host != "server.test" {
			t.Errorf("asked for %s", r.URL)
		}
		k.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	target := opened(t, config.Server{Name: "far", Transport: config.HTTP, URL: "http://server.test/mcp", Proxy: proxy.URL}, 1)
	if one := measured(t, Plan{Method: "ping", Count: 3}, nil, target).Targets[0]; one.Answered != 3 {
		t.Errorf("%+v", one)
	}
}
