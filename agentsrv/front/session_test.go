package front

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/agentsrv/kit"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestC15_UnknownSession(t *testing.T) {
	f := start(t, nil)
	const text = "Missing or invalid MCP session"
	for _, method := range []string{"GET", "DELETE", "POST"} {
		body := ""
		if method == "POST" {
			body = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		}
		expect(t, f.do(t, method, body, "Mcp-Session-Id", "bogus", "Accept", "application/json, text/event-stream"), 404, -32000, "session_invalid", text)
		if method != "POST" {
			expect(t, f.do(t, method, body, "Accept", "text/event-stream"), 400, -32000, "session_invalid", text)
		}
	}
	expect(t, f.post(t, `{"jsonrpc":"2.0","id":1,"result":{}}`), 400, -32000, "session_invalid", text)
}

func TestSessionDelete(t *testing.T) {
	f := start(t, nil)
	s := f.login(t, "2025-11-25", "{}")
	if g := f.do(t, http.MethodDelete, "", s...); g.status != 204 || g.body != "" {
		t.Errorf("%+v", g)
	}
	expect(t, f.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, s...), 404, -32000, "session_invalid", "")
	expect(t, f.do(t, http.MethodDelete, "", s...), 404, -32000, "session_invalid", "")
}

// Deleting a session ends what it runs and its streams.
func TestSessionDeleteEndsWhatRuns(t *testing.T) {
	f := start(t, nil)
	s := f.login(t, "2025-11-25", "{}")
	get := f.open(t, context.Background(), http.MethodGet, "", append(s, "Accept", "text/event-stream")...)
	defer get.Body.Close()
	res := make(chan got, 1)
	go func() { res <- f.post(t, call("1", "block", "{}"), s...) }()
	<-f.started
	f.do(t, http.MethodDelete, "", s...)
	assert.ErrorIs(t, <-f.ended, errSessionEnded)
	if g := <-res; strings.Contains(g.body, "jsonrpc") {
		t.Errorf("%+v", g)
	}
	for ev := eventsOf(get); ; {
		if _, ok := ev.next(); !ok {
			break
		}
	}
}

func TestA3_MethodsAndAccept(t *testing.T) {
	f := start(t, nil)
	for _, m := range []string{"PUT", "PATCH", "OPTIONS", "HEAD", "FOO"} {
		if g := f.do(t, m, ""); g.status != 405 || g.header.Get("Allow") != "POST, GET, DELETE" {
			t.Errorf("%s: %+v", m, g)
		}
	}
	s := f.login(t, "2025-06-18", "{}")
	if g := f.do(t, http.MethodGet, "", s...); g.status != 406 {
		t.Errorf("GET without Accept: %+v", g)
	}
	expect(t, f.post(t, call("1", "echo", "{}"), "Accept", "text/html"), 406, -32600, "invalid_request", "Accept")
	for _, m := range []string{"GET", "DELETE"} {
		if g := f.do(t, m, "", "MCP-Protocol-Version", "2026-07-28", "Accept", "text/event-stream"); g.status != 405 || g.header.Get("Allow") != "POST" {
			t.Errorf("modern %s: %+v", m, g)
		}
	}
	expect(t, f.do(t, http.MethodGet, "", append(s, "Accept", "text/event-stream", "MCP-Protocol-Version", "1900-01-01")...), 400, -32600, "invalid_request", "1900-01-01")
}

func TestR15_Sessionless(t *testing.T) {
	f := start(t, nil)
	if g := f.post(t, call("1", "echo", `{"a":1}`), "Accept", ""); g.status != 200 || g.header.Get("Content-Type") != "application/json" || !strings.Contains(g.body, `{\"a\":1}`) {
		t.Errorf("%+v", g)
	}
	if g := f.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); g.status != 200 || !strings.Contains(g.body, `"name":"echo"`) || g.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("%+v", g)
	}
	assert.Equalf(t, f.ActiveSessions(), 0, "sessions")
}

