//go:build unix

package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/serve/ingress"
	"github.com/mcphud/mcphud/session/test/faketest"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
	"github.com/mcphud/mcphud/session/wire/transport"
)

const both = "application/json, text/event-stream"

func bridge(t *testing.T, mode string, change func(*Options)) *Bridge {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	o := Options{Name: "s", Command: exe, Env: map[string]string{serverMode: mode}, Leave: transport.GracePeriod{Input: time.Second}}
	if change != nil {
		change(&o)
	}
	b := New(o)
	t.Cleanup(func() {
		st := b.Status()
		assert.NoError(t, b.Close())
		for _, p := range st.Processes {
			if faketest.Alive(p.PID) {
				t.Errorf("process %d outlives the bridge", p.PID)
			}
		}
	})
	return b
}

func shared(o *Options) { o.Shared = true }

func request(ctx context.Context, method, id, body, accept string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1/mcp", strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Accept", accept)
	if id != "" {
		r.Header.Set(ingress.HeaderSession, id)
	}
	if strings.Contains(body, "2026-07-28") {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	}
	return r
}

// send makes a request and reads its answer.
func send(t *testing.T, b *Bridge, id, body, accept string) (*http.Response, string) {
	t.Helper()
	res, err := b.RoundTrip(request(t.Context(), http.MethodPost, id, body, accept))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	_ = res.Body.Close()
	return res, string(text)
}

func open(t *testing.T, b *Bridge, caps string) string {
	t.Helper()
	res, text := send(t, b, "", `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":`+caps+`,"clientInfo":{"name":"t","version":"1"}}}`, both)
	id := res.Header.Get(ingress.HeaderSession)
	if res.StatusCode != 200 || id == "" || !strings.Contains(text, `"id":"i"`) || !strings.Contains(text, `"protocolVersion":"2025-11-25"`) {
		t.Fatalf("initialize: %d %s", res.StatusCode, text)
	}
	send(t, b, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, both)
	return id
}

func call(id, tool, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
}

func textOf(t *testing.T, body string) string {
	t.Helper()
	var m struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil || len(m.Result.Content) == 0 {
		t.Fatalf("%.300s: %v", body, err)
	}
	return m.Result.Content[0].Text
}

// Ids and what else a caller sent come back with their own bytes; text that is spread over lines arrives in one.
func TestR3_CommandRoute(t *testing.T) {
	for name, change := range map[string]func(*Options){"per-session": nil, "shared": shared} {
		t.Run(name, func(t *testing.T) {
			b := bridge(t, "legacy", change)
			assert.Equalf(t, len(b.Status().Processes), 0, "a process before the first request")
			id := open(t, b, "{}")
			for _, rid := range []string{"9007199254740993", `"é"`, `"\u00e9"`, "0", "-1.50", `"a"`} {
				res, body := send(t, b, id, "\n{\"jsonrpc\":\"2.0\",\r\n \"method\":\"tools/call\",\n\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"x\"}},\"id\":"+rid+"}", both)
				if res.StatusCode != 200 || res.Header.Get("Content-Type") != ingress.TypeJSON || !strings.Contains(body, `"id":`+rid+`,`) || textOf(t, body) != "x" {
					t.Errorf("%s: %d %s", rid, res.StatusCode, body)
				}
			}
			if _, body := send(t, b, id, call("1", "nope", "{}"), both); body != `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Tool 'nope' not found"}}` {
				t.Error(body)
			}
			if _, body := send(t, b, id, call("2", "big", "{}"), both); len(textOf(t, body)) != 3<<20 {
				t.Error("the large answer is cut")
			}
			if _, body := send(t, b, id, call("3", "noise", "{}"), both); body != "{\"jsonrpc\":\"2.0\",\r\"id\":3,\r\"result\":{\"content\":[]}}" {
				t.Errorf("after noise on stdout: %q", body)
			}
			if res, _ := send(t, b, "ghost", call("4", "echo", "{}"), both); res.StatusCode != 404 {
				t.Errorf("an unknown session: %d", res.StatusCode)
			}
			if res, _ := send(t, b, "", call("4", "echo", "{}"), both); res.StatusCode != 400 {
				t.Errorf("no session: %d", res.StatusCode)
			}
			del, err := b.RoundTrip(request(t.Context(), http.MethodDelete, id, "", ""))
			if err != nil || del.StatusCode != 204 {
				t.Fatal(del, err)
			}
			if res, _ := send(t, b, id, call("5", "echo", "{}"), both); res.StatusCode != 404 {
				t.Errorf("an ended session: %d", res.StatusCode)
			}
		})
	}
}

