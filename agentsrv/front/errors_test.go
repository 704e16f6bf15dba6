package front

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// rpcError is what an error response says.
type rpcError struct {
	ID    json.RawMessage
	Error *struct {
		Code    int
		Message string
		Data    map[string]any
	}
}

func parseError(t testing.TB, g got) rpcError {
	t.Helper()
	var e rpcError
	if err := json.Unmarshal([]byte(g.body), &e); err != nil || e.Error == nil || g.header.Get("Content-Type") != "application/json" {
		t.Fatalf("no JSON-RPC error: %+v", g)
	}
	return e
}

// expect checks status, code, kind and text of an error.
func expect(t testing.TB, g got, status, code int, kind, text string) rpcError {
	t.Helper()
	e := parseError(t, g)
	if g.status != status || e.Error.Code != code || kind != "" && e.Error.Data["kind"] != kind || !strings.Contains(e.Error.Message, text) {
		t.Errorf("want %d, %d %s %q, got %+v", status, code, kind, text, g)
	}
	return e
}

func TestE1_ParseError(t *testing.T) {
	f := start(t, nil)
	deep := strings.Repeat("[", 100_000)
	for name, body := range map[string]string{
		"bad": `{bad`, "empty": "", "space": "  ", "utf8": "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\xff\"}", "bom": "\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		"garbage": `{"jsonrpc":"2.0","id":1,"method":"ping"} x`, "two": `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, "open array": `[`, "deep": deep,
	} {
		g := f.post(t, body)
		if e := expect(t, g, 400, -32700, "parse_error", ""); string(e.ID) != "null" {
			t.Errorf("%s: id %s", name, e.ID)
		}
	}
}

func TestE2_InvalidRequest(t *testing.T) {
	f := start(t, nil)
	for body, id := range map[string]string{
		`{}`: "null", `{"id":1,"method":"x"}`: "1", `{"jsonrpc":"1.0","id":1,"method":"x"}`: "1", `{"jsonrpc":"2.0","id":null,"method":"ping"}`: "null",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`: "null", `{"jsonrpc":"2.0","id":1,"method":1}`: "1", `{"jsonrpc":"2.0","id":1,"method":"ping","params":1}`: "1",
		`{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}`: "1", `{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/list"}`: "1", `"x"`: "null", `1`: "null", `{"a":1}`: "null",
		`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"nope","name":"echo"}}`:                                        `"q"`,
		`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"nope","Name":"echo"}}`:                                        `"q"`,
		`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"echo","arguments":{},"Arguments":{"x":1}}}`:                   `"q"`,
		`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"echo","argument\u017f":{}}}`:                                  `"q"`,
		`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"echo","arguments":{"tenant_id":"a","Tenant_ID":"b"}}}`:        `"q"`,
		`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"echo","_meta":{"progressToken":1,"progressToken":2}}}`:        `"q"`,
		`{"jsonrpc":"2.0","id":"q","method":"resources/read","params":{"uri":"test://a","URI":"file:///etc/passwd"}}`:                    `"q"`,
		`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"n\u0061me":"nope","name":"echo"}}`:                                   `"q"`,
		`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"echo","arguments":{` + many(200) + `,"k7":1}}}`:               `"q"`,
		`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"echo","arguments":{"x":1},"_Meta":{"a":1}}}`:                  `"q"`,
		`{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"echo","arguments":{"k":1,"\u212a":2,"b":` + many2(20) + `}}}`: `"q"`,
	} {
		g := f.post(t, body)
		if e := expect(t, g, 400, -32600, "invalid_request", ""); string(e.ID) != id {
			t.Errorf("%.100s: id %s", body, e.ID)
		}
	}
	if n := f.calls.Load(); n > 0 {
		t.Errorf("%d smuggled calls ran", n)
	}
}

func many(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`"k%d":1`, i))
	}
	return strings.Join(out, ",")
}

func many2(n int) string { return "{" + many(n) + "}" }

func TestE3_MethodNotFound(t *testing.T) {
	f := start(t, nil)
	expect(t, f.post(t, `{"jsonrpc":"2.0","id":1,"method":"foo/bar"}`), 200, -32601, "method_not_found", "foo/bar")
	for _, method := range []string{"foo/bar", "initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"} {
		body, h := modern("1", method, "", "")
		expect(t, f.post(t, body, h...), 404, -32601, "method_not_found", method)
	}
}

func TestP8_Ping(t *testing.T) {
	f := start(t, nil)
	if g := f.post(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`); g.status != 200 || g.body != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("%+v", g)
	}
	body, h := modern("1", "ping", "", "")
	expect(t, f.post(t, body, h...), 404, -32601, "method_not_found", "")
}

func TestE4_InvalidParams(t *testing.T) {
	f := start(t, nil)
	for body, text := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`:                           "Missing tool name",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`:                                       "Missing tool name",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}`:                   "Missing tool name",
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}`:                       "Missing resource uri",
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":""}}`:               "Missing resource uri",
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}`:                           "params must be an object",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":5}}`:        "",
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":{}}}`:                "params of tools/list cannot be read",
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"?"}}`:               "unknown cursor",
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"no"}}`:               "Prompt 'no' not found",
		`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"x"}}`:          "one of debug, info,",
		call("1", "echo", `{"x":1e400}`):                                                       "does not fit",
		call("1", "echo", `{"x":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+`}`): "nesting is deeper",
	} {
		expect(t, f.post(t, body), 200, -32602, "invalid_params", text)
	}
	body, h := modern("1", "tools/call", `"arguments":{}`, "echo")
	expect(t, f.post(t, body, h...), 400, -32602, "invalid_params", "Missing tool name")
}

func TestE6_UnknownTool(t *testing.T) {
	f := start(t, nil)
	expect(t, f.post(t, call("1", "nope", "{}")), 200, -32602, "tool_not_found", "Tool 'nope' not found")
	body, h := modern("1", "tools/call", `"name":"nope"`, "nope")
	expect(t, f.post(t, body, h...), 400, -32602, "tool_not_found", "Tool 'nope' not found")
}

func TestC1_UnknownResource(t *testing.T) {
	f := start(t, nil)
	expect(t, f.post(t, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"test://no"}}`), 200, -32001, "resource_not_found", "Resource 'test://no' not found; see resources/list")
	body, h := modern("1", "resources/read", `"uri":"test://no"`, "test://no")
	expect(t, f.post(t, body, h...), 400, -32602, "resource_not_found", "")
}