var uuid4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// A session's id is minted, whatever the client proposes, and serves its own principal only.
func TestSessionFixationAndTheft(t *testing.T) {
	f := start(t, func(o *Options) {
		o.Authenticate = func(r *http.Request) (kit.Identity, error) {
			name, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			if !ok {
				return kit.Identity{}, errors.New("secret reason")
			}
			return kit.Identity{Principal: name}, nil
		}
	})
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	seen := map[string]bool{}
	for range 20 {
		g := f.post(t, hello, "Mcp-Session-Id", "11111111-1111-4111-8111-111111111111", "Authorization", "Bearer alice")
		id := g.header.Get("Mcp-Session-Id")
		if !uuid4.MatchString(id) || id[0] == '1' && id[1] == '1' && id[2] == '1' || seen[id] {
			t.Fatalf("%q", id)
		}
		seen[id] = true
	}
	for id := range seen {
		for _, m := range []string{"POST", "GET", "DELETE"} {
			body := ""
			if m == "POST" {
				body = call("1", "echo", "{}")
			}
			if g := f.do(t, m, body, "Accept", "application/json, text/event-stream", "Mcp-Session-Id", id, "Authorization", "Bearer mallory"); g.status != 404 {
				t.Errorf("%s with a stolen id: %+v", m, g)
			}
		}
		if g := f.post(t, call("1", "echo", "{}"), "Mcp-Session-Id", id, "Mcp-Session-Id", id, "Authorization", "Bearer alice"); g.status != 404 {
			t.Errorf("two ids: %+v", g)
		}
		if g := f.post(t, call("1", "echo", "{}"), "Mcp-Session-Id", id, "Authorization", "Bearer alice"); g.status != 200 {
			t.Errorf("its owner: %+v", g)
		}
		break
	}
	g := f.post(t, hello)
	if expect(t, g, 401, -32000, "unauthorized", ""); g.header.Get("WWW-Authenticate") != "Bearer" || strings.Contains(g.body, "secret") {
		t.Errorf("%+v", g)
	}
}

func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	f := start(t, func(o *Options) { o.Sessions.TTL = 2 * time.Second })
	s := f.login(t, "2025-11-25", "{}")
	used := f.login(t, "2025-11-25", "{}")
	get := f.open(t, context.Background(), http.MethodGet, "", append(used, "Accept", "text/event-stream")...)
	defer get.Body.Close()
	wait(t, "the idle session to go", func() bool { return f.ActiveSessions() == 1 })
	if g := f.post(t, call("1", "echo", "{}"), s...); g.status != 404 {
		t.Errorf("%+v", g)
	}
	if g := f.post(t, call("1", "echo", "{}"), used...); g.status != 200 {
		t.Errorf("a session with a stream is in use: %+v", g)
	}
}

func TestSessionCap(t *testing.T) {
	f := start(t, func(o *Options) { o.Sessions.Max = 3 })
	var all [][]string
	for range 3 {
		all = append(all, f.login(t, "2025-11-25", "{}"))
	}
	f.post(t, call("1", "echo", "{}"), all[0]...)
	all = append(all, f.login(t, "2025-11-25", "{}"))
	for i, want := range []int{200, 404, 200, 200} {
		if g := f.post(t, call("1", "echo", "{}"), all[i]...); g.status != want {
			t.Errorf("session %d: %+v", i, g)
		}
	}
	for _, i := range []int{0, 2, 3} {
		get := f.open(t, context.Background(), http.MethodGet, "", append(all[i], "Accept", "text/event-stream")...)
		defer get.Body.Close()
	}
	g := f.post(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	if expect(t, g, 503, -32002, "queue_full", "sessions"); g.header.Get("Retry-After") == "" || g.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("%+v", g)
	}
}