// One process for each session, which ends with it and takes what it forked along; or one for all.
func TestR3_ProcessesBySessionMode(t *testing.T) {
	b := bridge(t, "legacy", nil)
	one, two := open(t, b, "{}"), open(t, b, "{}")
	pids := map[string]bool{}
	var first int
	for _, id := range []string{one, two, one} {
		_, body := send(t, b, id, call("1", "pid", "{}"), both)
		pids[textOf(t, body)] = true
		if first == 0 {
			first, _ = strconv.Atoi(textOf(t, body))
		}
	}
	_, body := send(t, b, one, call("1", "fork", "{}"), both)
	grandchild, _ := strconv.Atoi(textOf(t, body))
	if st := b.Status(); len(pids) != 2 || len(st.Processes) != 2 || st.Sessions != 2 || st.Mode != "per-session" {
		t.Fatalf("%v %+v", pids, st)
	}
	if _, err := b.RoundTrip(request(t.Context(), http.MethodDelete, one, "", "")); err != nil {
		t.Fatal(err)
	}
	require.Eventually(t, "both processes of the session to end", func() bool {
		return !faketest.Alive(first) && !faketest.Alive(grandchild) && len(b.Status().Processes) == 1
	})
	if _, body := send(t, b, two, call("1", "echo", `{"text":"still"}`), both); textOf(t, body) != "still" {
		t.Error(body)
	}

	b = bridge(t, "legacy", shared)
	one, two = open(t, b, "{}"), open(t, b, "{}")
	pids = map[string]bool{}
	for _, id := range []string{one, two} {
		_, body := send(t, b, id, call("1", "pid", "{}"), both)
		pids[textOf(t, body)] = true
	}
	_, body = send(t, b, two, call("1", "seen", "{}"), both)
	if len(pids) != 1 || strings.Count(textOf(t, body), "initialize ") != 1 || strings.Count(textOf(t, body), "notifications/initialized") != 1 {
		t.Errorf("%v %s", pids, body)
	}
}

// 64 clients that all use the same id and progress token at once each get their own answer and progress.
func TestR3_SharedSameID(t *testing.T) {
	b := bridge(t, "", func(o *Options) { o.Shared = true; o.Env = map[string]string{serverMode: "both"} })
	var wg sync.WaitGroup
	for i := range 64 {
		modern := i%2 == 0
		id := ""
		if !modern {
			id = open(t, b, "{}")
		}
		wg.Go(func() {
			for k := range 10 {
				mark := fmt.Sprintf("client %d call %d", i, k)
				meta := `"progressToken":"t"`
				if modern {
					meta += `,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
				}
				tool := []string{"echo", "progress"}[k%2]
				body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":{"text":%q},"_meta":{%s}}}`, tool, mark, meta)
				res, err := b.RoundTrip(request(t.Context(), http.MethodPost, id, body, both))
				if err != nil {
					t.Error(err)
					return
				}
				text, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if err != nil || strings.Count(string(text), mark) != 1+5*(k%2) || strings.Count(string(text), "client ") != 1+5*(k%2) || !strings.Contains(string(text), `"id":1,`) ||
					strings.Count(string(text), `"progressToken":"t"`) != 5*(k%2) {
					t.Errorf("%s: %s %v", mark, text, err)
				}
			}
		})
	}
	wg.Wait()
	if st := b.Status(); len(st.Processes) != 2 || st.Processes[0].Inflight+st.Processes[1].Inflight != 0 {
		t.Errorf("%+v", st)
	}
}

// next reads one event of a stream.
func next(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ends: %v", err)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(data)
		}
	}
}

