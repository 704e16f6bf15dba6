package front

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/require/assert"
)

func TestP9_JSONUnlessSomethingComesFirst(t *testing.T) {
	f := start(t, nil)
	s := f.login(t, "2025-06-18", "{}")
	if g := f.post(t, call("1", "echo", "{}"), s...); g.header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", g)
	}
	for _, name := range []string{"notify", "engine_notify"} {
		body, h := modern("1", "tools/call", `"name":"`+name+`"`, name)
		for era, res := range map[string]*http.Response{
			"legacy": f.open(t, context.Background(), http.MethodPost, call("1", name, "{}"), s...), "modern": f.open(t, context.Background(), http.MethodPost, body, h...),
			"sessionless": f.open(t, context.Background(), http.MethodPost, call("1", name, "{}")),
		} {
			if res.Header.Get("Content-Type") != "text/event-stream" {
				t.Fatalf("%s: %v", era, res.Header)
			}
			ev := eventsOf(res)
			for i := range 20 {
				if e, _ := ev.next(); !strings.Contains(e.data, fmt.Sprintf(`":%d`, i)) || (e.id != "") != (era == "legacy") {
					t.Fatalf("%s %s: notification %d: %+v", era, name, i, e)
				}
			}
			if e, _ := ev.next(); !strings.Contains(e.data, `"id":1,"result"`) {
				t.Errorf("%s: %+v", era, e)
			}
			if _, more := ev.next(); more {
				t.Errorf("%s: something after the result", era)
			}
			_ = res.Body.Close()
		}
	}
	// A client that takes no event streams gets its result all the same, one that takes nothing else gets an event.
	if g := f.post(t, call("1", "engine_notify", "{}"), append(s, "Accept", "application/json")...); g.status != 200 || !strings.Contains(g.body, "done") || g.header.Get("Content-Type") != "application/json" {
		t.Errorf("JSON only: %+v", g)
	}
	if g := f.post(t, call("1", "echo", "{}"), append(s, "Accept", "text/event-stream")...); g.header.Get("Content-Type") != "text/event-stream" || !strings.Contains(g.body, `data: {"jsonrpc":"2.0","id":1,"result"`) {
		t.Errorf("events only: %+v", g)
	}
}

func TestLogLevels(t *testing.T) {
	f := start(t, nil)
	s := f.login(t, "2025-06-18", "{}")
	levels := func(g got) string {
		out := ""
		for _, l := range []string{"debug", "error"} {
			if strings.Contains(g.body, `"level":"`+l+`"`) {
				out += l + " "
			}
		}
		return out
	}
	if g := f.post(t, call("1", "log", "{}"), s...); levels(g) != "error " {
		t.Errorf("default: %+v", g)
	}
	if g := f.post(t, `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`, s...); g.status != 200 {
		t.Errorf("%+v", g)
	}
	if g := f.post(t, call("1", "log", "{}"), s...); levels(g) != "debug error " {
		t.Errorf("debug: %+v", g)
	}
	body, h := modern("1", "tools/call", `"name":"log"`, "log")
	if g := f.post(t, body, h...); levels(g) != "" {
		t.Errorf("modern without a level: %+v", g)
	}
	body = strings.Replace(body, `"_meta":{`, `"_meta":{"io.modelcontextprotocol/logLevel":"error",`, 1)
	if g := f.post(t, body, h...); levels(g) != "error " {
		t.Errorf("modern with one: %+v", g)
	}
}

func TestSamplingOverHTTP(t *testing.T) {
	f := start(t, nil)
	s := f.login(t, "2025-06-18", `{"sampling":{}}`)
	for range 3 {
		res := f.open(t, context.Background(), http.MethodPost, call("7", "ask", "{}"), s...)
		ev := eventsOf(res)
		q, _ := ev.next()
		var id string
		if _, err := fmt.Sscanf(q.data, `{"jsonrpc":"2.0","id":%s`, &id); err != nil || !strings.Contains(q.data, `"method":"sampling/createMessage"`) {
			t.Fatalf("%+v %v", q, err)
		}
		id, _, _ = strings.Cut(id, ",")
		// Another session cannot answer in its place.
		other := f.login(t, "2025-06-18", `{"sampling":{}}`)
		f.post(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{"role":"assistant","model":"thief","content":{"type":"text","text":"I"}}}`, other...)
		if g := f.post(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{"role":"assistant","model":"me","content":{"type":"text","text":"I"}}}`, s...); g.status != 202 || g.body != "" {
			t.Errorf("%+v", g)
		}
		if e, _ := ev.next(); !strings.Contains(e.data, "I by me") {
			t.Errorf("%+v", e)
		}
		_ = res.Body.Close()
	}
	for _, headers := range [][]string{f.login(t, "2025-06-18", `{}`), nil} { // not declared, and no session
		expect(t, f.post(t, call("1", "ask", "{}"), headers...), 200, -32000, "tool_execution", "sampling")
	}
}

