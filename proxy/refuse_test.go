package proxy

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/nettest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestE1_E2_P15_R7_WhatIsNoRequest(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	const detail = "unsupported request for agent MCP proxy"
	for _, c := range []struct {
		body string
		code int
		id   string
	}{
		{`{bad`, -32700, "null"},
		{"\xef\xbb\xbf" + callEcho, -32700, "null"},
		{callEcho + "x", -32700, "null"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700, "null"},
		{strings.Repeat("[", 100_000), -32700, "null"},
		{`{}`, -32600, "null"},
		{`{"a":1}`, -32600, "null"},
		{`"x"`, -32600, "null"},
		{`5`, -32600, "null"},
		{`{"id":1,"method":"x"}`, -32600, "1"},
		{`{"jsonrpc":"1.0","id":"7","method":"x"}`, -32600, `"7"`},
		{`{"jsonrpc":"2.0","id":null,"method":"x"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":{},"method":"x"}`, -32600, "null"},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","Method":"ping","params":{"name":"a"}}`, -32600, "3"},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a","name":"b"}}`, -32600, "3"},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"nope","Name":"echo"}}`, -32600, "3"},
		{`{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"x","uri":"y"}}`, -32600, "3"},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call","param` + "\u017f" + `":{"name":"x"},"params":{"name":"y"}}`, -32600, "3"},
		{`{"jsonrpc":"2.0","id":3,"method":"x","params":7}`, -32600, "3"},
		{`{"jsonrpc":"2.0","id":3,"method":"tools/call\u0000","params":{"name":"a"}}`, -32600, "3"},
		{`{"jsonrpc":"2.0","id":3,"method":"ping\n"}`, -32600, "3"},
		{`{"jsonrpc":"2.0","id":3,"method":"ping\u0085"}`, -32600, "3"},
		{`{"jsonrpc":"2.0","method":"notifications/\u007fx"}`, -32600, "null"},
	} {
		got := f.post(t, "/mcps/a/mcp", c.body)
		e := got.rpcError(t)
		if got.status != 400 || e.Error.Code != c.code || string(e.ID) != c.id || e.Error.Data["kind"] == nil {
			t.Errorf("%.80q: %d %s", c.body, got.status, got.body)
		}
		if c.code == -32600 && !strings.Contains(c.body, "params") && e.Error.Data["detail"] != detail {
			t.Errorf("%.80q: %s", c.body, got.body)
		}
	}
	if h, _ := a.seen(); h != nil {
		t.Error("one of these reached the agent")
	}
	got := f.post(t, "/mcps/a/mcp", "", "Content-Type", "application/json")
	if got.status != 400 || got.rpcError(t).Error.Code != -32700 {
		t.Errorf("no body: %+v", got)
	}
}

func TestE18_BatchesAreRefused(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	for _, body := range []string{"[]", "[" + callEcho + "]", "[" + callEcho + "," + callEcho + "]", "[1]", " [ ] "} {
		got := f.post(t, "/mcps/a/mcp", body)
		got.check(t, 400, -32600, "Batch requests are not supported")
		if string(got.rpcError(t).ID) != "null" {
			t.Errorf("%s: %s", body, got.body)
		}
	}
}

func TestE16_E17_OtherMethods(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""), route("s", a.at(), `"stream":true`))
	got := f.send(t, "GET", "/mcps/a/mcp", "")
	if got.status != 405 || got.body != `{"error":"event_stream_not_supported"}` || got.header.Get("Allow") != "POST, DELETE" || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", got)
	}
	for _, m := range []string{"PUT", "PATCH", "OPTIONS", "HEAD", "TRACE", "FOO"} {
		got := f.send(t, m, "/mcps/a/mcp", "")
		if m == "HEAD" {
			got.body = `{"error":"method_not_allowed"}`
		}
		if got.status != 405 || got.body != `{"error":"method_not_allowed"}` || got.header.Get("Allow") != "POST, DELETE" {
			t.Errorf("%s: %+v", m, got)
		}
		if got = f.send(t, m, "/mcps/s/mcp", ""); got.status != 405 || got.header.Get("Allow") != "GET, POST, DELETE" {
			t.Errorf("%s: %+v", m, got)
		}
	}
	for _, m := range []string{"GET", "DELETE"} {
		got := f.send(t, m, "/mcps/s/mcp", "", "Mcp-Protocol-Version", "2026-07-28")
		if got.status != 405 || got.header.Get("Allow") != "POST" {
			t.Errorf("%s in the modern era: %+v", m, got)
		}
	}
	if got = f.send(t, "GET", "/mcps/ghost/mcp", ""); got.status != 404 {
		t.Errorf("%+v", got)
	}
}

