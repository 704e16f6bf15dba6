package faketest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/serve/fault"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/faketest/behave"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// list is a tools/list result, or an error.
type list struct {
	Result struct {
		Tools      []json.RawMessage
		NextCursor *string
	}
	Error *struct {
		Code int
		Data json.RawMessage
	}
}

func open(t *testing.T, mode behave.Mode) *Raw {
	t.Helper()
	r := Open(t, Stdio(t, mode))
	r.Handshake()
	return r
}

func tools(t *testing.T, frame []byte) list {
	t.Helper()
	var l list
	if err := json.Unmarshal(frame, &l); err != nil {
		t.Fatalf("tools/list: %v in %.200s", err, frame)
	}
	return l
}

func TestLists(t *testing.T) {
	sizes := map[behave.Mode]int{
		behave.Good: 20, behave.ManyTools: 5000, behave.DeepSchema: 3, behave.Pages: 10, behave.RepeatCursor: 10,
		behave.EndlessCursor: 10, behave.HostileText: len(fault.PayloadTexts(4096)), behave.Malformed: 23, behave.Changing: 1,
		behave.Liar: 20, behave.Bare: 20, behave.ExitDiscover: 20, behave.NoDiscover: 20, behave.FloodStderr: 20,
	}
	for mode, want := range sizes {
		t.Run(string(mode), func(t *testing.T) {
			r := open(t, mode)
			frame := r.Request(1, "tools/list", "{}")
			if got := len(tools(t, frame).Result.Tools); got != want {
				t.Errorf("%d tools, want %d", got, want)
			}
			if mode == behave.ManyTools && (len(frame) < 6_690_000 || len(frame) > 6_710_000) {
				t.Errorf("the list has %d bytes, want 6.7 MB", len(frame))
			}
			if _, code := r.Close(); code != 0 {
				t.Errorf("exit code %d after the end of stdin", code)
			}
			if mode == behave.FloodStderr && r.Stderr.Len() != 10_000_000 {
				t.Errorf("%d bytes on stderr", r.Stderr.Len())
			}
		})
	}
}

func TestPaging(t *testing.T) {
	r := open(t, behave.Pages)
	seen, params, pages := 0, "{}", 0
	for {
		l := tools(t, r.Request(pages, "tools/list", params))
		seen, pages = seen+len(l.Result.Tools), pages+1
		if l.Result.NextCursor == nil {
			break
		}
		params = fmt.Sprintf(`{"cursor":%q}`, *l.Result.NextCursor)
	}
	if seen != 100 || pages != 10 {
		t.Errorf("%d tools on %d pages", seen, pages)
	}
	for mode, differ := range map[behave.Mode]bool{behave.RepeatCursor: false, behave.EndlessCursor: true} {
		r := open(t, mode)
		first := tools(t, r.Request(1, "tools/list", "{}")).Result.NextCursor
		second := tools(t, r.Request(2, "tools/list", fmt.Sprintf(`{"cursor":%q}`, *first))).Result.NextCursor
		if (*first != *second) != differ {
			t.Errorf("%s: cursors %q then %q", mode, *first, *second)
		}
	}
}

func TestChangingList(t *testing.T) {
	r := open(t, behave.Changing)
	r.Request(1, "tools/list", "{}")
	r.Request(2, "tools/call", `{"name":"n0"}`)
	r.Until("notifications/tools/list_changed")
	assert.Equalf(t, len(tools(t, r.Request(3, "tools/list", "{}")).Result.Tools), 2, "tools in the second list")
}

