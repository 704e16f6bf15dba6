package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// stream posts a call and returns the response with its body unread.
func (f *fixture) stream(ctx context.Context, t testing.TB, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, f.URL()+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", accept)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := f.client.Do(req)
	require.NoError(t, err)
	return res
}

func sseHead(w http.ResponseWriter) *http.ResponseController {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	return http.NewResponseController(w)
}

func TestR5_EventsArePassedOnAsTheyCome(t *testing.T) {
	a := newAgent(t)
	next := make(chan string)
	a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
		rc := sseHead(w)
		for part := range next {
			_, _ = io.WriteString(w, part) // the client sees what is missing
			_ = rc.Flush()
		}
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	go func() { next <- ": hello\n\n" }()
	res := f.stream(t.Context(), t, "POST", "/mcps/a/mcp", callEcho)
	defer func() { _ = res.Body.Close() }()
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "X-Accel-Buffering": "no", "Connection": "keep-alive"} {
		if got := res.Header.Get(name); got != want && (name != "Connection" || got != "") { // net/http's client may take Connection away
			t.Errorf("%s: %q", name, got)
		}
	}
	// Each piece is there before the next is written, also one that ends within a character.
	got := make([]byte, 100)
	for _, part := range []string{": hello\n\n", "data: \xf0\x9f", "\x92\xa9\n", "\n", "data: x\r\n\r\n"} {
		if part != ": hello\n\n" {
			next <- part
		}
		n, err := io.ReadFull(res.Body, got[:len(part)])
		if err != nil || string(got[:n]) != part {
			t.Fatalf("%q, %v; want %q", got[:n], err, part)
		}
	}
	close(next)
	if rest, err := io.ReadAll(res.Body); err != nil || len(rest) > 0 {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestR5_ManyStreamsLoseNothing(t *testing.T) {
	a := newAgent(t)
	const streams, events = 200, 500
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		rc := sseHead(w)
		for i := range events {
			_, _ = fmt.Fprintf(w, "data: %s-%d\n\n", e.ID, i) // the client sees what is missing
			if i%25 == 0 {
				_ = rc.Flush()
			}
		}
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	var all sync.WaitGroup
	for s := range streams {
		all.Go(func() {
			res := f.stream(t.Context(), t, "POST", "/mcps/a/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"x"}`, s))
			defer func() { _ = res.Body.Close() }()
			lines := bufio.NewScanner(res.Body)
			n := 0
			for lines.Scan() {
				if lines.Text() == "" {
					continue
				}
				if want := fmt.Sprintf("data: %d-%d", s, n); lines.Text() != want {
					t.Errorf("%q, want %q", lines.Text(), want)
					return
				}
				n++
			}
			if n != events || lines.Err() != nil {
				t.Errorf("stream %d: %d events, %v", s, n, lines.Err())
			}
		})
	}
	all.Wait()
}

func TestR6_BodiesArePassedOnByteForByte(t *testing.T) {
	a := newAgent(t)
	var body []byte
	chunked := false
	a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("X-Inner", "1")
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.WriteHeader(203)
		if chunked {
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = w.Write(body)
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	for _, size := range []int{0, 1, 100, 32 << 10, 32<<10 + 1, 1 << 20, 5 << 20} {
		body = bytes.Repeat([]byte(" {\"a\":1.0e400}\n"), size/15+1)[:size]
		for _, chunked = range []bool{false, true} {
			got := f.post(t, "/mcps/a/mcp", callEcho)
			if got.status != 203 || sha256.Sum256([]byte(got.body)) != sha256.Sum256(body) || got.header.Get("Content-Type") != "application/json; charset=utf-8" {
				t.Errorf("%d bytes: %d, %d bytes, %v", size, got.status, len(got.body), got.header)
			}
			for _, name := range []string{"X-Inner", "Set-Cookie", "Access-Control-Allow-Origin"} {
				if got.header.Get(name) != "" {
					t.Errorf("%s was passed on", name)
				}
			}
		}
	}
}

func TestAnEndlessAnswerIsNotKept(t *testing.T) {
	a := newAgent(t)
	gone := make(chan struct{})
	a.answer = func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
		defer close(gone)
		line := bytes.Repeat([]byte("x"), 64<<10)
		for r.Context().Err() == nil {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	res := f.stream(t.Context(), t, "POST", "/mcps/a/mcp", callEcho)
	var before, after runtime.MemStats
	runtime.GC() // garbage of others is not what is measured
	runtime.ReadMemStats(&before)
	if _, err := io.CopyN(io.Discard, res.Body, 50<<20); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 8<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	_ = res.Body.Close()
	<-gone
}

func TestAClientThatLeavesIsNotServedOn(t *testing.T) {
	a := newAgent(t)
	began, ended := make(chan bool), make(chan time.Time, 1)
	sse := false
	a.answer = func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
		if sse {
			_ = sseHead(w).Flush()
		}
		began <- true
		<-r.Context().Done()
		ended <- time.Now()
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	f.open(t, "/mcps/a/mcp")
	leaves := func() time.Duration {
		ctx, leave := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			req, err := http.NewRequestWithContext(ctx, "POST", f.URL()+"/mcps/a/mcp", strings.NewReader(callEcho))
			if err != nil {
				return
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", accept)
			if res, err := http.DefaultClient.Do(req); err == nil {
				_, _ = io.ReadAll(res.Body) // until the client leaves
				_ = res.Body.Close()
			}
		}()
		<-began
		left := time.Now()
		leave()
		d := (<-ended).Sub(left)
		<-done
		require.Eventually(t, "the call to end", func() bool { return f.Calls("a") == 0 })
		return d
	}
	for _, sse = range []bool{false, true} {
		within(t, 100*time.Millisecond, leaves) // until the agent hears of it
	}
}

func TestAnAgentThatDiesWhileItAnswers(t *testing.T) {
	a := newAgent(t)
	die := func(w http.ResponseWriter) {
		_ = http.NewResponseController(w).Flush()
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.Close()
		}
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
		sseHead(w)
		_, _ = io.WriteString(w, "data: one\n\n")
		die(w)
	}
	res := f.stream(t.Context(), t, "POST", "/mcps/a/mcp", callEcho)
	if b, err := io.ReadAll(res.Body); err != nil || string(b) != "data: one\n\n" {
		t.Errorf("event stream: %q, %v", b, err)
	}
	_ = res.Body.Close()
	for _, size := range []int{10, 100_000} {
		a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(bytes.Repeat([]byte("{"), size))
			die(w)
		}
		req, err := http.NewRequestWithContext(t.Context(), "POST", f.URL()+"/mcps/a/mcp", strings.NewReader(callEcho))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			_ = res.Body.Close()
		}
		if err == nil {
			t.Errorf("half of a JSON text of %d bytes passed for a whole one", size)
		}
	}
}

func TestR15_CallersThatReadNoStreamGetJSON(t *testing.T) {
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, r *http.Request, e jsonrpc.Envelope) {
		if r.Header.Get("Accept") != accept {
			http.Error(w, "both must be accepted", http.StatusNotAcceptable)
			return
		}
		sseHead(w)
		_, _ = fmt.Fprintf(w, ": hello\nid: 1\ndata:\n\ndata: %s\n\nevent: message\ndata: %s\n\n",
			jsonrpc.NewNotification("notifications/progress", nil), jsonrpc.NewResult(e.ID, []byte(`{"big":9007199254740993}`)))
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	for _, headers := range [][]string{{}, {"Accept", "*/*"}, {"Accept", "application/json"}, {"Mcp-Session-Id", id}} {
		got := f.post(t, "/mcps/a/mcp", callEcho, headers...)
		if got.status != 200 || got.body != `{"jsonrpc":"2.0","id":2,"result":{"big":9007199254740993}}` || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%v: %+v", headers, got)
		}
	}
	// An id may be written in other ways, and the caller gets back its own.
	for sent, back := range map[string]string{`"x\u00e9"`: `"xé"`, `1.0`: `1`, `"a\/b"`: `"a/b"`} {
		a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
			sseHead(w)
			_, _ = fmt.Fprintf(w, "data: {\"result\":{\"id\":%s},\"jsonrpc\":\"2.0\",\"id\":%s}\n\n", back, back)
		}
		want := `{"result":{"id":` + back + `},"jsonrpc":"2.0","id":` + sent + `}`
		if got := f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":`+sent+`,"method":"x/y"}`); got.status != 200 || got.body != want {
			t.Errorf("%s: %+v", sent, got)
		}
	}
	// Of what is too large to be kept the answer is told by how it begins, and passes as it comes.
	text := strings.Repeat("0123456789", 50_000)
	for name, c := range map[string]struct{ before, answer, after string }{
		"id first":        {"", `{"jsonrpc":"2.0","id":2,"result":{"text":"` + text + `"}}`, ""},
		"id last":         {"", `{"result":{"text":"` + text + `"},"jsonrpc":"2.0","id":2}`, ""},
		"an error":        {"", ` { "jsonrpc" : "2.0" , "error" : {"code":1,"message":"` + text + `"},"id":2}`, ""},
		"a notification":  {`{"jsonrpc":"2.0","method":"notifications/message","params":{"result":"` + text + `"}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`, ""},
		"params first":    {`{"params":{"result":"` + text + `"},"jsonrpc":"2.0","method":"notifications/message"}`, `{"jsonrpc":"2.0","id":2,"result":{}}`, ""},
		"another request": {`{"jsonrpc":"2.0","id":3,"result":{"text":"` + text + `"}}`, `{"jsonrpc":"2.0","id":2,"result":{}}`, ""},
		"more after it":   {"", `{"jsonrpc":"2.0","id":2,"result":{"text":"` + text + `"}}`, "data: more\n\n"},
	} {
		a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
			sseHead(w)
			if c.before != "" {
				_, _ = io.WriteString(w, "data: "+c.before+"\n\n")
			}
			_, _ = io.WriteString(w, "data: "+c.answer+"\n\n"+c.after)
		}
		if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 200 || got.body != strings.TrimSpace(c.answer) && got.body != c.answer || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d, %d bytes of %d, %.200s", name, got.status, len(got.body), len(c.answer), got.body)
		}
	}
	a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
		sseHead(w)
		_, _ = io.WriteString(w, `data: {"jsonrpc":"2.0","id":2,"result":{"text":"`+text)
	}
	if res, err := http.Post(f.URL()+"/mcps/a/mcp", "application/json", strings.NewReader(callEcho)); err == nil {
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err == nil && res.StatusCode == 200 {
			t.Errorf("half of an answer passed for a whole one of %d bytes", len(got))
		}
	}
	a.answer = func(w http.ResponseWriter, _ *http.Request, _ jsonrpc.Envelope) {
		sseHead(w)
		_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n\n")
	}
	if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 502 || got.rpcError(t).Error.Code != -32603 || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v", got)
	}
}

