package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/proxy/policy/breaker"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

const listTools = `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`

// flaky cuts the connection of the next requests within a session, as often as it is told.
func flaky(a *agent) (cuts, seen *atomic.Int64) {
	cuts, seen = new(atomic.Int64), new(atomic.Int64)
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		seen.Add(1)
		if cuts.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		reply(w, e.ID, `{"tools":[]}`)
	}
	return cuts, seen
}

func TestR20_OnlyWhatIsHarmlessIsAskedAgain(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	cuts, seen := flaky(a)
	f := start(t, Options{}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	for _, c := range []struct {
		method string
		cuts   int64
		status int
		seen   int64
	}{
		{"tools/list", 0, 200, 1},
		{"tools/list", 2, 200, 3},
		{"tools/list", 3, 502, 3},
		{"ping", 1, 200, 2},
		{"resources/list", 1, 200, 2},
		{"prompts/list", 1, 200, 2},
		{"tools/call", 1, 502, 1},
		{"tasks/cancel", 1, 502, 1},
		{"logging/setLevel", 1, 502, 1},
		{"custom/method", 1, 502, 1},
	} {
		cuts.Store(c.cuts)
		seen.Store(0)
		got := f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":3,"method":"`+c.method+`","params":{"name":"x"}}`, "Mcp-Session-Id", id)
		if got.status != c.status || seen.Load() != c.seen {
			t.Errorf("%s, %d cuts: status %d, seen %d times, want %d and %d: %s", c.method, c.cuts, got.status, seen.Load(), c.status, c.seen, got.body)
		}
		cuts.Store(0)
		f.post(t, "/mcps/a/mcp", listTools, "Mcp-Session-Id", id) // so that failures do not add up
	}
	if n := f.Status().Agents["a"].Breaker.Retries; n < 7 {
		t.Errorf("%d retries", n)
	}
}

func TestR20_AnAgentThatFailsIsLeftAlone(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	f := start(t, Options{Breaker: breaker.Options{Failures: 3, Pause: 3 * time.Second}}, route("a", a.at(), ""), route("b", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	call := func() response { return f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id) }
	cuts, seen := flaky(a)
	cuts.Store(1 << 40)
	for range 3 {
		got := call()
		if got.status != 502 || !strings.HasPrefix(got.rpcError(t).Error.Message, "Failed to reach agent: ") {
			t.Fatalf("%+v", got)
		}
	}
	got := call()
	e := got.rpcError(t)
	if got.status != 503 || e.Error.Code != -32603 || !strings.HasPrefix(e.Error.Message, "Failed to reach agent: ") || got.header.Get("Retry-After") == "" || string(e.ID) != "2" {
		t.Errorf("%+v", got)
	}
	if seen.Load() != 3 {
		t.Errorf("the agent was asked %d times", seen.Load())
	}
	if s := f.Status().Agents["a"]; s.State != "failing" || s.Breaker.Opened != 1 || s.Breaker.Error == "" {
		t.Errorf("%+v", s)
	}
	if s := f.Status().Agents["b"]; s.State != "ok" {
		t.Errorf("another route: %+v", s)
	}
	cuts.Store(0)
	require.Eventually(t, "the agent to be asked again", func() bool { return call().status == 200 })
	if s := f.Status().Agents["a"]; s.State != "ok" || s.Breaker.State != breaker.Closed {
		t.Errorf("%+v", s)
	}
}

func TestE14_ClientsThatLeaveAreNoFailures(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Breaker: breaker.Options{Failures: 1}}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	entered := make(chan struct{})
	a.answer = func(_ http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
		entered <- struct{}{}
		<-r.Context().Done()
	}
	for range 3 {
		ctx, leave := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.Router.URL()+"/mcps/a/mcp", strings.NewReader(callEcho))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Mcp-Session-Id", id)
		tr := &http.Transport{}
		done := make(chan error, 1)
		go func() {
			res, err := tr.RoundTrip(req)
			if err == nil {
				_ = res.Body.Close()
			}
			done <- err
		}()
		<-entered
		leave() // as a client does that was killed
		<-done
		tr.CloseIdleConnections()
	}
	require.Eventually(t, "the calls to end", func() bool { return f.Calls("a") == 0 })
	if s := f.Status().Agents["a"].Breaker; s.State != breaker.Closed || s.Failures != 0 {
		t.Errorf("%+v", s)
	}
}