func TestStart(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
	for mode, want := range map[behave.Mode]int{behave.ExitAtOnce: 3, behave.ExitInitialize: 4, behave.NoAnswer: 0} {
		r := Open(t, Stdio(t, mode))
		_, _ = io.WriteString(r.in, hello+"\n") // the server may be gone already
		rest, code := r.Close()
		if code != want || len(rest) > 0 {
			t.Errorf("%s: exit code %d, stdout %q", mode, code, rest)
		}
		if (mode != behave.NoAnswer) != strings.Contains(r.Stderr.String(), "fakemcp: ") {
			t.Errorf("%s: stderr %q", mode, r.Stderr.String())
		}
	}
	r := Open(t, Stdio(t, behave.ExitDiscover))
	r.Send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}`)
	if _, code := r.Close(); code != 5 {
		t.Errorf("exit-discover: exit code %d", code)
	}
	r = Open(t, Stdio(t, behave.Modern))
	if f := r.Request(1, "server/discover", "{}"); !bytes.Contains(f, []byte(`"supportedVersions":["2026-07-28"]`)) {
		t.Errorf("modern discover: %s", f)
	}
	if f := r.Request(2, "initialize", "{}"); !bytes.Contains(f, []byte(`-32022`)) {
		t.Errorf("modern initialize: %s", f)
	}
}

func TestBrokenFrames(t *testing.T) {
	list := `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`
	r := open(t, behave.HalfFrameExit)
	r.Send(list)
	if rest, code := r.Close(); code != 2 || len(rest) == 0 || bytes.ContainsRune(rest, '\n') || json.Valid(rest) {
		t.Errorf("half frame: exit code %d, %d bytes", code, len(rest))
	}
	r = open(t, behave.Oversize)
	r.Send(list)
	if n, err := r.Skip(); n != 64<<20+2 || err != nil {
		t.Errorf("oversize: %d bytes with the newline, %v", n, err)
	}
	if f := open(t, behave.BadUTF8).Request(1, "tools/list", "{}"); utf8.Valid(f) {
		t.Error("bad-utf8: the frame is valid UTF-8")
	}
	r = open(t, behave.WrongID)
	r.Send(list)
	if line, _ := r.Line(); !bytes.Contains(line, []byte(`"id":"foreign"`)) {
		t.Errorf("wrong id: %.100s", line)
	}
	r = open(t, behave.Duplicate)
	if a, b := r.Request(1, "tools/list", "{}"), r.Until(`"id":1,`); !bytes.Equal(a, b) {
		t.Error("duplicate: the answers differ")
	}
	r = open(t, behave.Noise)
	r.Send(list)
	if line, _ := r.Line(); json.Valid(line) {
		t.Errorf("noise: first line is %s", line)
	}
	r.Until(`"id":7,`)
}

func TestCalls(t *testing.T) {
	r := open(t, behave.Good)
	call := func(id int, name, args string) []byte {
		return r.Request(id, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s,"_meta":{"progressToken":%d}}`, name, args, id))
	}
	for name, want := range map[string]string{
		"echo": `{\"a\":1,\"ms\":1}`, "is_error": `"isError":true`, "rpc_error": `"big":9007199254740993`, "kinds": `"hologram"`,
		"noise": "after the noise", "sleep": "slept", "hostile": `\u001b`, "no such tool": "Unknown tool",
	} {
		if f := call(1, name, `{"a":1,"ms":1}`); !bytes.Contains(f, []byte(want)) || !json.Valid(f) {
			t.Errorf("%s: %.300s", name, f)
		}
	}
	if f := call(2, "add", `{"a":1.5,"b":2}`); !bytes.Contains(f, []byte(`"sum":3.5`)) {
		t.Errorf("add: %s", f)
	}
	r.Send(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"progress","arguments":{"count":1000},"_meta":{"progressToken":"p"}}}`)
	n := 0
	for {
		line, err := r.Line()
		require.NoError(t, err)
		if !bytes.Contains(line, []byte("notifications/progress")) {
			break
		}
		n++
	}
	assert.Equalf(t, n, 1000, "progress notifications")
	r.Send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"late"}}`)
	r.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
	r.Until(`"id":4,`)
	if f := call(5, "cancelled", "{}"); !bytes.Contains(f, []byte(`"[4]"`)) {
		t.Errorf("cancelled: %s", f)
	}
	r.Send(`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"crash"}}`)
	if _, code := r.Close(); code != 2 {
		t.Errorf("crash: exit code %d", code)
	}
}

func TestBigText(t *testing.T) {
	r := open(t, behave.Big)
	var reply struct {
		Result struct{ Content []struct{ Text string } }
	}
	require.NoError(t, json.Unmarshal(r.Request(1, "tools/call", `{"name":"big"}`), &reply))
	s := reply.Result.Content[0].Text
	if len(s) != 50_000_000 || strings.Count(s, "\n") != 500_000 {
		t.Errorf("%d bytes in %d lines", len(s), strings.Count(s, "\n"))
	}
}

