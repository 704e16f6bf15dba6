package front

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// calm waits until the server answers a normal call within 100 ms and goroutines are back to what they were.
func (f *fixture) calm(t *testing.T, what string, goroutines int) {
	t.Helper()
	f.post(t, call("1", "echo", "{}")) // the connection is set up
	wait(t, "a quick call after "+what, func() bool {
		began := time.Now()
		if g := f.post(t, call("1", "echo", `{"after":1}`)); g.status != 200 || !strings.Contains(g.body, "after") {
			t.Fatalf("after %s: %+v", what, g)
		}
		return time.Since(began) <= 100*time.Millisecond
	})
	http.DefaultClient.CloseIdleConnections()
	wait(t, "goroutines to end after "+what, func() bool { return runtime.NumGoroutine() <= goroutines })
}

func (f *fixture) baseline(t *testing.T) int {
	t.Helper()
	f.post(t, call("1", "echo", "{}"))
	http.DefaultClient.CloseIdleConnections()
	n := runtime.NumGoroutine()
	wait(t, "a quiet server", func() bool {
		time.Sleep(2 * time.Millisecond)
		m := runtime.NumGoroutine()
		same := m == n
		n = m
		return same
	})
	return n
}

// status is the first line of the answer, "" if the connection was closed without one.
func status(t *testing.T, c io.Reader) string {
	t.Helper()
	l, err := bufio.NewReader(c).ReadString('\n')
	if err != nil && l == "" {
		return ""
	}
	_, l, _ = strings.Cut(strings.TrimSpace(l), " ")
	return l
}

// Raw framing that proxies disagree about. What matters is that each is either refused or means one thing, that no
// second request hides in it, and that the server is well afterwards.
func TestThreatsRawHTTP(t *testing.T) {
	f := start(t, nil)
	base := f.baseline(t)
	body := call("1", "echo", "{}")
	head := func(lines ...string) string {
		return "POST /mcp HTTP/1.1\r\nHost: " + f.host() + "\r\nContent-Type: application/json\r\n" + strings.Join(lines, "\r\n")
	}
	length := fmt.Sprintf("Content-Length: %d", len(body))
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	smuggled := "POST /mcp HTTP/1.1\r\nHost: " + f.host() + "\r\nContent-Type: application/json\r\n" + length + "\r\n\r\n" + body
	for name, c := range map[string]struct{ request, want string }{
		"normal":                   {head(length, "Connection: close", "", body), "200"},
		"two lengths":              {head(length, "Content-Length: 5", "", body), "400"},
		"negative length":          {head("Content-Length: -1", "", body), "400"},
		"length and chunked":       {head("Content-Length: 4", "Transfer-Encoding: chunked", "", chunked+smuggled), "200|400"},
		"unknown encoding":         {head("Transfer-Encoding: gzip, chunked", "", chunked), "501|400"},
		"twice chunked":            {head("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", "", chunked), "400|501"},
		"lying chunk":              {head("Transfer-Encoding: chunked", "", "5\r\n"+body+"\r\n0\r\n\r\n"), "400"},
		"huge chunk":               {head("Transfer-Encoding: chunked", "", "fffffffffffffffff\r\n"+body), "400"},
		"no chunk":                 {head("Transfer-Encoding: chunked", "", "zz\r\n"), "400"},
		"bare LF":                  {strings.ReplaceAll(head(length, "Connection: close", "", body), "\r\n", "\n"), "200|400"},
		"obs-fold":                 {head("X-Folded: a", " b", length, "", body), "400|200"},
		"space before colon":       {head("Mcp-Session-Id : x", length, "", body), "400"},
		"NUL in a header":          {head("X-Nul: a\x00b", length, "", body), "400"},
		"two hosts":                {head("Host: evil.example", length, "", body), "400"},
		"no host":                  {"POST /mcp HTTP/1.1\r\n" + length + "\r\n\r\n" + body, "400"},
		"absolute evil target":     {"POST http://evil.example/mcp HTTP/1.1\r\nHost: " + f.host() + "\r\nContent-Type: application/json\r\n" + length + "\r\n\r\n" + body, "403"},
		"evil host":                {"POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\n" + length + "\r\n\r\n" + body, "403"},
		"null origin":              {head("Origin: null", length, "", body), "403"},
		"1 MiB of headers":         {head("X-Big: "+strings.Repeat("x", 1<<20), length, "", body), "431"},
		"10,000 headers":           {head(strings.Repeat("A: b\r\n", 20_000)+length, "", body), "431"},
		"shorter than announced":   {head("Content-Length: 100000", "", body), "400"},
		"not HTTP":                 {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "400"},
		"path tricks":              {strings.Replace(head(length, "", body), "/mcp", "/%2e%2e//mcp\x00", 1), "400|404|301|307"},
		"escaped path":             {strings.Replace(head(length, "", body), "/mcp", "/mcp%2f", 1), "404|307|301"},
		"session in Connection":    {head("Connection: mcp-session-id, close", length, "", body), "200"},
		"a forwarded foreign host": {head("X-Forwarded-Host: evil.example", "Connection: close", length, "", body), "200"},
	} {
		before := f.calls.Load()
		conn := f.raw(t)
		go func() {
			_, _ = io.WriteString(conn, c.request)
			if w, ok := conn.(interface{ CloseWrite() error }); ok && (name == "shorter than announced" || name == "not HTTP" || name == "huge chunk") {
				_ = w.CloseWrite()
			}
		}()
		_ = conn.SetReadDeadline(time.Now().Add(30 * time.Second))
		got := status(t, conn)
		code, _, _ := strings.Cut(got, " ")
		if !strings.Contains("|"+c.want+"|", "|"+code+"|") {
			t.Errorf("%s: %q, want %s", name, got, c.want)
		}
		if name == "length and chunked" { // the connection must end before the request that hides in it
			_, _ = io.Copy(io.Discard, conn)
		}
		_ = conn.Close()
		if n := f.calls.Load() - before; n > 1 || n == 1 && code != "200" {
			t.Errorf("%s: %d calls ran", name, n)
		}
		f.calm(t, name, base)
	}
}