func TestInputRequired(t *testing.T) {
	f := start(t, nil)
	body, h := modern("1", "tools/call", `"name":"input"`, "input")
	e := expect(t, f.post(t, body, h...), 400, -32021, "", "roots")
	if _, ok := e.Error.Data["requiredCapabilities"].(map[string]any)["roots"]; !ok {
		t.Errorf("%+v", e)
	}
	able := func(b string) string {
		return strings.Replace(b, `clientCapabilities":{}`, `clientCapabilities":{"roots":{}}`, 1)
	}
	if g := f.post(t, able(body), h...); g.status != 200 || !strings.Contains(g.body, `"resultType":"input_required"`) || !strings.Contains(g.body, `"requestState":"s1"`) {
		t.Errorf("%+v", g)
	}
	body, h = modern("2", "tools/call", `"name":"input","requestState":"s1","inputResponses":{"r":{"roots":[{"uri":"file:///a"}]}}`, "input")
	if g := f.post(t, able(body), h...); !strings.Contains(g.body, "1 roots, state s1") || !strings.Contains(g.body, `"resultType":"complete"`) {
		t.Errorf("%+v", g)
	}
	// In the legacy era the same handler's question is a request to the client.
	s := f.login(t, "2025-11-25", `{"roots":{}}`)
	res := f.open(t, context.Background(), http.MethodPost, call("1", "input", "{}"), s...)
	defer res.Body.Close()
	ev := eventsOf(res)
	q, _ := ev.next()
	if q.data != "" || q.id == "" {
		t.Fatalf("2025-11-25 begins with an event without data: %+v", q)
	}
	if q, _ = ev.next(); !strings.Contains(q.data, `"id":1,"method":"roots/list"`) {
		t.Fatalf("%+v", q)
	}
	f.post(t, `{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`, s...)
	if a, _ := ev.next(); !strings.Contains(a.data, "0 roots") {
		t.Errorf("%+v", a)
	}
}

func TestQ7_LegacyCancel(t *testing.T) {
	f := start(t, nil)
	s, other := f.login(t, "2025-06-18", "{}"), f.login(t, "2025-06-18", "{}")
	res := make(chan got, 1)
	go func() { res <- f.post(t, call(`"x"`, "block", "{}"), s...) }()
	<-f.started
	cancel := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0078"}}` // another spelling of "x"
	for _, h := range [][]string{other, nil} {
		if g := f.post(t, cancel, h...); g.status != 202 {
			t.Errorf("%+v", g)
		}
	}
	select {
	case <-f.ended:
		t.Fatal("a stranger cancelled it")
	case <-res:
		t.Fatal("it ended by itself")
	default:
	}
	f.post(t, cancel, s...)
	assert.ErrorIs(t, <-f.ended, errCancelled)
	if g := <-res; g.status != 200 || g.body != "" {
		t.Errorf("a cancelled request was answered: %+v", g)
	}
}

