package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/test/leaktest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// received collects what a transport delivers.
type received struct {
	mu     sync.Mutex
	frames []string
	broken []error
	heads  []string
	lost   error
	news   chan struct{} // capacity 1
}

func (r *received) change(f func()) {
	r.mu.Lock()
	f()
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
}

func (r *received) Frame(b []byte) { r.change(func() { r.frames = append(r.frames, string(b)) }) }
func (r *received) Lost(err error) { r.change(func() { r.lost = err }) }
func (r *received) Broken(head, _ []byte, err error) {
	r.change(func() { r.broken, r.heads = append(r.broken, err), append(r.heads, string(head)) })
}

func (r *received) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.frames...)
}

// await waits until cond, called with the lock held, is true.
func (r *received) await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for {
		r.mu.Lock()
		ok := cond()
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-r.news:
		case <-limit.C:
			t.Fatalf("%s: did not happen; frames %q, broken %v, lost %v", what, r.all(), r.broken, r.lost)
		}
	}
}

// httpConn is a transport under test with what it delivered and journalled.
type httpConn struct {
	Transport
	Versioned
	got *received
	j   *journal.Journal
}

// leakChecked makes the test fail if anything it started outlives its cleanups.
func leakChecked(t *testing.T) {
	t.Helper()
	leaktest.Check(t)
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	leakChecked(t)
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func startPeer(t *testing.T, cfg config.Server, kind string) *httpConn {
	t.Helper()
	p := &httpConn{got: &received{news: make(chan struct{}, 1)}, j: journal.New(journal.Options{Dir: t.TempDir()})}
	tap := Tap{Journal: p.j, Server: "srv", Conn: 1}
	if kind == config.SSE {
		p.Transport = newSSE(cfg, tap)
	} else {
		p.Transport = newHTTP(cfg, tap)
	}
	p.Versioned = p.Transport.Traits().HTTP
	t.Cleanup(func() {
		if err := errors.Join(p.Close(), p.j.Close()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p
}

func httpPeer(t *testing.T, cfg config.Server) *httpConn {
	t.Helper()
	p := startPeer(t, cfg, config.HTTP)
	require.NoError(t, p.Start(t.Context(), p.got))
	return p
}

func message(frame string) Message {
	env, err := jsonrpc.Scan([]byte(frame))
	if err != nil {
		panic(err)
	}
	return Message{Frame: []byte(frame), Env: env}
}

func call(id, method string) Message {
	return message(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q}`, id, method))
}

func (p *httpConn) send(t *testing.T, m Message) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return p.Send(ctx, m)
}

// fails checks that err is an *Error of a kind whose text has all the words.
func fails(t *testing.T, err error, kind failure.Kind, words ...string) {
	t.Helper()
	if failure.KindOf(err) != kind {
		t.Errorf("kind %q, want %q: %v", failure.KindOf(err), kind, err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("the error lacks %q: %v", w, err)
		}
	}
}

func (p *httpConn) journal(kind journal.Kind) string {
	var b strings.Builder
	for _, e := range p.j.Snapshot(0, nil) {
		if e.Kind == kind {
			body, _ := p.j.Body(e.Seq)
			fmt.Fprintf(&b, "%v %s: %s\n", e.Dir, e.Note, body)
		}
	}
	return b.String()
}

const answer1 = `{"jsonrpc":"2.0","id":1,"result":{"a":1.0,"big":12345678901234567890}}`

func TestS5_JSONAnswerAndHeaders(t *testing.T) {
	var seen http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		seen.Set("Host", r.Host)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Set-Cookie", "secret-cookie=1")
		_, _ = io.WriteString(w, answer1)
	})
	p := httpPeer(t, config.Server{URL: s.URL + "/mcp?api_key=secret-key", Headers: map[string]string{
		"Authorization": "Bearer secret-token", "x-mine": "1", "Host": "other.example",
	}})
	m := call("1", "tools/call")
	m.Header = http.Header{"Mcp-Method": {"tools/call"}, "mcp-protocol-version": {"2026-07-28"}}
	p.SetVersion("2025-06-18")
	require.NoError(t, p.send(t, m))
	if got := p.got.all(); len(got) != 1 || got[0] != answer1 {
		t.Errorf("frames: %q", got)
	}
	for name, want := range map[string]string{
		"Accept": "application/json, text/event-stream", "Content-Type": "application/json", "Authorization": "Bearer secret-token",
		"X-Mine": "1", "Host": "other.example", "Mcp-Method": "tools/call", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Session-Id": "",
	} {
		if got := seen.Get(name); got != want || len(seen.Values(name)) > 1 {
			t.Errorf("%s: %q, want %q", name, seen.Values(name), want)
		}
	}
	log := p.journal(journal.HTTP)
	for _, want := range []string{"POST " + s.URL + "/mcp?api_key=*** HTTP/1.1", "Authorization: Bearer ***", "X-Mine: 1", "HTTP/1.1 200 OK", "Set-Cookie: ***"} {
		assert.Contains(t, log, want)
	}
	assert.NotContains(t, log, "secret-")
}

// Each status on a request: the kind that decides the exit code, the body, and the headers.
func TestS5_RefusedStatuses(t *testing.T) {
	var status atomic.Int64
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://h/x"`)
		w.WriteHeader(int(status.Load()))
		_, _ = fmt.Fprintf(w, "because of %d", status.Load())
	})
	p := httpPeer(t, config.Server{URL: s.URL})
	for _, code := range []int{301, 302, 303, 400, 401, 403, 404, 405, 406, 409, 415, 418, 429, 500, 502, 503} {
		status.Store(int64(code))
		err := p.send(t, call("1", "tools/list"))
		var h *HTTPError
		if !errors.As(err, &h) || h.Status != code || string(h.Body) != fmt.Sprintf("because of %d", code) || h.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%d: %v (%+v)", code, err, h)
			continue
		}
		if errors.Is(err, ErrSessionLost) {
			t.Errorf("%d without a session counts as a lost session", code)
		}
		want := failure.Transport
		if code == 401 || code == 403 {
			want = failure.OAuth
		}
		e := h.Explain()
		if e.Kind == failure.OAuth && !strings.Contains(e.Error(), "resource_metadata") {
			t.Errorf("%d does not show WWW-Authenticate: %v", code, e)
		}
		if e.Kind != want || e.Status != code || e.Next == "" && code != 418 && code != 400 && code != 409 {
			t.Errorf("%d: %+v", code, e)
		}
		if log := p.journal(journal.HTTP); !strings.Contains(log, h.Error()[strings.LastIndex(h.Error(), "with ")+5:]) || !strings.Contains(log, fmt.Sprintf("because of %d", code)) {
			t.Errorf("%d is not in the journal:\n%s", code, log)
		}
	}
	if got := p.got.all(); len(got) > 0 {
		t.Errorf("frames: %q", got)
	}
}