func TestR17_AnAgentThatStartsIsWaitedForDespiteTheBreaker(t *testing.T) {
	t.Parallel()
	at := fmt.Sprintf("127.0.0.1:%d", nettest.FreePort(t))
	f := start(t, Options{Breaker: breaker.Options{Failures: 1}}, route("a", "http://"+at+"/mcp", `"waitReady":"200ms"`))
	for range 3 {
		f.post(t, "/mcps/a/mcp", ping).check(t, 503, -32000, "Agent 'a' is still starting. Try again in a moment.")
	}
}

func TestSection2_FaultsOfARoute(t *testing.T) {
	a := newAgent(t)
	log := filepath.Join(t.TempDir(), "audit.jsonl")
	f := start(t, Options{Audit: audit.Options{File: log}}, route("a", a.at(), ""), route("err", a.at(), `"fault":{"errorPercent":100,"seed":1}`), route("slow", a.at(), `"fault":{"delay":"30ms"}`))
	if got := f.post(t, "/mcps/a/mcp", ping); got.status != 200 || strings.Contains(got.body, "error") {
		t.Errorf("%+v", got)
	}
	kinds := map[string]int{}
	for range 20 {
		got := f.post(t, "/mcps/err/mcp", ping)
		switch {
		case got.status == 500:
			kinds["http"]++
		case got.rpcError(t).Error.Data["kind"] == "fault_injected":
			kinds["rpc"]++
		default:
			t.Errorf("%+v", got)
		}
	}
	if kinds["http"] == 0 || kinds["rpc"] == 0 {
		t.Errorf("%v", kinds)
	}
	if n := f.Status().Agents["err"].Faults; len(n) != 2 {
		t.Errorf("%v", n)
	}
	began := time.Now()
	if got := f.post(t, "/mcps/slow/mcp", ping); got.status != 200 || time.Since(began) < 30*time.Millisecond {
		t.Errorf("%v %+v", time.Since(began), got)
	}
	// What was done on purpose is not taken for the agent's own doing.
	require.NoError(t, f.Close(t.Context()))
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	for what, want := range map[string]int{`"agent":"a"`: 1, `"fault":"http_500","status":500`: kinds["http"], `"fault":"jsonrpc_error","status":200`: kinds["rpc"], `"fault":"delay","status":200`: 1, `"fault"`: 21} {
		if n := strings.Count(string(text), what); n != want {
			t.Errorf("%s is there %d times, want %d:\n%s", what, n, want, text)
		}
	}
}

func TestSection2_AChangedToolIsNoticed(t *testing.T) {
	a := newAgent(t)
	var list atomic.Pointer[string]
	set := func(s string) { list.Store(&s) }
	pager(a, func() string { return *list.Load() })
	pins := t.TempDir() + "/pins.json"
	run := func() *fixture { return start(t, Options{Pins: pins}, route("a", a.at(), "")) }
	f := run()
	ask := func(accept string) {
		t.Helper()
		if got := f.post(t, "/mcps/a/mcp", listTools, "Accept", accept); got.status != 200 {
			t.Fatalf("%+v", got)
		}
	}
	changed := func() (names string) {
		for _, c := range f.Status().Agents["a"].Pins.Changed {
			names += c.Tool + " "
		}
		return names
	}
	set(`{"name":"x","description":"reads","inputSchema":{"type":"object","maximum":9007199254740993}},{"name":"y"}`)
	ask("application/json")
	require.Eventually(t, "the tools to be remembered", func() bool { return f.Status().Agents["a"].Pins.Tools == 2 })
	set(`{ "inputSchema":{"maximum":9007199254740993,"type":"obj\u0065ct"},"description":"reads","name":"x"},{"name":"y"},{"name":"z"}`)
	ask("application/json")
	require.Eventually(t, "the third tool", func() bool { return f.Status().Agents["a"].Pins.Tools == 3 })
	if changed() != "" {
		t.Errorf("the same definition in other words changed %s", changed())
	}
	set(`{"name":"x","description":"reads and sends","inputSchema":{"type":"object","maximum":9007199254740993}},{"name":"y"}`)
	ask("application/json")
	require.Eventually(t, "the change", func() bool { return changed() == "x " })
	ask("application/json")
	require.NoError(t, f.Close(t.Context()))
	f = run() // it is not accepted by restarting
	if changed() != "x " {
		t.Fatalf("after a restart: %q", changed())
	}
	set(`{"name":"x","description":"reads","inputSchema":{"type":"object","maximum":9007199254740992}},{"name":"y"}`)
	ask("application/json")
	require.Eventually(t, "y to be checked", func() bool { return f.Status().Agents["a"].Pins.Tools == 3 })
	assert.Equalf(t, changed(), "x ", "a number beyond 2^53")
	set(`{"name":"x","description":"reads","inputSchema":{"type":"object","maximum":9007199254740993}}`)
	ask("application/json")
	require.Eventually(t, "the old definition", func() bool { return changed() == "" })
}