// A legacy client that disconnects has not cancelled; what it missed waits for it.
func TestLegacyDisconnectAndResume(t *testing.T) {
	f := start(t, nil)
	s := f.login(t, "2025-11-25", "{}")
	ctx, leave := context.WithCancel(context.Background())
	res := f.open(t, ctx, http.MethodPost, call("5", "stubborn", "{}"), s...)
	ev := eventsOf(res)
	prime, _ := ev.next()
	if prime.id == "" || prime.data != "" {
		t.Fatalf("%+v", prime)
	}
	begun, _ := ev.next()
	if !strings.Contains(begun.data, "notifications/begun") {
		t.Fatalf("%+v", begun)
	}
	<-f.started
	leave()
	_ = res.Body.Close()
	close(f.release)
	for _, from := range []string{prime.id, begun.id} {
		get := f.open(t, context.Background(), http.MethodGet, "", append(s, "Accept", "text/event-stream", "Last-Event-ID", from)...)
		var data []string
		for ev := eventsOf(get); ; {
			e, ok := ev.next()
			if !ok {
				break
			}
			data = append(data, e.data)
		}
		_ = get.Body.Close()
		all := strings.Join(data, "\n")
		if strings.Contains(all, "begun") != (from == prime.id) || !strings.Contains(all, "released") || !strings.Contains(data[len(data)-1], `"id":5,"result"`) {
			t.Errorf("after %s: %q", from, data)
		}
	}
	for _, bad := range []string{"x", "99-1", "1-99", "-1", "1--1"} {
		expect(t, f.do(t, http.MethodGet, "", append(s, "Accept", "text/event-stream", "Last-Event-ID", bad)...), 400, -32600, "invalid_request", "Last-Event-ID")
	}
	other := f.login(t, "2025-11-25", "{}")
	expect(t, f.do(t, http.MethodGet, "", append(other, "Accept", "text/event-stream", "Last-Event-ID", begun.id)...), 400, -32600, "", "Last-Event-ID")
}

// The server may end the connection of a request and let the client come back for the rest.
func TestHangup(t *testing.T) {
	f := start(t, nil)
	s := f.login(t, "2025-11-25", "{}")
	res := f.open(t, context.Background(), http.MethodPost, call("5", "hangup", "{}"), s...)
	var seen []sseEvent
	for ev := eventsOf(res); ; {
		e, ok := ev.next()
		if !ok {
			break
		}
		seen = append(seen, e)
	}
	_ = res.Body.Close()
	if len(seen) < 2 || seen[0].id == "" || seen[len(seen)-1].data != "retry 10" {
		t.Fatalf("%+v", seen)
	}
	get := f.open(t, context.Background(), http.MethodGet, "", append(s, "Accept", "text/event-stream", "Last-Event-ID", seen[0].id)...)
	defer get.Body.Close()
	close(f.release)
	if e, _ := eventsOf(get).next(); !strings.Contains(e.data, "hung up: true") {
		t.Errorf("%+v", e)
	}
	body, h := modern("1", "tools/call", `"name":"hangup"`, "hangup")
	if g := f.post(t, body, h...); !strings.Contains(g.body, "hung up: false") {
		t.Errorf("%+v", g)
	}
}

// In the modern era a client that closes the response has cancelled.
func TestQ7_ModernDisconnectCancels(t *testing.T) {
	f := start(t, func(o *Options) { o.Timeouts.Heartbeat = time.Hour }) // which would find it out, too
	ctx, leave := context.WithCancel(context.Background())
	body, h := modern("1", "tools/call", `"name":"block"`, "block")
	go func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url, strings.NewReader(body))
		if err != nil {
			return
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		for i := 0; i < len(h); i += 2 {
			r.Header.Set(h[i], h[i+1])
		}
		if res, err := http.DefaultClient.Do(r); err == nil {
			_ = res.Body.Close()
		}
	}()
	<-f.started
	leave()
	assert.ErrorIs(t, <-f.ended, errClientGone)
}

// Each session has one general stream; the newest connection has it.
func TestSecondGetReplacesTheFirst(t *testing.T) {
	f := start(t, nil)
	s := append(f.login(t, "2025-06-18", "{}"), "Accept", "text/event-stream")
	first := f.open(t, context.Background(), http.MethodGet, "", s...)
	defer first.Body.Close()
	second := f.open(t, context.Background(), http.MethodGet, "", s...)
	defer second.Body.Close()
	if _, more := eventsOf(first).next(); more {
		t.Error("the first connection got something")
	}
	f.Broadcast("notifications/x", nil)
	if e, _ := eventsOf(second).next(); e.data != `{"jsonrpc":"2.0","method":"notifications/x"}` {
		t.Errorf("%+v", e)
	}
}