func TestThreatsSlowHeaders(t *testing.T) {
	f := start(t, nil)
	var web http.Server
	listen.Harden(&web, time.Second)
	if web.ReadHeaderTimeout != 10*time.Second || web.MaxHeaderBytes > 1<<20 || web.MaxHeaderBytes == 0 || web.IdleTimeout == 0 {
		t.Errorf("%+v", &web)
	}
	base := f.baseline(t)
	conns := make([]io.Closer, 50)
	for i := range conns {
		c := f.raw(t)
		_, _ = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: ")
		conns[i] = c
	}
	f.calm(t, "50 half requests", base+len(conns)+5)
	for _, c := range conns {
		_ = c.Close()
	}
	f.calm(t, "them being closed", base)
}

func TestThreatsSlowBody(t *testing.T) {
	f := start(t, func(o *Options) { o.Timeouts.Body = 300 * time.Millisecond })
	base := f.baseline(t)
	c := f.raw(t)
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"json", f.host())
	if got := status(t, c); !strings.HasPrefix(got, "408") {
		t.Error(got)
	}
	_ = c.Close()
	f.calm(t, "a slow body", base)
}

func TestThreatsPayloads(t *testing.T) {
	f := start(t, nil)
	base := f.baseline(t)
	args := func(a string) string { return call("1", "echo", a) }
	many := 1_000_000
	if budget.Race() {
		many /= 10
	}
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"depth 100,000":          {args(`{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}"), 0},
		"1e6 keys":               {args("{" + short(many) + "}"), 200},
		"1e6 equal keys":         {args("{" + strings.Repeat(`"k":1,`, many) + `"k":1}`), 400},
		"1e400":                  {args(`{"x":1e400}`), 0},
		"lone surrogate":         {args(`{"x":"\ud800"}`), 200},
		"surrogate key":          {args(`{"\udc00":1,"\udc01":2}`), 0},
		"invalid UTF-8":          {args("{\"x\":\"\xc3\x28\"}"), 400},
		"NUL":                    {args("{\"x\":\"\\u0000\"}"), 200},
		"long method":            {`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 1<<20) + `"}`, 200},
		"newline in name":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a\nlevel=ERROR msg=forged"}}`, 200},
		"proto":                  {args(`{"__proto__":{"x":1},"constructor":{"prototype":{}}}`), 200},
		"id of 1 MiB":            {`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1<<20) + `","method":"ping"}`, 400},
		"number of 1 MiB":        {`{"jsonrpc":"2.0","id":` + strings.Repeat("1", 1<<20) + `,"method":"ping"}`, 400},
		"meta of the wrong kind": {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":[]}}`, 200},
	} {
		g := f.post(t, c.body)
		if c.want != 0 && g.status != c.want || g.status >= 500 || !strings.HasPrefix(g.body, `{"jsonrpc":"2.0","id":`) {
			t.Errorf("%s: %d %.300s", name, g.status, g.body)
		}
		f.calm(t, name, base)
	}
}