// A body that answers the request is the answer, whatever the status; an error response is left to the caller, which
// wants the status.
func TestS5_AnswerWithErrorStatus(t *testing.T) {
	reply := ""
	status := 404
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	})
	p := httpPeer(t, config.Server{URL: s.URL})
	reply = `{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no","data":[1.0]}}`
	var h *HTTPError
	if err := p.send(t, call(`"x"`, "nope")); !errors.As(err, &h) || string(h.Body) != reply {
		t.Error(err)
	}
	reply = answer1
	assert.NoError(t, p.send(t, call("1", "nope")))
	if got := p.got.all(); len(got) != 1 || got[0] != reply {
		t.Errorf("frames: %q", got)
	}
	if err := p.send(t, call(`"y"`, "nope")); !errors.As(err, &h) {
		t.Errorf("somebody else's id: %v", err)
	}
	reply = `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`
	for _, status = range []int{400, 200} {
		if err := p.send(t, call("1", "nope")); !errors.As(err, &h) || string(h.Body) != reply || h.Status != status {
			t.Errorf("a null id with %d: %v", status, err)
		}
	}
	reply, status = `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"no"}}`, 401
	if err := p.send(t, call("1", "nope")); !errors.As(err, &h) || h.Explain().Kind != failure.OAuth {
		t.Errorf("401 with an answer: %v", err)
	}
	if got := p.got.all(); len(got) != 1 {
		t.Errorf("frames: %q", got)
	}
}