// What of lists is kept to check them is bounded over all: an agent may send many at a time, and not end them.
func TestSection2_ListsThatDoNotEndAreNotKept(t *testing.T) {
	t.Parallel()
	const lists, size = 40, 8 << 20
	a := newAgent(t)
	stop := make(chan struct{})
	t.Cleanup(func() { close(stop) })
	a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
		w.Header().Set("Content-Type", "application/json")
		piece := bytes.Repeat([]byte(" "), 1<<20)
		for range size / len(piece) {
			_, _ = w.Write(piece) // who reads sees what is missing
		}
		_ = http.NewResponseController(w).Flush()
		<-stop
	}
	f := start(t, Options{}, route("a", a.at(), `"timeout":"5m"`))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	for range lists {
		all.Go(func() {
			res, err := http.Post(f.URL()+"/mcps/a/mcp", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { _ = res.Body.Close() })
			if _, err := io.CopyN(io.Discard, res.Body, size); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20; grown > 250 { // buffers that grow have room for twice as much
		t.Errorf("%d lists of %d MiB hold %d MiB", lists, size>>20, grown)
	}
}

func TestO4_MetricsReadyAndStatus(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Tokens: tokens(t, token("one", "alpha", `["a"]`), token("two", "beta", `["*"]`))}, route("a", a.at(), ""), route("b", a.at(), ""))
	one, two := []string{"Authorization", "Bearer one"}, []string{"Authorization", "Bearer two"}
	for range 3 {
		f.post(t, "/mcps/a/mcp", ping, one...)
	}
	f.post(t, "/mcps/b/mcp", ping, one...)
	for i := range 600 {
		f.post(t, fmt.Sprintf("/mcps/ghost-%d/mcp", i), ping, two...)
	}
	f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":3,"method":"made/up"}`, one...)
	for _, path := range []string{"/metrics", "/status"} {
		if got := f.send(t, "GET", path, ""); got.status != 401 || got.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s without a token: %+v", path, got)
		}
		if got := f.send(t, "POST", path, "x", one...); got.status != 405 {
			t.Errorf("POST %s: %+v", path, got)
		}
	}
	for _, path := range []string{"/health", "/ready"} {
		if got := f.send(t, "GET", path, ""); got.status != 200 {
			t.Errorf("%s: %+v", path, got)
		}
	}
	page := f.send(t, "GET", "/metrics", "", two...).body
	for _, want := range []string{
		`mcp_router_requests_total{mcp_agent="a",mcp_method="ping",outcome="ok"} 3`,
		`mcp_router_requests_total{mcp_agent="a",mcp_method="other",outcome="ok"} 1`,
		`mcp_router_requests_total{mcp_agent="b",mcp_method="POST",outcome="denied"} 1`,
		`mcp_router_requests_total{mcp_agent="unknown",mcp_method="ping",outcome="denied"} 600`,
		`mcp_router_duration_ms_count{mcp_agent="a",outcome="ok"} 4`,
		`mcp_router_in_flight{mcp_agent="a"} 0`,
		`mcp_router_routes 2`,
		`mcp_router_breaker_open{mcp_agent="b"} 0`,
	} {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no %s in\n%s", want, page[strings.Index(page, "mcp_"):min(len(page), strings.Index(page, "mcp_")+3000)])
		}
	}
	assert.NotContains(t, page, "ghost", "made/up")
	if got := f.send(t, "GET", "/metrics", "", one...); got.status != 403 || strings.Contains(got.body, "mcp_") {
		t.Errorf("who may call one agent reads of all: %+v", got)
	}
	if s := f.send(t, "GET", "/status", "", one...).body; strings.Contains(s, `"b":`) || !strings.Contains(s, `"a":{"state":"ok","upstream":"url"`) {
		t.Errorf("%s", s)
	}
	assert.Contains(t, f.send(t, "GET", "/status", "", two...).body, `"b":`)
	f.write(t, `{"routes":`)
	if err := f.Reload(); err == nil {
		t.Error("half a file of routes was taken")
	}
	assert.Contains(t, f.send(t, "GET", "/status", "", two...).body, `"error":"routes: `, "line 1")
	limited := f.send(t, "GET", "/status", "", one...).body
	assert.Contains(t, limited, `"error":"the routes as they are now are not in force, or not all of them"`)
	assert.NotContains(t, limited, "line 1") // what is wrong, and with which agent, is not for who may call another one
	if got := f.post(t, "/mcps/a/mcp", ping, one...); got.status != 200 {
		t.Errorf("the old routes are not in force: %+v", got)
	}
}