// A caller that reads no stream cannot see that one began: an agent that falls silent in it did not answer.
func TestE14_AnAgentThatHangsInAnEventStream(t *testing.T) {
	synctest.Test(t, hangsInAnEventStream)
}

func hangsInAnEventStream(t *testing.T) {
	a := &agent{sessions: map[string]bool{}}
	f := inMemory(t, a, "5s")
	a.answer = func(w http.ResponseWriter, r *http.Request, e jsonrpc.Envelope) {
		w.Header().Set("Content-Encoding", "identity")
		rc := sseHead(w)
		for range 3 { // alive for longer than the timeout
			_, _ = io.WriteString(w, ":\n\n") // who reads sees what is missing
			_ = rc.Flush()
			time.Sleep(4900 * time.Millisecond)
		}
		if e.Method == "x/hang" {
			<-r.Context().Done()
			return
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", jsonrpc.NewResult(e.ID, []byte("{}")))
	}
	if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 200 || got.body != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("%+v", got)
	}
	began := time.Now()
	got := f.post(t, "/mcps/a/mcp", `{"jsonrpc":"2.0","id":2,"method":"x/hang"}`)
	got.check(t, 504, -32003, "Agent 'a' did not answer within 5s")
	if d := time.Since(began); d != 2*4900*time.Millisecond+5*time.Second { // after the last that it said
		t.Errorf("it took %v", d)
	}
	if string(got.rpcError(t).ID) != "2" || got.header.Get("Content-Encoding") != "" { // which was of what is not passed on
		t.Errorf("%+v", got)
	}
}