func TestE14_UnreachableAgent(t *testing.T) {
	at := fmt.Sprintf("127.0.0.1:%d", nettest.FreePort(t))
	f := start(t, Options{}, route("a", "http://user:hunter2@"+at+"/mcp?token=hunter3", ""))
	for _, body := range []string{callEcho, initialize} {
		got := f.post(t, "/mcps/a/mcp", body)
		e := got.rpcError(t)
		if got.status != 502 || e.Error.Code != -32603 || !strings.HasPrefix(e.Error.Message, "Failed to reach agent: ") || string(e.ID) == "null" {
			t.Errorf("%+v", got)
		}
		assert.NotContains(t, got.body, "hunter")
	}
}

func TestE14_HangingAgent(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	hang := make(chan struct{})
	defer close(hang)
	a.answer = func(http.ResponseWriter, *http.Request, jsonrpc.Envelope) { <-hang }
	f := start(t, Options{}, route("a", a.at(), `"timeout":"50ms"`))
	began := time.Now()
	got := f.post(t, "/mcps/a/mcp", callEcho)
	got.check(t, 504, -32003, "Agent 'a' did not answer within 50ms")
	if string(got.rpcError(t).ID) != "2" || time.Since(began) > 20*time.Second {
		t.Errorf("%+v", got)
	}
	a.opens = func(http.ResponseWriter, []byte) { <-hang }
	a.restart()
	f.post(t, "/mcps/a/mcp", initialize).check(t, 504, -32003, "Agent 'a' did not answer within 50ms")
}

// What the router says about an agent it says at the endpoint of all agents as well, with the numbers of the caller's era.
func TestE14_E7_AnAgentAmongAllThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	a.answer = func(_ http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) { <-r.Context().Done() }
	f := start(t, Options{}, route("a", a.at(), `"timeout":"1s"`))
	const meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	call := func(modern bool) response {
		more, headers := "", []string(nil)
		if modern {
			more, headers = meta, []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "mcp__a__echo"}
		}
		return f.post(t, "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"mcp__a__echo"`+more+`}}`, headers...)
	}
	for modern, code := range map[bool]int{false: -32003, true: -31003} {
		got := call(modern)
		if e := got.rpcError(t); got.status != 504 || e.Error.Code != code || !strings.HasPrefix(e.Error.Message, "Agent 'a' did not answer") || string(e.ID) != "2" {
			t.Errorf("%+v", got)
		}
	}
	a.CloseClientConnections()
	a.Close()
	for _, modern := range []bool{false, true} {
		got := call(modern)
		if e := got.rpcError(t); got.status != 502 || e.Error.Code != -32603 || !strings.HasPrefix(e.Error.Message, "Failed to reach agent: ") || string(e.ID) != "2" {
			t.Errorf("%+v", got)
		}
	}
}

func TestE14_WhatIsNoAnswer(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	for _, status := range []int{301, 302, 307, 308} {
		a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}
		got := f.post(t, "/mcps/a/mcp", callEcho)
		if got.status != 502 || got.header.Get("Location") != "" || got.rpcError(t).Error.Code != -32603 {
			t.Errorf("%+v", got)
		}
	}
	a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = c.Close()
		}
	}
	if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 502 || got.rpcError(t).Error.Code != -32603 {
		t.Errorf("%+v", got)
	}
}