// TestAbandonedSessions: ten thousand clients that initialize and never come back cost what a thousand do.
func TestAbandonedSessions(t *testing.T) {
	n, limit := 10_000, 1000
	if testing.Short() {
		n = 3000
	}
	f := start(t, func(o *Options) { o.Sessions.Max = limit })
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	fill := func(n int) {
		h := f.Handler()
		for range n {
			r, err := http.NewRequest(http.MethodPost, f.url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			w := &discard{header: http.Header{}}
			h.ServeHTTP(w, r)
			if w.status != 200 {
				t.Fatal(w.status)
			}
			f.engine.SendNotificationToAllClients("notifications/x", nil)
		}
	}
	fill(limit)
	first, routines := heap(), runtime.NumGoroutine()
	fill(n - limit)
	assert.Equal(t, f.ActiveSessions(), limit)
	wait(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= routines+2 })
	// Sessions without a stream keep some broadcasts; both fills end with all of them kept.
	if last := heap(); last > first+first/2+(32<<20) {
		t.Errorf("%d KiB after %d sessions, %d KiB after %d", first>>10, limit, last>>10, n)
	}
}

type discard struct {
	header http.Header
	status int
	n      int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(status int)      { d.status = status }
func (d *discard) Write(p []byte) (int, error) { d.n += len(p); return len(p), nil }
func (d *discard) Flush()                      {}

func TestListChangedAndUpdated(t *testing.T) {
	f := start(t, nil)
	s := f.login(t, "2025-11-25", "{}")
	get := f.open(t, context.Background(), http.MethodGet, "", append(s, "Accept", "text/event-stream")...)
	defer get.Body.Close()
	if g := f.post(t, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"test://a"}}`, s...); g.status != 200 || !strings.Contains(g.body, `"result":{}`) {
		t.Fatalf("%+v", g)
	}
	body, h := modern(`"sub-1"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["test://a"]}`, "")
	listen := f.open(t, context.Background(), http.MethodPost, body, h...)
	defer listen.Body.Close()
	m := eventsOf(listen)
	if ev, ok := m.next(); !ok || !strings.Contains(ev.data, "notifications/subscriptions/acknowledged") || !strings.Contains(ev.data, `"io.modelcontextprotocol/subscriptionId":"sub-1"`) {
		t.Fatalf("%+v", ev)
	}
	f.engine.AddTools(tool("another", nil))
	f.ResourceUpdated("test://a")
	f.ResourceUpdated("test://other")
	f.engine.AddPrompt(mcpPrompt("p"), nil)
	legacy := eventsOf(get)
	want := map[string]bool{"notifications/tools/list_changed": true, "notifications/resources/updated": true, "notifications/prompts/list_changed": true}
	for len(want) > 0 {
		ev, ok := legacy.next()
		if !ok {
			t.Fatal("stream ended; missing", want)
		}
		if ev.data == "" { // where to resume
			continue
		}
		method := methodOf(t, ev.data)
		if !want[method] || strings.Contains(ev.data, "other") || ev.id == "" {
			t.Errorf("%+v", ev)
		}
		delete(want, method)
	}
	want = map[string]bool{"notifications/tools/list_changed": true, "notifications/resources/updated": true}
	for len(want) > 0 {
		ev, ok := m.next()
		if !ok {
			t.Fatal("stream ended; missing", want)
		}
		method := methodOf(t, ev.data)
		if !want[method] || !strings.Contains(ev.data, `"io.modelcontextprotocol/subscriptionId":"sub-1"`) {
			t.Errorf("%+v", ev)
		}
		delete(want, method)
	}
	if g := f.post(t, `{"jsonrpc":"2.0","id":2,"method":"resources/unsubscribe","params":{"uri":"test://a"}}`, s...); g.status != 200 {
		t.Fatalf("%+v", g)
	}
	f.ResourceUpdated("test://a")
	f.Broadcast("notifications/last", map[string]any{"n": 1})
	if ev, _ := legacy.next(); !strings.Contains(ev.data, "notifications/last") {
		t.Errorf("heard of a resource after unsubscribing: %+v", ev)
	}
	_ = listen.Body.Close()
	wait(t, "the listener to go", func() bool { f.hub.mux.Lock(); defer f.hub.mux.Unlock(); return len(f.hub.listeners) == 0 })
}

func methodOf(t testing.TB, frame string) string {
	t.Helper()
	var m struct{ Method string }
	if err := json.Unmarshal([]byte(frame), &m); err != nil {
		t.Fatalf("%q: %v", frame, err)
	}
	return m.Method
}