// Between two parts of an answer an agent has its time anew, however short the parts are.
func TestE14_R6_AnAnswerThatComesInSmallPieces(t *testing.T) {
	synctest.Test(t, comesInSmallPieces)
}

func comesInSmallPieces(t *testing.T) {
	a := &agent{sessions: map[string]bool{}}
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		w.Header().Set("Content-Type", "application/json")
		for range 110 {
			_, _ = io.WriteString(w, " ") // who reads sees what is missing
			_ = http.NewResponseController(w).Flush()
			time.Sleep(4900 * time.Millisecond)
		}
		_, _ = w.Write(jsonrpc.NewResult(e.ID, nil))
	}
	f := inMemory(t, a, "5s")
	if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 200 || strings.TrimLeft(got.body, " ") != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("%+v", got)
	}
}

func TestC4_InitializeAsAnEventStream(t *testing.T) {
	a := newAgent(t)
	a.opens = func(w http.ResponseWriter, id []byte) {
		sseHead(w)
		result := strings.Replace(initResult, `,"serverInfo"`, ",\ndata: \"serverInfo\"", 1)
		_, _ = fmt.Fprintf(w, "retry: 5\n\nid: 0\ndata:\n\nevent: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n: after\n\n", id, result)
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	got := f.post(t, "/mcps/a/mcp", initialize, "Accept", accept)
	result := strings.Replace(strings.Replace(initResult, `"inner"`, `"mcphud-router-proxy:a"`, 1), `,"serverInfo"`, ",\ndata: \"serverInfo\"", 1)
	want := "retry: 5\n\nid: 0\ndata:\n\nevent: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":" + result + "}\n\n: after\n\n"
	if got.status != 200 || got.body != want || len(got.header.Get("Mcp-Session-Id")) != 36 || got.header.Get("Mcp-Protocol-Version") != "2025-06-18" {
		t.Errorf("%+v\nwant %q", got, want)
	}
	if got := f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", got.header.Get("Mcp-Session-Id")); got.status != 200 {
		t.Errorf("%+v", got)
	}
}