// short is n members with names as short as they can be.
func short(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%s":1,`, strconv.FormatInt(int64(i), 36))
	}
	return strings.TrimSuffix(b.String(), ",")
}

func TestThreatsCancelStorm(t *testing.T) {
	f := start(t, nil)
	base := f.baseline(t)
	s := f.login(t, "2025-06-18", "{}")
	const n = 50
	done := make(chan struct{}, n)
	for i := range n {
		go func() {
			f.post(t, call(fmt.Sprint(i), "block", "{}"), s...)
			done <- struct{}{}
		}()
	}
	for range n {
		<-f.started
	}
	for i := range 3 * n {
		f.post(t, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i%n), s...)
	}
	for range n {
		<-f.ended
		<-done
	}
	f.calm(t, "a storm of cancellations", base)
}

// 64 clients with sessions of their own use the same ids at the same time, and each gets its own answers.
func TestThreatsSameIDs(t *testing.T) {
	f := start(t, nil)
	errs := make(chan string, 64)
	for c := range 64 {
		s := f.login(t, "2025-06-18", "{}")
		go func() {
			for i := range 20 {
				mark := fmt.Sprintf("client %d call %d", c, i)
				if g := f.post(t, call(fmt.Sprint(i), "echo", fmt.Sprintf(`{"m":%q}`, mark)), s...); !strings.Contains(g.body, mark) || !strings.Contains(g.body, fmt.Sprintf(`"id":%d,`, i)) {
					errs <- fmt.Sprintf("%s got %+v", mark, g)
					return
				}
			}
			errs <- ""
		}()
	}
	for range 64 {
		assert.Equal(t, <-errs, "")
	}
}

func TestCloseRefusesAndEnds(t *testing.T) {
	f := start(t, nil)
	s := append(f.login(t, "2025-06-18", "{}"), "Accept", "text/event-stream")
	get := f.open(t, context.Background(), http.MethodGet, "", s...)
	defer get.Body.Close()
	res := make(chan got, 1)
	go func() { res <- f.post(t, call("1", "block", "{}")) }()
	<-f.started
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	assert.NoError(t, f.Close(ctx))
	expect(t, <-res, 200, -32000, "interrupted", "stopping")
	expect(t, f.post(t, call("2", "echo", "{}")), 503, -32000, "interrupted", "stopping")
	if _, more := eventsOf(get).next(); more {
		t.Error("the stream goes on")
	}
	<-f.ended
}

func FuzzPost(f *testing.F) {
	for _, s := range []string{
		call("1", "echo", `{"a":1}`), `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, `[]`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":"é","method":"tools/call","params":{"name":"nope","Name":"echo"}}`, `{"jsonrpc":"2.0","id":1e400,"method":"resources/read","params":{"uri":"test://a"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
	} {
		f.Add(s, "")
		f.Add(s, "2026-07-28")
	}
	fx := &fixture{started: make(chan string, 1), ended: make(chan error, 1), release: make(chan struct{})}
	close(fx.release)
	fx.engine = newEngine(fx)
	fx.Server = New(Options{Engine: fx.engine, Sessions: Sessions{Max: 10}})
	f.Cleanup(func() { _ = fx.Close(context.Background()) })
	h := fx.Handler()
	f.Fuzz(func(t *testing.T, body, version string) {
		if strings.Contains(body, "block") || strings.Contains(body, "subscriptions") || strings.Contains(body, `\`) {
			return // they wait for somebody
		}
		r, err := http.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(body))
		if err != nil {
			t.Skip()
		}
		r.Header.Set("Content-Type", "application/json")
		if version != "" {
			r.Header.Set("MCP-Protocol-Version", version)
		}
		w := &discard{header: http.Header{}}
		stuck := time.AfterFunc(5*time.Minute, func() { panic(fmt.Sprintf("stuck: %q", body)) })
		h.ServeHTTP(w, r)
		stuck.Stop()
		if w.status == 0 || w.status >= 500 || w.status != 202 && w.n == 0 {
			t.Fatalf("%q: status %d, %d bytes", body, w.status, w.n)
		}
	})
}