// Only budgets need that server, and it takes long to build.
func TestBareServer(t *testing.T) {
	if !budget.All() {
		t.Skip("set " + budget.TestsEnv + "=all for it")
	}
	r := Open(t, Bare(t))
	r.Handshake()
	frame := r.Request(1, "tools/list", "{}")
	if n := len(tools(t, frame).Result.Tools); n != 5000 || len(frame) < 6_600_000 || len(frame) > 6_800_000 {
		t.Errorf("%d tools in %d bytes, want 5000 in 6.7 MB", n, len(frame))
	}
	if n := len(r.Request(2, "tools/call", `{"name":"big"}`)); n < 50_000_000 {
		t.Errorf("big has %d bytes", n)
	}
}

func TestFork(t *testing.T) {
	r := open(t, behave.Fork)
	var reply struct {
		Result struct {
			StructuredContent struct{ Server, Child int }
		}
	}
	require.NoError(t, json.Unmarshal(r.Request(1, "tools/call", `{"name":"pids"}`), &reply))
	pids := reply.Result.StructuredContent
	if pids.Server != r.PID || pids.Child == 0 {
		t.Errorf("pids %+v, started %d", pids, r.PID)
	}
	if !Alive(pids.Child) {
		t.Error("the child is not running")
	}
	EndProcess(t, pids.Child)
	require.Eventually(t, "the killed child to count as dead", func() bool { return !Alive(pids.Child) })
}

func TestHTTPFaults(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	post := func(s config.Server, frame string) (*http.Response, string, error) {
		client := http.Client{Timeout: 30 * time.Second}
		defer client.CloseIdleConnections()
		resp, err := client.Post(s.URL, "application/json", strings.NewReader(frame))
		if err != nil {
			return nil, "", err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		return resp, string(body), err
	}
	cases := []struct {
		fault behave.Fault
		want  string // status and start of the body, or "error"
	}{
		{behave.Fault{}, "200 event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"},
		{behave.Fault{JSON: true}, `200 {"jsonrpc":"2.0","id":1,"result":{}}`},
		{behave.Fault{Status: 503, Body: "busy"}, "503 busy"},
		{behave.Fault{Slow: time.Microsecond}, "200 event: message\ndata: {\"jsonrpc\""},
		{behave.Fault{HalfEvent: true}, "200 event: message\ndata: {\"json"},
		{behave.Fault{HTML: true}, "200 <!doctype html>"},
		{behave.Fault{Redirect: true}, "error"},
	}
	for _, c := range cases {
		resp, body, err := post(HTTP(t, behave.Good, c.fault), ping)
		got := "error"
		if err == nil {
			got = fmt.Sprintf("%d %s", resp.StatusCode, body)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %.200s", c.fault, got)
		}
	}
	s := HTTP(t, behave.Good, behave.Fault{Status: 404, After: 1, Times: 1})
	var codes []int
	for range 3 {
		resp, _, err := post(s, ping)
		require.NoError(t, err)
		codes = append(codes, resp.StatusCode)
	}
	if fmt.Sprint(codes) != "[200 404 200]" {
		t.Errorf("statuses %v", codes)
	}
	if _, _, err := post(HTTP(t, behave.Good, behave.Fault{}), `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"crash"}}`); err == nil {
		t.Error("crash: the connection was not dropped")
	}
	if _, _, err := post(TLS(t), ping); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("TLS: %v", err)
	}
}

func TestSSE(t *testing.T) {
	s := SSE(t, behave.Good, behave.Fault{})
	client := http.Client{Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	resp, err := client.Get(s.URL)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	read := func() string {
		buf := make([]byte, 4096)
		n, err := resp.Body.Read(buf)
		require.NoError(t, err)
		return string(buf[:n])
	}
	endpoint, ok := strings.CutPrefix(read(), "event: endpoint\ndata: ")
	if !ok {
		t.Fatal("no endpoint event")
	}
	reply, err := client.Post(strings.TrimSuffix(s.URL, "/sse")+strings.TrimSpace(endpoint), "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	require.NoError(t, err)
	_ = reply.Body.Close()
	if got := read(); reply.StatusCode != 202 || !strings.Contains(got, `"id":1,"result":{}`) {
		t.Errorf("POST %d, stream %q", reply.StatusCode, got)
	}
}