func TestS5_AnswersThatAreNone(t *testing.T) {
	const limit = 1000
	var contentType, body string
	status, length := 200, ""
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		if length != "" {
			w.Header().Set("Content-Length", length)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
	p := httpPeer(t, config.Server{URL: s.URL, MaxFrame: limit})
	pad := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", n-36) + `"}`
	}
	for name, c := range map[string]struct {
		contentType, body string
		status            int
		length            string
		kind              failure.Kind
		words             []string
	}{
		"HTML":            {"text/html", "<h1>Welcome</h1>", 200, "", failure.Protocol, []string{"text/html", "Welcome", "/mcp"}},
		"half JSON":       {"application/json", answer1[:30], 200, "", failure.Protocol, []string{"not a JSON-RPC message"}},
		"cut JSON":        {"application/json", answer1[:30], 200, "500", failure.ChannelClosed, []string{"30 bytes"}},
		"another's":       {"application/json", strings.Replace(answer1, ":1,", ":2,", 1), 200, "", failure.Protocol, []string{"another message"}},
		"empty":           {"application/json", "", 200, "", failure.Protocol, []string{"200 OK", "did not answer"}},
		"202":             {"", "", 202, "", failure.Protocol, []string{"202 Accepted"}},
		"a byte too many": {"application/json", pad(limit + 1), 200, "", failure.Protocol, []string{"1001 bytes", "limit of 1000 bytes", "raise the limit"}},
		"just the limit":  {"application/json", pad(limit), 200, "", "", nil},
		"text/plain":      {"text/plain", answer1, 200, "", "", nil}, // the bytes are what counts
		"a batch":         {"application/json", ` [{"jsonrpc":"2.0","method":"notifications/x"},` + answer1 + "]", 200, "", "", nil},
	} {
		contentType, body, status, length = c.contentType, c.body, c.status, c.length
		err := p.send(t, call("1", "tools/call"))
		if c.kind == "" && err == nil {
			continue
		}
		t.Run(name, func(t *testing.T) { fails(t, err, c.kind, c.words...) })
	}
	if len(p.got.broken) != 2 || !strings.HasPrefix(p.got.heads[0], `{"jsonrpc"`) {
		t.Errorf("broken frames: %v %q", p.got.broken, p.got.heads)
	}
	// Chunked, and endless.
	endless := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for {
			if _, err := w.Write(bytes.Repeat([]byte(" "), 4096)); err != nil {
				return
			}
		}
	})
	fails(t, httpPeer(t, config.Server{URL: endless.URL, MaxFrame: limit}).send(t, call("1", "tools/call")), failure.Protocol, "limit of 1000 bytes")
}

// TestRedirectInwards: a server of the network cannot send our messages to a program of this machine or of the local network.
func TestRedirectInwards(t *testing.T) {
	for _, c := range []struct {
		from, to string
		follow   bool
	}{
		{"https://example.com/mcp", "https://127.0.0.1:7000/mcp", false},
		{"https://example.com/mcp", "https://localhost/mcp", false},
		{"https://example.com/mcp", "https://[::1]:7000/mcp", false},
		{"https://example.com/mcp", "https://10.0.0.7/mcp", false},
		{"https://example.com/mcp", "https://[fd00::7]/mcp", false},
		{"https://example.com/mcp", "https://169.254.169.254/latest", false},
		{"https://example.com/mcp", "https://0.0.0.0/mcp", false},
		{"https://example.com/mcp", "https://[::ffff:127.0.0.1]/mcp", false},
		{"https://example.com/mcp", "https://localhost./mcp", false},
		{"http://10.0.0.7/mcp", "http://127.0.0.1:7000/mcp", false},
		{"https://example.com/mcp", "https://example.org/mcp", true},
		{"https://example.com/mcp", "https://203.0.113.9/mcp", true},
		{"http://127.0.0.1:1/mcp", "http://localhost:2/mcp", true},
		{"http://10.0.0.7/mcp", "http://10.0.0.8/mcp", true},
	} {
		client, err := newHTTPClient(config.Server{URL: c.from}, Tap{})
		require.NoError(t, err)
		req := httptest.NewRequest(http.MethodPost, c.to, nil)
		err = client.redirect(req, []*http.Request{httptest.NewRequest(http.MethodPost, c.from, nil)})
		if (err == nil) != c.follow || err != nil && !strings.Contains(err.Error(), "this machine or its network") {
			t.Errorf("%s to %s: %v", c.from, c.to, err)
		}
	}
}

// TestRedirectKeepsAConfiguredReferer: what the configuration sets for the server's origin goes along to a path of it.
func TestRedirectKeepsAConfiguredReferer(t *testing.T) {
	var got string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
			return
		}
		got = r.Header.Get("Referer")
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(srv.Close)
	peer := httpPeer(t, config.Server{URL: srv.URL, Headers: map[string]string{"Referer": "https://example.com/app"}})
	if err := peer.send(t, call("1", "notifications/x")); got != "https://example.com/app" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestS5_Redirects(t *testing.T) {
	var elsewhere http.Header
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		elsewhere = r.Header.Clone()
		_, _ = io.WriteString(w, answer1)
	})
	var last http.Header
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		last = r.Header.Clone()
		switch r.URL.Path {
		case "/slash":
			http.Redirect(w, r, "/slash/", http.StatusTemporaryRedirect)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusPermanentRedirect)
		case "/away":
			http.Redirect(w, r, other.URL+"/x", http.StatusTemporaryRedirect)
		case "/302":
			http.Redirect(w, r, "/there", http.StatusFound)
		default:
			body, _ := io.ReadAll(r.Body)
			if !bytes.Contains(body, []byte("tools/list")) {
				w.WriteHeader(400)
			}
			_, _ = io.WriteString(w, answer1)
		}
	})
	headers := map[string]string{"Authorization": "Bearer t", "X-Key": "k", "Cookie": "c=1"}
	at := func(path string) error {
		return httpPeer(t, config.Server{URL: s.URL + path, Headers: headers}).send(t, call("1", "tools/list"))
	}
	if err := at("/slash"); err != nil || last.Get("Authorization") == "" || last.Get("X-Key") == "" {
		t.Errorf("same origin: %v, %v", err, last)
	}
	assert.NoError(t, at("/away?api_key=secret"))
	assert.Equalf(t, elsewhere.Get("Referer"), "", "another origin is told the URL that redirected, its key included")
	for name := range headers {
		if elsewhere.Get(name) != "" {
			t.Errorf("%s went to another origin", name)
		}
	}
	fails(t, at("/loop"), failure.Transport, "redirects more than 5 times", "/loop")
	var h *HTTPError
	if err := at("/302"); !errors.As(err, &h) || h.Status != 302 || h.Header.Get("Location") != "/there" {
		t.Errorf("302: %v", err)
	}
}

func TestS5_Cancel(t *testing.T) {
	gone, arrived := make(chan string, 8), make(chan struct{}, 8)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/stream" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
			w.(http.Flusher).Flush()
		}
		arrived <- struct{}{}
		<-r.Context().Done()
		gone <- r.URL.Path
	})
	for _, path := range []string{"/silent", "/stream"} {
		p := httpPeer(t, config.Server{URL: s.URL + path})
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error, 1)
		go func() { failed <- p.Send(ctx, call("1", "tools/call")) }()
		<-arrived
		if path == "/stream" {
			p.got.await(t, "notification", func() bool { return len(p.got.frames) == 1 })
		}
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", path, err)
		}
		if got := <-gone; got != path {
			t.Errorf("the server saw %s end", got)
		}
		// Close ends what runs.
		go func() { failed <- p.Send(t.Context(), call("2", "tools/call")) }()
		<-arrived
		if path == "/stream" {
			p.got.await(t, "notification", func() bool { return len(p.got.frames) == 2 })
		}
		assert.NoError(t, p.Close())
		fails(t, <-failed, failure.ChannelClosed, "closed")
		<-gone
		fails(t, p.Send(t.Context(), call("3", "tools/call")), failure.ChannelClosed, "closed")
	}
}

// A server that flushes headers late, or never, is a matter of the call's time, not of the connect timeout.
func TestS5_ConnectTimeoutIsNotTheCallsTime(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = io.WriteString(w, answer1)
	})
	p := httpPeer(t, config.Server{URL: s.URL, ConnectTimeout: 500 * time.Millisecond})
	time.AfterFunc(800*time.Millisecond, func() { close(release) })
	assert.NoError(t, p.send(t, call("1", "tools/call")))
}

func TestS5_LegacySession(t *testing.T) {
	var mu sync.Mutex
	var log []string
	known := "sess-1"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		env, _ := jsonrpc.Scan(body)
		mu.Lock()
		defer mu.Unlock()
		sid := r.Header.Get("Mcp-Session-Id")
		log = append(log, fmt.Sprintf("%s %s sid=%s v=%s", r.Method, env.Method, sid, r.Header.Get("Mcp-Protocol-Version")))
		switch {
		case r.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.Method == http.MethodDelete:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case env.Method == "initialize":
			w.Header().Set("Mcp-Session-Id", known)
			_, _ = io.WriteString(w, answer1)
		case sid != known:
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":"Session not found"}}`)
		case env.Kind != jsonrpc.Request:
			w.WriteHeader(http.StatusAccepted)
		default:
			_, _ = io.WriteString(w, strings.Replace(answer1, ":1,", ":2,", 1))
		}
	})
	p := httpPeer(t, config.Server{URL: s.URL})
	if err := p.send(t, call("1", "initialize")); err != nil || p.SessionID() != "sess-1" {
		t.Fatalf("initialize: %v, session %q", err, p.SessionID())
	}
	p.SetVersion("2025-11-25")
	for _, m := range []Message{
		message(`{"jsonrpc":"2.0","method":"notifications/initialized"}`), call("2", "ping"), message(`{"jsonrpc":"2.0","id":9,"result":{}}`),
	} {
		if err := p.send(t, m); err != nil {
			t.Errorf("%s: %v", m.Frame, err)
		}
	}
	mu.Lock()
	known = "sess-2" // as after a restart
	mu.Unlock()
	var h *HTTPError
	if err := p.send(t, call("2", "ping")); !errors.Is(err, ErrSessionLost) || !errors.As(err, &h) || h.Status != 404 {
		t.Errorf("after the session's end: %v", err)
	}
	assert.NoError(t, p.Close())
	mu.Lock()
	defer mu.Unlock()
	if log[0] != "POST initialize sid= v=" || log[len(log)-1] != "DELETE  sid=sess-1 v=2025-11-25" {
		t.Errorf("requests: %q", log)
	}
	for _, l := range log[1:] {
		if !strings.HasSuffix(l, " sid=sess-1 v=2025-11-25") {
			t.Errorf("request %q", l)
		}
	}
	if n := strings.Count(strings.Join(log, "|"), "GET"); n > 1 {
		t.Errorf("%d GETs in spite of 405", n)
	}
}