// A stream of a route that is gone, or leads elsewhere, must not go on for ever.
func TestC11_StreamsEndWithTheirRoute(t *testing.T) {
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
		rc := sseHead(w)
		_, _ = io.WriteString(w, "data: hello\n\n")
		_ = rc.Flush()
		<-r.Context().Done()
	}
	both := []string{route("a", a.at(), `"stream":true`), route("b", a.at(), `"stream":true`)}
	f := start(t, Options{}, both...)
	open := func(agent string) *bufio.Reader {
		t.Helper()
		res := f.stream(t.Context(), t, "GET", "/mcps/"+agent+"/mcp", "", "Mcp-Session-Id", f.open(t, "/mcps/"+agent+"/mcp"))
		t.Cleanup(func() { _ = res.Body.Close() })
		r := bufio.NewReader(res.Body)
		if line, err := r.ReadString('\n'); err != nil || line != "data: hello\n" {
			t.Fatalf("%d %q %v", res.StatusCode, line, err)
		}
		return r
	}
	stays, goes := open("a"), open("b")
	f.write(t, table(both[0]))
	require.NoError(t, f.Reload())
	if rest, err := io.ReadAll(goes); err != nil || string(rest) != "\n" {
		t.Errorf("%q %v", rest, err)
	}
	assert.Equalf(t, f.Calls("a"), 1, "calls of the route that stayed")
	f.write(t, table(route("a", a.at(), "")))
	require.NoError(t, f.Reload())
	if _, err := io.ReadAll(stays); err != nil {
		t.Error(err)
	}
}

func TestE16_GETIsForwardedWhereTheRouteSaysSo(t *testing.T) {
	a := newAgent(t)
	left := make(chan struct{})
	a.answer = func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
		rc := sseHead(w)
		_, _ = fmt.Fprintf(w, "data: %s after %q\n\n", r.Header.Get("Mcp-Session-Id"), r.Header.Get("Last-Event-Id"))
		_ = rc.Flush()
		<-r.Context().Done()
		close(left)
	}
	f := start(t, Options{}, route("a", a.at(), `"stream":true`))
	f.send(t, "GET", "/mcps/a/mcp", "", "Accept", "text/event-stream").check(t, 400, -32000, noSession)
	f.send(t, "GET", "/mcps/a/mcp", "", "Mcp-Session-Id", "nobody").check(t, 404, -32000, noSession)
	id := f.open(t, "/mcps/a/mcp")
	res := f.stream(t.Context(), t, "GET", "/mcps/a/mcp", "", "Mcp-Session-Id", id, "Last-Event-Id", "7-1")
	defer func() { _ = res.Body.Close() }()
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	if err != nil || line != "data: up-1 after \"7-1\"\n" || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%q, %v", line, err)
	}
	// A stream without an end does not keep the router from leaving.
	began := time.Now()
	if err := f.Close(t.Context()); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if d := time.Since(began); d > 9*time.Second { // less than calls get
		t.Errorf("closing took %v", d)
	}
	<-left
}

// Until an agent has introduced itself its event stream has told the client nothing, so that its time counts.
func TestE14_AnAgentThatHangsInItsIntroduction(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	stop := make(chan struct{})
	a.opens = func(w http.ResponseWriter, _ []byte) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ": soon\n\n")
		_ = http.NewResponseController(w).Flush()
		<-stop
	}
	t.Cleanup(func() { close(stop) })
	f := start(t, Options{}, route("a", a.at(), `"timeout":"200ms"`))
	for _, takes := range []string{accept, "application/json"} {
		f.post(t, "/mcps/a/mcp", initialize, "Accept", takes).check(t, 504, -32003, "Agent 'a' did not answer within 200ms")
	}
}

// RFC 9110 section 8.3.1: the letter case of a type does not matter.
func TestR15_R5_AnEventStreamInOtherLetters(t *testing.T) {
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, _ *http.Request, e jsonrpc.Envelope) {
		w.Header().Set("Content-Type", "Text/Event-Stream; charset=utf-8")
		_, _ = fmt.Fprintf(w, "data: %s\n\n", jsonrpc.NewResult(e.ID, nil))
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	if got := f.post(t, "/mcps/a/mcp", callEcho); got.header.Get("Content-Type") != "application/json" || got.body != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("%+v", got)
	}
	if got := f.post(t, "/mcps/a/mcp", callEcho, "Accept", accept); got.header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("%+v", got)
	}
}