func TestA7_BodiesAreBounded(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	frame := func(size int) string {
		const head, tail = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"`, `"}}}`
		return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
	}
	if got := f.post(t, "/mcps/a/mcp", frame(10<<20)); got.status != 200 {
		t.Errorf("10 MiB: %d %.200s", got.status, got.body)
	}
	if _, body := a.seen(); len(body) != 10<<20 {
		t.Errorf("%d bytes arrived", len(body))
	}
	got := f.post(t, "/mcps/a/mcp", frame(10<<20+1))
	if e := got.rpcError(t); got.status != 413 || e.Error.Code != -32600 || e.Error.Data["kind"] != "too_large" {
		t.Errorf("%d %.200s", got.status, got.body)
	}
	// Without a length.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.URL()+"/mcps/a/mcp", bufio.NewReader(strings.NewReader(frame(10<<20+1))))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_ = res.Body.Close()
	assert.Equalf(t, res.StatusCode, 413, "chunked")
	var zipped strings.Builder
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(callEcho)) // to memory
	_ = z.Close()
	if got := f.post(t, "/mcps/a/mcp", zipped.String(), "Content-Encoding", "gzip"); got.status != 415 {
		t.Errorf("%+v", got)
	}
	if got := f.send(t, "POST", "/mcps/a/mcp", "", "Content-Type", "text/plain"); got.status != 415 {
		t.Errorf("%+v", got)
	}
}

func TestR9_PathsAreTakenAsTheyAre(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	addr := strings.TrimPrefix(f.URL(), "http://")
	for _, path := range []string{
		"/mcps/a%2fb/mcp", "/mcps/%61/mcp", "/mcps/a/%6dcp", "/mcps/a/../a/mcp", "/mcps/./a/mcp", "/mcps//a/mcp", "//mcps/a/mcp", "/mcps/a//mcp", "/mcps/a/mcp/",
		"/mcps/a%00/mcp", "/mcps/a /mcp", "/mcps/a;x/mcp", "/mcps/A/mcp", "/mcps/a./mcp", "/MCPS/a/mcp", "/mcps/..%2fa/mcp", "/mcps/a%2e/mcp",
		"/mcps/" + strings.Repeat("a", 10_000) + "/mcp", "/mcps//mcp", "/mcps/a/mcp/../mcp", "/mcps/-a/mcp", "/mcps/a\\b/mcp", "/mcps/a", "/mcps/", "/mcps/\u00e4/mcp",
	} {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		require.NoError(t, err)
		_, _ = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", path, addr, len(callEcho), callEcho)
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Errorf("%.60q: %v", path, err)
		} else if res.StatusCode != 404 && res.StatusCode != 400 {
			t.Errorf("%.60q: %d", path, res.StatusCode)
		}
		_ = c.Close()
	}
	if h, _ := a.seen(); h != nil {
		t.Error("one of these reached the agent")
	}
}

func TestHealthIsPublic(t *testing.T) {
	f := start(t, Options{})
	if got := f.send(t, "GET", "/health", ""); got.status != 200 || got.body != `{"status":"ok"}` {
		t.Errorf("%+v", got)
	}
	if got := f.post(t, "/health", "{}"); got.status != 405 {
		t.Errorf("%+v", got)
	}
	for _, h := range [][2]string{{"Origin", "http://evil.example"}, {"Origin", "null"}} {
		if got := f.send(t, "GET", "/health", "", h[0], h[1]); got.status != 403 {
			t.Errorf("%v: %+v", h, got)
		}
	}
}

func TestR17_WaitsForAnAgentThatStarts(t *testing.T) {
	t.Parallel()
	at := fmt.Sprintf("127.0.0.1:%d", nettest.FreePort(t))
	f := start(t, Options{}, route("late", "http://"+at+"/mcp", `"waitReady":"60s","timeout":"5s"`), route("never", "http://"+at+"/mcp", `"waitReady":"10ms"`))
	got := f.post(t, "/mcps/never/mcp", callEcho)
	got.check(t, 503, -32000, "Agent 'never' is still starting. Try again in a moment.")
	if got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	a := &agent{sessions: map[string]bool{}}
	web := &http.Server{Handler: a}
	opened := make(chan struct{})
	var done sync.WaitGroup
	time.AfterFunc(6*time.Second, func() { // later than the time that it has to answer
		defer close(opened)
		ln, err := net.Listen("tcp", at)
		if err != nil {
			t.Errorf("the address of the agent was taken meanwhile: %v", err)
			return
		}
		go func() { _ = web.Serve(ln) }()
	})
	defer func() { _ = web.Close() }()
	// The time that it has to answer begins when it listens.
	for _, body := range []string{callEcho, initialize} {
		done.Go(func() {
			if got := f.post(t, "/mcps/late/mcp", body); got.status != 200 {
				t.Errorf("%+v", got)
			}
		})
	}
	done.Wait()
	<-opened
}