func TestHeartbeat(t *testing.T) {
	f := start(t, func(o *Options) { o.Timeouts.Heartbeat = time.Millisecond })
	s := append(f.login(t, "2025-06-18", "{}"), "Accept", "text/event-stream")
	get := f.open(t, context.Background(), http.MethodGet, "", s...)
	defer get.Body.Close()
	b := make([]byte, 9)
	for n := 0; n < len(b); {
		m, err := get.Body.Read(b[n:])
		if n += m; err != nil {
			t.Fatal(err)
		}
	}
	assert.Equal(t, string(b), ":\n\n:\n\n:\n\n")
}

// A client that does not read holds nobody for longer than the deadline.
func TestSlowReader(t *testing.T) {
	f := start(t, func(o *Options) { o.Timeouts.Write = 50 * time.Millisecond })
	conn := f.raw(t)
	body, h := modern("1", "tools/call", `"name":"notify","arguments":{"n":200000}`, "notify")
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n", f.host(), len(body))
	for i := 0; i < len(h); i += 2 {
		fmt.Fprintf(conn, "%s: %s\r\n", h[i], h[i+1])
	}
	fmt.Fprintf(conn, "\r\n%s", body)
	wait(t, "the call to begin", func() bool { return f.running.Load() > 0 })
	wait(t, "the call to be given up", func() bool { return f.running.Load() == 0 })
}

func TestModernHeaders(t *testing.T) {
	f := start(t, nil)
	body, h := modern("1", "tools/call", `"name":"echo"`, "echo")
	set := func(name, value string) []string {
		out := append([]string(nil), h...)
		for i := 0; i < len(out); i += 2 {
			if out[i] == name {
				out[i+1] = value
			}
		}
		return out
	}
	for name, headers := range map[string][]string{
		"Mcp-Method": set("Mcp-Method", "tools/list"), "Mcp-Name": set("Mcp-Name", "nope"), "no Mcp-Method": set("Mcp-Method", ""), "no Mcp-Name": set("Mcp-Name", ""),
		"version": set("MCP-Protocol-Version", "2025-11-25"), "no version": set("MCP-Protocol-Version", ""), "Last-Event-ID": append(set("", ""), "Last-Event-ID", "1-1"),
		"two names": append(set("", ""), "Mcp-Name", "echo"),
	} {
		g := f.post(t, body, headers...)
		if e := parseError(t, g); g.status != 400 || e.Error.Code != -32020 {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if n := f.calls.Load(); n > 0 {
		t.Errorf("%d calls ran", n)
	}
	for _, cut := range []string{`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`, `"io.modelcontextprotocol/clientCapabilities":{},`} {
		expect(t, f.post(t, strings.Replace(body, cut, "", 1), h...), 400, -32602, "invalid_params", "_meta")
	}
	future := strings.Replace(body, "2026-07-28", "2027-01-01", 1)
	e := expect(t, f.post(t, future, set("MCP-Protocol-Version", "2027-01-01")...), 400, -32022, "", "")
	if e.Error.Data["requested"] != "2027-01-01" || len(e.Error.Data["supported"].([]any)) != 5 {
		t.Errorf("%+v", e)
	}
	past := strings.Replace(body, "2026-07-28", "1900-01-01", 1)
	expect(t, f.post(t, past, set("MCP-Protocol-Version", "1900-01-01")...), 400, -32022, "", "")
	loud := strings.Replace(body, `"io.modelcontextprotocol/clientCapabilities"`, `"io.modelcontextprotocol/logLevel":"loud","io.modelcontextprotocol/clientCapabilities"`, 1)
	expect(t, f.post(t, loud, h...), 400, -32602, "invalid_params", "logLevel")
	if g := f.post(t, body, append(h, "Mcp-Session-Id", "whatever")...); g.status != 200 || g.header.Get("Mcp-Session-Id") != "" || !strings.Contains(g.body, `"resultType":"complete"`) {
		t.Errorf("a session's id has no meaning: %+v", g)
	}
	expect(t, f.post(t, `{"jsonrpc":"2.0","id":1,"result":{}}`, "MCP-Protocol-Version", "2026-07-28"), 400, -32600, "", "inputResponses")
}