// A process's own requests go to the session that caused them, and its answer to nobody else's question counts.
func TestR3_ServerRequestsReachTheirClient(t *testing.T) {
	for name, change := range map[string]func(*Options){"per-session": nil, "shared": shared} {
		t.Run(name, func(t *testing.T) {
			b := bridge(t, "legacy", change)
			other := open(t, b, `{"sampling":{}}`)
			id := open(t, b, `{"sampling":{}}`)
			res, err := b.RoundTrip(request(t.Context(), http.MethodPost, id, call("5", "ask", `{"text":"you said"}`), both))
			require.NoError(t, err)
			events := bufio.NewReader(res.Body)
			q := next(t, events)
			if !strings.Contains(q, "sampling/createMessage") {
				t.Fatal(q)
			}
			var ask wire
			require.NoError(t, json.Unmarshal([]byte(q), &ask))
			forged := `{"jsonrpc":"2.0","id":` + string(ask.ID) + `,"result":{"forged":true}}`
			if res, _ := send(t, b, other, forged, both); res.StatusCode != 202 {
				t.Error(res.StatusCode)
			}
			send(t, b, id, `{"jsonrpc":"2.0","id":`+string(ask.ID)+`,"result":{"mine":true}}`, both)
			if got := next(t, events); textOf(t, got) != `you said {"mine":true}` || !strings.Contains(got, `"id":5,`) {
				t.Error(got)
			}
			if _, err := events.ReadString('\n'); err != nil { // the blank line
				t.Error(err)
			}
			if _, err := events.ReadByte(); err != io.EOF {
				t.Errorf("after the answer: %v", err)
			}
			_ = res.Body.Close()
		})
	}
	t.Run("refused", func(t *testing.T) {
		b := bridge(t, "legacy", shared)
		id := open(t, b, `{}`)
		if _, body := send(t, b, id, call("5", "ask", `{"text":"no"}`), both); !strings.Contains(textOf(t, body), "-32601") {
			t.Error(body) // a client that cannot answer is not asked, and the server is told at once
		}
	})
}