func TestE5_InternalError(t *testing.T) {
	f := start(t, nil)
	for _, name := range []string{"panic", "broken"} {
		g := f.post(t, call("1", name, "{}"))
		expect(t, g, 200, -32603, "internal", "internal error")
		assert.NotContains(t, g.body, "secret", "goroutine")
	}
	if g := f.post(t, call("2", "echo", "{}")); g.status != 200 {
		t.Errorf("afterwards: %+v", g)
	}
}

func TestE19_FailuresOfHandlers(t *testing.T) {
	f := start(t, nil)
	g := f.post(t, call("1", "full", "{}"))
	if e := expect(t, g, 200, -32002, "queue_full", "Task queue at capacity"); e.Error.Data["retryAfterMs"] != 1500.0 || g.header.Get("Retry-After") != "2" {
		t.Errorf("%+v", g)
	}
	body, h := modern("1", "tools/call", `"name":"full"`, "full")
	if e := expect(t, f.post(t, body, h...), 200, -31002, "queue_full", ""); e.Error.Data["legacyCode"] != -32002.0 {
		t.Errorf("%+v", e)
	}
}

func TestE18_Batch(t *testing.T) {
	f := start(t, nil)
	one := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, body := range []string{`[]`, `[` + one + `]`, ` [` + one + `,` + one + `]`, `[1]`} {
		if e := expect(t, f.post(t, body), 400, -32600, "batch", "Batch requests are not supported"); string(e.ID) != "null" || e.Error.Message != "Batch requests are not supported" {
			t.Errorf("%s: %+v", body, e)
		}
	}
}

func TestA7_BodyLimit(t *testing.T) {
	f := start(t, nil)
	frame := func(n int) string {
		head := call("1", "echo", `{"x":"%s"}`)
		return fmt.Sprintf(head, strings.Repeat("x", n-len(head)+2))
	}
	const limit = 10 << 20
	if g := f.post(t, frame(limit-1)); g.status != 200 || len(g.body) < limit-1000 {
		t.Errorf("10 MiB - 1: %d %.200s", g.status, g.body)
	}
	if e := expect(t, f.post(t, frame(limit+1)), 413, -32600, "too_large", "10485760 bytes (10.5 MB)"); e.Error.Data["limit"] != float64(limit) {
		t.Errorf("%+v", e)
	}
	r, err := http.NewRequest(http.MethodPost, f.url, struct{ *strings.Reader }{strings.NewReader(frame(limit + 1))}) // of unknown length
	require.NoError(t, err)
	r.ContentLength = -1
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	_ = res.Body.Close()
	assert.Equalf(t, res.StatusCode, 413, "chunked")
	for _, enc := range []string{"gzip", "br", "identity, gzip"} {
		expect(t, f.post(t, call("1", "echo", "{}"), "Content-Encoding", enc), 415, -32600, "invalid_request", "Content-Encoding")
	}
	for _, typ := range []string{"text/plain", "application/x-www-form-urlencoded", "application/json-patch+json", ""} {
		expect(t, f.post(t, call("1", "echo", "{}"), "Content-Type", typ), 415, -32600, "invalid_request", "Content-Type")
	}
	if g := f.post(t, call("1", "echo", "{}"), "Content-Type", "application/json; charset=utf-8"); g.status != 200 {
		t.Errorf("charset: %+v", g)
	}
}

// Many clients write the whole body before they read: they must find an answer then, not a broken connection.
func TestA7_AnswerAfterTheWholeBody(t *testing.T) {
	t.Parallel()
	f := start(t, nil)
	host := strings.TrimSuffix(strings.TrimPrefix(f.url, "http://"), Path)
	body := strings.Repeat("x", 25<<20)
	for _, framing := range []string{"Content-Length: 26214400\r\n\r\n" + body, "Transfer-Encoding: chunked\r\n\r\n1900000\r\n" + body + "\r\n0\r\n\r\n"} {
		c, err := net.Dial("tcp", host)
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
		if _, err := io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: "+host+"\r\nContent-Type: application/json\r\n"+framing); err != nil {
			t.Errorf("%.20s: the connection broke: %v", framing, err)
		}
		answer, err := io.ReadAll(c)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 413 ") || !strings.Contains(string(answer), "too_large") {
			t.Errorf("%.20s: %v %.300s", framing, err, answer)
		}
	}
}

func TestP2_C6_NotificationsGetNoBody(t *testing.T) {
	f := start(t, nil)
	s := f.login(t, "2025-06-18", "{}")
	for _, n := range []string{`notifications/initialized`, `notifications/whatever`, `tools/call`} {
		if g := f.post(t, `{"jsonrpc":"2.0","method":"`+n+`","params":{"name":"x"}}`, s...); g.status != 202 || g.body != "" {
			t.Errorf("%s: %+v", n, g)
		}
	}
}