func TestS5_HangingDeleteIsBounded(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Mcp-Session-Id", "s")
		_, _ = io.WriteString(w, answer1)
	})
	p := httpPeer(t, config.Server{URL: s.URL})
	require.NoError(t, p.send(t, call("1", "initialize")))
	start := time.Now()
	_ = p.Close()
	if d := time.Since(start); d > 40*deleteGrace {
		t.Errorf("Close took %v", d)
	}
}

func TestS5_BadConfiguration(t *testing.T) {
	for raw, want := range map[string]string{
		"ftp://h/":             "does not start with http",
		"localhost:3000/mcp":   "does not start with http",
		"http://":              "has no host",
		"http://[::1":          "is not a URL",
		"http://u:hunter2@h:x": "is not a URL",
	} {
		for _, kind := range []string{config.HTTP, config.SSE} {
			p := startPeer(t, config.Server{URL: raw}, kind)
			err := p.Start(t.Context(), p.got)
			fails(t, err, failure.Usage, want, "http://127.0.0.1:3000/mcp")
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the password is in %v", err)
			}
			fails(t, p.Send(t.Context(), call("1", "x")), failure.Usage)
		}
	}
	p := startPeer(t, config.Server{URL: "http://h/", Headers: map[string]string{"X": "a\r\nEvil: 1"}}, config.HTTP)
	fails(t, p.Start(t.Context(), p.got), failure.Usage, `"X"`)
	p = startPeer(t, config.Server{URL: "http://h/", Headers: map[string]string{"X Y": "a"}}, config.HTTP)
	fails(t, p.Start(t.Context(), p.got), failure.Usage, `"X Y"`)
}

