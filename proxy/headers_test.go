package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestR4_OnlyListedHeadersAreForwarded(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""), route("b", a.at(), `"headers":{"authorization":"Bearer inner","X-Own":"1"}`))
	id := f.open(t, "/mcps/a/mcp")
	sent := []string{
		"Mcp-Session-Id", id, "Authorization", "Bearer outer", "Cookie", "a=b", "Proxy-Authorization", "x", "X-Forwarded-For", "1.2.3.4", "X-Forwarded-Host", "evil",
		"Forwarded", "for=1", "X-Real-Ip", "1.2.3.4", "Referer", "http://x/", "X-Other", "1", "Te", "trailers", "Keep-Alive", "5", "Upgrade", "h2c", "X-Own", "2",
		"Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Tracestate", "a=1", "Baggage", "k=v", "Mcp-Param-Region", "eu",
		"Mcp-Method", "tools/call", "Mcp-Name", "echo", "Accept", accept, "User-Agent", "me/1", "Accept-Encoding", "gzip",
	}
	f.post(t, "/mcps/a/mcp", callEcho, sent...)
	got, body := a.seen()
	want := map[string]string{
		"Mcp-Session-Id": "up-1", "Traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Tracestate": "a=1", "Baggage": "k=v", "Mcp-Param-Region": "eu",
		"Mcp-Method": "tools/call", "Mcp-Name": "echo", "Accept": accept, "User-Agent": "me/1", "Content-Type": "application/json",
		"Content-Length": strconv.Itoa(len(callEcho)), "Mcphud-Hops": "1", "Mcp-Protocol-Version": "2025-06-18",
	}
	for name, v := range got {
		if want[name] != strings.Join(v, "|") {
			t.Errorf("%s: %q, want %q", name, v, want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 || body != callEcho {
		t.Errorf("not forwarded: %v; body %s", want, body)
	}
	f.post(t, "/mcps/b/mcp", callEcho, "Authorization", "Bearer outer", "X-Own", "2")
	if got, _ = a.seen(); got.Get("Authorization") != "Bearer inner" || got.Get("X-Own") != "1" || len(got["X-Own"]) != 1 {
		t.Errorf("%v", got)
	}
	f.post(t, "/mcps/a/mcp", callEcho, "User-Agent", "")
	if got, _ = a.seen(); got.Get("User-Agent") != "" || got.Get("Accept") != accept {
		t.Errorf("%v", got)
	}
}

// What Connection names is for the next hop, and that is the router; the session it asks for is found nevertheless.
func TestHeadersNamedByConnectionStayHere(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", id, "Connection", "mcp-session-id, Traceparent", "Traceparent", "t", "Tracestate", "s")
	h, _ := a.seen()
	if got.status != 200 || !strings.Contains(got.body, "up-1") || h.Get("Traceparent") != "" || h.Get("Tracestate") != "s" || h.Get("Connection") != "" {
		t.Errorf("%+v; the agent saw %v", got, h)
	}
}

func TestHopsAreLimited(t *testing.T) {
	a := newAgent(t)
	file := filepath.Join(t.TempDir(), "audit.jsonl")
	f := start(t, Options{Audit: audit.Options{File: file}}, route("a", a.at(), ""))
	f.write(t, table(route("a", a.at(), ""), route("self", f.URL()+"/mcps/self/mcp", "")))
	require.NoError(t, f.Reload())
	if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcphud-Hops", "7"); got.status != 200 {
		t.Errorf("%+v", got)
	}
	if h, _ := a.seen(); h.Get("Mcphud-Hops") != "8" {
		t.Errorf("%v", h)
	}
	for _, hops := range []string{"8", "9", "-1", "x", "99999999999999999999"} {
		got := f.post(t, "/mcps/a/mcp", callEcho, "Mcphud-Hops", hops)
		if e := got.rpcError(t); got.status != 508 || e.Error.Code != -32000 || string(e.ID) != "2" {
			t.Errorf("%s: %+v", hops, got)
		}
	}
	if got := f.Status().Agents["a"]; got.Requests != 6 || got.Denied != 5 {
		t.Errorf("%d requests, %d of them denied; 5 of 6 were", got.Requests, got.Denied)
	}
	got := f.post(t, "/mcps/self/mcp", `{"jsonrpc":"2.0","id":2,"method":"x/y","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "x/y")
	if got.status != 508 {
		t.Errorf("%+v", got)
	}
	require.NoError(t, f.Close(t.Context()))
	log, err := os.ReadFile(file)
	require.NoError(t, err)
	const refused = `"agent":"a","http":"POST","method":"tools/call","tool":"echo","decision":"denied","why":"upstream","status":508`
	if n := strings.Count(string(log), refused); n != 5 {
		t.Errorf("%d of 5 refusals are in the log:\n%s", n, log)
	}
}

// A routing loop may go through /mcp, too, in sessions that were opened before it began.
func TestHopsAreLimitedInSessionsWithAllAgents(t *testing.T) {
	const circle = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp__a__circle"}}`
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	session := ""
	var calls atomic.Int64
	a.answer = func(w http.ResponseWriter, r *http.Request, e jsonrpc.Envelope) {
		if e.Method == "tools/call" && calls.Add(1) < 100 {
			f.post(t, "/mcp", circle, "Mcp-Session-Id", session, "Mcphud-Hops", r.Header.Get("Mcphud-Hops"))
		}
		reply(w, e.ID, `{}`)
	}
	session = f.open(t, "/mcp")
	if got := f.post(t, "/mcp", circle, "Mcp-Session-Id", session); got.status != 200 {
		t.Errorf("%+v", got)
	}
	if n := calls.Load(); n == 0 || n > 8 {
		t.Errorf("the agent called itself %d times", n)
	}
}

// The router frames every request anew, so that nothing that two parsers read differently gets past it.
func TestFramingIsNotRelayed(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	f := start(t, Options{BodyTimeout: 200 * time.Millisecond}, route("a", a.at(), ""))
	addr := strings.TrimPrefix(f.URL(), "http://")
	head := "POST /mcps/a/mcp HTTP/1.1\r\nHost: " + addr + "\r\nContent-Type: application/json\r\n"
	smuggled := "POST /mcps/a/mcp HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, raw := range map[string]string{
		"length and chunked": head + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + smuggled,
		"two lengths":        head + fmt.Sprintf("Content-Length: %d\r\nContent-Length: 3\r\n\r\n%s", len(callEcho), callEcho),
		"lying chunk":        head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n" + callEcho,
		"obs-fold":           "POST /mcps/a/mcp HTTP/1.1\r\nHost: " + addr + "\r\nX-A: b\r\n c\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
		"large head":         head + "X-A: " + strings.Repeat("a", 1<<20) + "\r\n\r\n",
	} {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		require.NoError(t, err)
		_, _ = c.Write([]byte(raw)) // the server may have closed already
		r := bufio.NewReader(c)
		res, err := http.ReadResponse(r, nil)
		if err == nil && (res.StatusCode < 400 || res.StatusCode >= 500) {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
		_ = c.Close()
	}
	if h, _ := a.seen(); h != nil {
		t.Error("one of these reached the agent")
	}
}

func TestModernRequestsPassStraightThrough(t *testing.T) {
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		if e.Method == "no/such" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write(jsonrpc.NewError(e.ID, -32601, "Method not found", nil))
			return
		}
		reply(w, e.ID, `{"resultType":"complete","serverInfo":{"name":"inner"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"inner","version":"1"}}}`)
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	modern := func(method, header string) response {
		t.Helper()
		body := `{"jsonrpc":"2.0","id":"m","method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		return f.post(t, "/mcps/a/mcp", body, "Accept", accept, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", header, "Mcp-Session-Id", "whatever")
	}
	got := modern("server/discover", "server/discover")
	if want := `{"jsonrpc":"2.0","id":"m","result":{"resultType":"complete","serverInfo":{"name":"mcphud-router-proxy:a"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcphud-router-proxy:a","version":"1"}}}}`; got.body != want || got.header.Get("Mcp-Protocol-Version") != "2026-07-28" || got.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("%+v", got)
	}
	if h, _ := a.seen(); h.Get("Mcp-Session-Id") != "" || h.Get("Mcp-Method") != "server/discover" || h.Get("Mcp-Protocol-Version") != "2026-07-28" {
		t.Errorf("%v", h)
	}
	if got = modern("tools/list", "tools/list"); strings.Contains(got.body, "proxy") {
		t.Errorf("another answer than the two was changed: %s", got.body)
	}
	if got = modern("no/such", "no/such"); got.status != 404 || got.rpcError(t).Error.Code != -32601 {
		t.Errorf("%+v", got)
	}
	if got = modern("tools/list", "tools/call"); got.status != 400 || got.rpcError(t).Error.Code != -32020 {
		t.Errorf("%+v", got)
	}
	assert.Equalf(t, a.opened.Load(), 0, "a session was opened")
	if got = f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Protocol-Version", "1999-01-01"); got.status != 400 || got.rpcError(t).Error.Code != -32600 {
		t.Errorf("C-5: %+v", got)
	}
}

func TestR14_ListsOfMethodsAndTools(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("all", a.at(), ""), route("m", a.at(), `"methods":["tools/call","ping"]`), route("t", a.at(), `"tools":["echo"]`),
		route("none", a.at(), `"methods":[],"tools":[]`))
	call := func(agent, method, params string) response {
		t.Helper()
		return f.post(t, "/mcps/"+agent+"/mcp", `{"jsonrpc":"2.0","id":9,"method":"`+method+`","params":`+params+`}`)
	}
	for _, c := range []struct {
		agent, method, params string
		code                  int
	}{
		{"all", "prompts/list", "{}", 0},
		{"m", "prompts/list", "{}", -32601},
		{"m", "tools/call", `{"name":"any"}`, 0},
		{"m", "Tools/call", `{"name":"any"}`, -32601},
		{"m", "ping", `{}`, 0},
		{"t", "tools/call", `{"name":"echo"}`, 0},
		{"t", "tools/call", `{"name":"\u0065cho"}`, 0},
		{"t", "tools/call", `{"name":"other"}`, -32602},
		{"t", "tools/call", `{"name":"Echo"}`, -32602},
		{"t", "tools/call", `{"name":"other","Name":"echo"}`, -32600},
		{"t", "prompts/list", "{}", 0},
		{"t", "tools/call_batch", `{"calls":[{"name":"other"}]}`, -32601},
		{"all", "tools/call_batch", `{"calls":[{"name":"other"}]}`, 0},
		{"none", "tools/call", `{"name":"echo"}`, -32601},
		{"none", "initialize", `{"protocolVersion":"2025-06-18"}`, 0},
	} {
		got := call(c.agent, c.method, c.params)
		e := got.rpcError(t)
		if e.Error.Code != c.code || string(e.ID) != "9" || c.code != -32600 && got.status != 200 {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// Whatever an agent answers, a browser that is sent to it must not run it as a page of the router's.
func TestAnswersDoNotActForTheRouter(t *testing.T) {
	const modern = `{"jsonrpc":"2.0","id":2,"method":"x/y","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for _, kind := range []string{"text/html", "application/json, text/html", "image/svg+xml", "application/json", "text/event-stream", ""} {
		page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{kind}
			w.Header().Set("Content-Security-Policy", "default-src *")
			_, _ = io.WriteString(w, "<script>fetch('/mcps/b/mcp')</script>")
		}))
		f := start(t, Options{}, route("a", page.URL+"/mcp", ""))
		for _, got := range []response{f.send(t, "GET", "/mcps/a/task?taskId=1", ""), f.post(t, "/mcps/a/mcp", modern, "Accept", accept, "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "x/y")} {
			csp := got.header["Content-Security-Policy"]
			if got.status != 200 || len(csp) != 1 || !strings.Contains(csp[0], "default-src 'none'") || !strings.Contains(csp[0], "sandbox") || got.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%q: %d %v", kind, got.status, got.header)
			}
		}
		page.Close()
	}
}