// A session that follows resources is remembered with them, but not at any length.
func TestR3_WhatASessionFollowsIsShort(t *testing.T) {
	b := bridge(t, "legacy", shared)
	id := open(t, b, "{}")
	for n, want := range map[int]string{8 << 10: `"result"`, 8<<10 + 1: `"code":-32602`} {
		uri := "a://" + strings.Repeat("b", n-len("a://"))
		if _, body := send(t, b, id, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"`+uri+`"}}`, both); !strings.Contains(body, want) {
			t.Errorf("%d bytes: %.200s", n, body)
		}
	}
}

// What the server says unasked reaches every session that listens; what is about a resource those that follow it.
func TestR3_SharedNotificationsFanOut(t *testing.T) {
	b := bridge(t, "legacy", shared)
	ids := []string{open(t, b, "{}"), open(t, b, "{}"), open(t, b, "{}")}
	for _, id := range ids[:2] {
		send(t, b, id, `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a://b"}}`, both)
	}
	send(t, b, ids[1], `{"jsonrpc":"2.0","id":1,"method":"resources/unsubscribe","params":{"uri":"a://b"}}`, both)
	var streams []*bufio.Reader
	for _, id := range ids {
		res, err := b.RoundTrip(request(t.Context(), http.MethodGet, id, "", "text/event-stream"))
		if err != nil || res.StatusCode != 200 {
			t.Fatal(res, err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		streams = append(streams, bufio.NewReader(res.Body))
	}
	for range 2 {
		send(t, b, ids[2], call("1", "changed", `{"uri":"a://b"}`), ingress.TypeJSON)
	}
	for i, s := range streams {
		want := []string{"list_changed", "resources/updated", "list_changed", "resources/updated"}
		if i > 0 {
			want = []string{"list_changed", "list_changed"}
		}
		for _, w := range want {
			if got := next(t, s); !strings.Contains(got, w) {
				t.Errorf("stream %d: %s, want %s", i, got, w)
			}
		}
	}
	_, body := send(t, b, ids[0], call("1", "seen", "{}"), both)
	assert.NotContains(t, textOf(t, body), "unsubscribe")
	if _, err := b.RoundTrip(request(t.Context(), http.MethodDelete, ids[0], "", "")); err != nil {
		t.Fatal(err)
	}
	require.Eventually(t, "the server to be unsubscribed", func() bool {
		_, body := send(t, b, ids[1], call("1", "seen", "{}"), both)
		return strings.Contains(textOf(t, body), "unsubscribe")
	})
}

const discover = `{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`

// Servers get frames of the era that they know, found out once.
func TestR3_Eras(t *testing.T) {
	for mode, want := range map[string]struct {
		discover, initialize int
		both                 bool
	}{"both": {200, 200, true}, "modern": {200, 200, false}, "legacy": {400, 200, true}, "exit-discover": {400, 200, true}} {
		t.Run(mode, func(t *testing.T) {
			b := bridge(t, mode, nil)
			for range 2 {
				res, body := send(t, b, "", discover, both)
				if res.StatusCode != want.discover || !strings.Contains(body, `"id":"d"`) {
					t.Errorf("discover: %d %s", res.StatusCode, body)
				}
			}
			if st := b.Status(); st.Starts != 1 {
				t.Errorf("%+v", st)
			}
			if want.both {
				id := open(t, b, "{}")
				if _, body := send(t, b, id, call("3", "echo", `{"text":"x"}`), both); textOf(t, body) != "x" {
					t.Error(body)
				}
				return
			}
			res, body := send(t, b, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, both)
			if res.Header.Get(ingress.HeaderSession) != "" || !strings.Contains(body, "no initialize here") {
				t.Error(body)
			}
			require.Eventually(t, "the one process", func() bool { return len(b.Status().Processes) == 1 })
		})
	}
}

// The stream of a subscription carries the caller's id in its tags, and ends the subscription when it is closed.
func TestR3_ModernListen(t *testing.T) {
	b := bridge(t, "modern", shared)
	body := strings.Replace(discover, "server/discover", "subscriptions/listen", 1)
	ctx, cancel := context.WithCancel(t.Context())
	res, err := b.RoundTrip(request(ctx, http.MethodPost, "", body, both))
	if err != nil || res.Header.Get("Content-Type") != ingress.TypeSSE {
		t.Fatal(res, err)
	}
	events := bufio.NewReader(res.Body)
	for _, want := range []string{"acknowledged", "list_changed"} {
		assert.Contains(t, next(t, events), want, `"io.modelcontextprotocol/subscriptionId":"d"`)
	}
	cancel()
	if _, err := events.ReadString('\n'); err == nil {
		_, err = io.ReadAll(events)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	_ = res.Body.Close()
	require.Eventually(t, "the server to be told", func() bool {
		meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
		_, body := send(t, b, "", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"seen","arguments":{},`+meta+`}}`, both)
		return strings.Contains(body, "notifications/cancelled")
	})
}

// A wait that is ended for a client cancels the call; a client of the legacy era that leaves does not, unless it says so.
func TestQ7_CancelReachesTheProcess(t *testing.T) {
	left := false
	b := bridge(t, "legacy", func(o *Options) { o.Caller = func(context.Context) Caller { return Caller{Left: left} } })
	seen := func(id string) string {
		_, body := send(t, b, id, call("9", "seen", "{}"), both)
		return textOf(t, body)
	}
	wait := func(id string) {
		ctx, cancel := context.WithCancel(t.Context())
		res, err := b.RoundTrip(request(ctx, http.MethodPost, id, call(`"w"`, "wait", "{}"), both))
		require.NoError(t, err)
		assert.Contains(t, next(t, bufio.NewReader(res.Body)), "waiting")
		cancel()
		_ = res.Body.Close()
	}
	id := open(t, b, "{}")
	wait(id)
	require.Eventually(t, "the cancellation", func() bool { return strings.Contains(seen(id), "notifications/cancelled") })
	left = true
	id = open(t, b, "{}")
	wait(id)
	send(t, b, id, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, both)
	assert.NotContains(t, seen(id), "cancelled")
	send(t, b, id, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0077"}}`, both) // another spelling of "w"
	require.Eventually(t, "the cancellation", func() bool { return strings.Contains(seen(id), "notifications/cancelled") })
}

func FuzzOutgoing(f *testing.F) {
	for _, s := range []string{call("1", "echo", "{}"), discover, `{"jsonrpc":"2.0","id":"x","method":"m","params":{"_meta":{"progressToken":null}}}`, "{\n\"id\":1}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			return
		}
		x := &exchange{c: &child{}, alias: 42}
		out := x.rewriteRequest(body)
		if bytes.ContainsAny(out, "\r\n") || !json.Valid(out) {
			t.Errorf("%q", out)
		}
	})
}