// A large frame is recognised by its id without a scan of all of it, but never taken for an answer that it is not.
func TestLargeFramesAnswer(t *testing.T) {
	pad := strings.Repeat("x", 1<<20)
	m := call("17", "tools/call")
	for frame, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":17,"result":"` + pad + `"}`:                         true,
		"{ \"id\" : 17 ,\n\"error\":{\"message\":\"" + pad + `"},"jsonrpc":"2.0"}`: true,
		`{"result":"` + pad + `","id":17,"jsonrpc":"2.0"}`:                         true,
		`{"jsonrpc":"2.0","id":17,"x":1,"result":"` + pad + `"}`:                   true,
		`{"jsonrpc":"2.0","id":18,"result":"` + pad + `"}`:                         false,
		`{"jsonrpc":"2.0","id":"17","result":"` + pad + `"}`:                       false,
		`{"jsonrpc":"2.0","id":17,"method":"m","params":["` + pad + `"]}`:          false,
		`{"jsonrpc":"2.0","method":"m","id":17,"params":["` + pad + `"]}`:          false,
		`{"jsonrpc":"2.0","method":"m","params":{"id":17,"x":"` + pad + `"}}`:      false,
		`{"jsonrpc":"2.0","id":17` + pad:                                           false,
	} {
		assert.Equalf(t, answeredBy([]byte(frame), m), want, "%.60s…", frame)
	}
}
