package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// wire is a connection to the router on which anything may be written.
func (f *fixture) wire(t testing.TB) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(f.URL(), "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute)) // ends a test that waits in vain
	return c, bufio.NewReader(c)
}

// head is the first lines of a request on a wire.
func (f *fixture) head(end string) string {
	return "POST /mcps/a/mcp HTTP/1.1" + end + "Host: " + strings.TrimPrefix(f.URL(), "http://") + end + "Content-Type: application/json" + end
}

// A body that comes too slowly, or breaks off, is answered and the connection ended; the agent hears nothing of it.
func TestSlowAndBrokenBodies(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	f := start(t, Options{BodyTimeout: time.Second}, route("a", a.at(), ""))
	length := fmt.Sprintf("Content-Length: %d\r\n\r\n", len(callEcho))
	t.Run("at once", func(t *testing.T) { // most of them take the whole time that there is for a body
		for name, c := range map[string]struct {
			body         string
			trickle, end bool // a byte at a time; the client's side is ended
			status       int
		}{
			"nothing comes":              {length, false, false, 408},
			"half comes":                 {length + callEcho[:20], false, false, 408},
			"a byte at a time":           {length, true, false, 408},
			"a chunk that does not come": {"Transfer-Encoding: chunked\r\n\r\n5\r\n", false, false, 408},
			"no last chunk":              {"Transfer-Encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n", false, false, 408},
			"half, and the end":          {length + callEcho[:20], false, true, 400},
			"a lying chunk, and the end": {"Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(callEcho)+100, callEcho), false, true, 400},
			"a chunk that is too short":  {"Transfer-Encoding: chunked\r\n\r\n5\r\n" + callEcho + "\r\n0\r\n\r\n", false, false, 400},
			"chunks and their size":      {"Transfer-Encoding: chunked\r\n\r\nzz\r\n", false, false, 400},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w, r := f.wire(t)
				if _, err := io.WriteString(w, f.head("\r\n")+c.body); err != nil {
					t.Fatal(err)
				}
				if c.end {
					_ = w.(*net.TCPConn).CloseWrite() // the answer tells
				}
				stop := make(chan struct{})
				var slow sync.WaitGroup
				if c.trickle {
					slow.Go(func() {
						for _, b := range []byte(callEcho) {
							select {
							case <-stop:
								return
							case <-time.After(100 * time.Millisecond):
								_, _ = w.Write([]byte{b}) // the router may have ended it
							}
						}
					})
				}
				res, err := http.ReadResponse(r, nil)
				close(stop)
				slow.Wait()
				require.NoError(t, err)
				body, err := io.ReadAll(res.Body)
				if env, bad := jsonrpc.Scan(body); err != nil || bad != nil || env.Kind != jsonrpc.ErrorResponse || res.StatusCode != c.status || !res.Close {
					t.Errorf("%d, closed %t, %s %v %v; want %d", res.StatusCode, res.Close, body, err, bad, c.status)
				}
			})
		}
	})
	if h, _ := a.seen(); h != nil {
		t.Error("one of these reached the agent")
	}
}

// Also a body that nobody wants has its time: the connection of whoever is refused does not last for ever.
func TestSlowBodiesThatNobodyWants(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	a.answer = func(w http.ResponseWriter, r *http.Request, _ jsonrpc.Envelope) {
		_ = sseHead(w).Flush()
		<-r.Context().Done()
	}
	f := start(t, Options{BodyTimeout: time.Second}, route("a", a.at(), `"stream":true`))
	host := "Host: " + strings.TrimPrefix(f.URL(), "http://")
	var ends []func()
	for request, status := range map[string]int{
		"POST /health HTTP/1.1\r\n" + host:                                   405,
		"GET /status HTTP/1.1\r\n" + host:                                    200,
		"POST /nowhere HTTP/1.1\r\n" + host:                                  404,
		"POST /mcps/a/mcp HTTP/1.1\r\nHost: evil":                            403,
		"PUT /mcps/a/mcp HTTP/1.1\r\n" + host:                                405,
		"DELETE /mcps/a/mcp HTTP/1.1\r\n" + host:                             204,
		"GET /mcps/a/mcp HTTP/1.1\r\n" + host:                                400,
		"POST /mcps/a/mcp HTTP/1.1\r\nContent-Type: text/plain\r\n" + host:   415,
		"POST /mcp HTTP/1.1\r\nContent-Type: text/plain\r\n" + host:          415,
		"POST /mcps/a/mcp HTTP/1.1\r\nContent-Encoding: gzip\r\n" + host:     415,
		"POST /mcps/a/mcp HTTP/1.1\r\nExpect: 100-continue\r\n" + host + "0": 403,
	} {
		for _, framing := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
			w, r := f.wire(t)
			if _, err := io.WriteString(w, request+"\r\n"+framing+"\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			ends = append(ends, func() {
				all, err := io.ReadAll(r) // until the router ends the connection
				if got := strings.TrimPrefix(string(all), "HTTP/1.1 100 Continue\r\n\r\n"); err != nil || !strings.HasPrefix(got, fmt.Sprintf("HTTP/1.1 %d ", status)) {
					t.Errorf("%q, %s: %q %v, want %d", request, framing, all, err, status)
				}
			})
		}
	}
	for _, end := range ends {
		end()
	}
	// A stream that was asked for with a body, of which there is no use, lasts on.
	w, r := f.wire(t)
	id := f.open(t, "/mcps/a/mcp")
	if _, err := fmt.Fprintf(w, "GET /mcps/a/mcp HTTP/1.1\r\n%s\r\nAccept: text/event-stream\r\nMcp-Session-Id: %s\r\nContent-Length: 2\r\n\r\n{}", host, id); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(r, nil)
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	_ = w.SetReadDeadline(time.Now().Add(3200 * time.Millisecond)) // over three times what a body gets
	if _, err := res.Body.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the stream ended: %v", err)
	}
}

// Heads have ten seconds to arrive, and no more than 64 KiB.
func TestSlowAndLargeHeads(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	w, r := f.wire(t)
	_, _ = io.WriteString(w, f.head("\r\n")+"X-Large: "+strings.Repeat("x", 1<<20)+"\r\n\r\n") // the router may have ended it
	if res, err := http.ReadResponse(r, nil); err == nil && res.StatusCode != 431 {
		t.Errorf("a head of 1 MiB: %d", res.StatusCode)
	}
	if f.web.ReadHeaderTimeout != 10*time.Second || f.web.MaxHeaderBytes != 64<<10 || f.web.IdleTimeout <= 0 {
		t.Errorf("limits: %+v", f.web)
	}
	if !budget.All() {
		return // what follows takes these ten seconds
	}
	w, r = f.wire(t)
	began := time.Now()
	_, _ = io.WriteString(w, f.head("\r\n")) // and no more
	if _, err := r.ReadByte(); err == nil || time.Since(began) < 9*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if time.Since(began) > 50*time.Second {
		t.Error("a head that does not come is waited for")
	}
	if h, _ := a.seen(); h != nil {
		t.Error("one of these reached the agent")
	}
}

// What Go's server reads in spite of its framing reaches the agent framed as it should be, or not at all.
func TestOddFramingIsNotRelayed(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	id := f.open(t, "/mcps/a/mcp")
	call := func(name, raw string) {
		t.Helper()
		w, r := f.wire(t)
		if _, err := io.WriteString(w, raw); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(r, nil)
		if err != nil {
			return // not understood at all
		}
		h, body := a.seen()
		if res.StatusCode == 200 && (body != callEcho || h.Get("Content-Length") != strconv.Itoa(len(callEcho)) || h.Get("Transfer-Encoding") != "" || h.Get("X-Folded") != "") {
			t.Errorf("%s: the agent saw %v %q", name, h, body)
		}
		if name == "bare line feeds" && res.StatusCode != 200 && res.StatusCode != 400 {
			t.Errorf("%s: %d", name, res.StatusCode)
		}
		_ = res.Body.Close()
	}
	session := "Mcp-Session-Id: " + id
	length := "Content-Length: " + strconv.Itoa(len(callEcho))
	call("bare line feeds", f.head("\n")+session+"\n"+length+"\n\n"+callEcho)
	call("a folded line", f.head("\r\n")+session+"\r\nX-Folded: a\r\n b\r\n"+length+"\r\n\r\n"+callEcho)
	call("equal lengths", f.head("\r\n")+session+"\r\n"+length+"\r\n"+length+"\r\n\r\n"+callEcho)
	call("chunks with extensions and trailers", f.head("\r\n")+session+"\r\nTransfer-Encoding: chunked\r\nTrailer: X-Folded\r\n\r\n"+
		fmt.Sprintf("%x;a=b\r\n%s\r\n0\r\nX-Folded: 1\r\n\r\n", len(callEcho), callEcho))
	call("HTTP/1.0", strings.Replace(f.head("\r\n"), "HTTP/1.1", "HTTP/1.0", 1)+session+"\r\n"+length+"\r\n\r\n"+callEcho)
}

func TestCompressedBodiesAreRefused(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	for _, enc := range []string{"gzip", "x-gzip", "deflate", "br", "zstd", "GZIP", "gzip, identity", "identity, gzip", "unknown"} {
		got := f.post(t, "/mcps/a/mcp", callEcho, "Content-Encoding", enc)
		if got.status != 415 || got.rpcError(t).Error.Code != -32600 {
			t.Errorf("%s: %+v", enc, got)
		}
	}
	if got := f.post(t, "/mcps/a/mcp", callEcho, "Content-Encoding", "identity", "Content-Encoding", "gzip"); got.status != 415 {
		t.Errorf("%+v", got)
	}
	if h, _ := a.seen(); h != nil {
		t.Error("one of these reached the agent")
	}
	if got := f.post(t, "/mcps/a/mcp", callEcho, "Content-Encoding", "identity"); got.status != 200 {
		t.Errorf("%+v", got)
	}
}

// Somebody before the router may have decided by these headers.
func TestHeadersThatDifferFromTheBody(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), `"tools":["echo"]`))
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	for i, c := range []struct {
		method, params string
		headers        []string
		code           int
	}{
		{"tools/call", `"name":"echo",`, []string{"Mcp-Method", "tools/call", "Mcp-Name", "echo"}, 0},
		{"tools/call", `"name":"echo",`, []string{"Mcp-Method", "tools/list", "Mcp-Name", "echo"}, -32020},
		{"tools/call", `"name":"echo",`, []string{"Mcp-Method", "tools/call", "Mcp-Name", "other"}, -32020},
		{"tools/call", `"name":"echo",`, []string{"Mcp-Method", "tools/call", "Mcp-Name", "Echo"}, -32020},
		{"tools/call", `"name":"echo",`, []string{"Mcp-Method", "tools/call", "Mcp-Name", "echo", "Mcp-Name", "rm"}, -32020},
		{"tools/call", `"name":"echo",`, []string{"Mcp-Method", "tools/call", "Mcp-Method", "tools/list", "Mcp-Name", "echo"}, -32020},
		{"tools/call", `"name":"echo",`, []string{"Mcp-Method", "tools/call"}, -32020},
		{"tools/call", `"name":"echo",`, []string{"Mcp-Name", "echo"}, -32020},
		{"resources/read", `"uri":"file:///a",`, []string{"Mcp-Method", "resources/read", "Mcp-Name", "file:///b"}, -32020},
		{"prompts/get", `"name":"a",`, []string{"Mcp-Method", "prompts/get", "Mcp-Name", "b"}, -32020},
	} {
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s%s}}`, i, c.method, c.params, meta)
		got := f.post(t, "/mcps/a/mcp", body, append(c.headers, "Mcp-Protocol-Version", "2026-07-28")...)
		e := got.rpcError(t)
		if e.Error.Code != c.code || string(e.ID) != strconv.Itoa(i) || c.code != 0 && got.status != 400 || c.code == 0 && got.status != 200 {
			t.Errorf("%+v: %+v", c, got)
		}
		if _, seen := a.seen(); c.code != 0 && seen == body {
			t.Errorf("%+v: it reached the agent", c)
		}
	}
}

// JSON that some parsers choke on passes as the bytes that it is, or is refused; it takes neither long nor much memory.
func TestStrangeJSON(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""))
	var many strings.Builder
	n := 400_000
	if budget.Race() {
		n /= 10
	}
	for i := range n {
		_, _ = fmt.Fprintf(&many, `"k%d":0,`, i) // to memory
	}
	keys := strings.TrimSuffix(many.String(), ",")
	frame := func(arguments string) string {
		return `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{` + arguments + `}}}`
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"1e400":                    {frame(`"a":1e400,"b":-1e-400,"c":123456789012345678901234567890.5`), 200},
		"many members":             {frame(keys), 200},
		"many members of params":   {`{"jsonrpc":"2.0","id":5,"method":"x/y","params":{` + keys + `}}`, 200},
		"many members of all":      {`{"jsonrpc":"2.0","id":5,"method":"x/y",` + keys + `}`, 200},
		"deep":                     {frame(`"a":` + strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000)), 200},
		"deep and open":            {frame(`"a":` + strings.Repeat(`{"a":`, 100_000)), 400},
		"invalid UTF-8":            {frame("\"a\":\"\xff\xfe\""), 400},
		"overlong UTF-8":           {frame("\"a\":\"\xc0\xaf\""), 400},
		"a control in a string":    {frame("\"a\":\"\x00\""), 400},
		"a name in two cases":      {`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","NAME":"rm"}}`, 400},
		"a name with a long s":     {`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","argument` + "\u017f" + `":{}}}`, 400},
		"an escaped name":          {`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","n\u0061me":"rm"}}`, 400},
		"a number that is no id":   {`{"jsonrpc":"2.0","id":[5],"method":"x/y"}`, 400},
		"a million brackets after": {callEcho + strings.Repeat("]", 1_000_000), 400},
	} {
		began := time.Now()
		got := f.post(t, "/mcps/a/mcp", c.body)
		if _, seen := a.seen(); got.status != c.want || c.want == 200 && seen != c.body || c.want != 200 && seen == c.body {
			t.Errorf("%s: %d %.200s; the agent saw %.100q", name, got.status, got.body, seen)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
	// Half a pair of surrogates is not text; what cannot be read in one way only is not passed on as something else.
	for _, half := range []string{`\ud800`, `\udc00`, `\ud800\ud800`} {
		body := frame(`"a":"` + half + `"`)
		if got := f.post(t, "/mcps/a/mcp", body); got.status == 200 {
			if _, seen := a.seen(); seen != body {
				t.Errorf("%s: the agent saw %q", half, seen)
			}
		} else if got.status != 400 {
			t.Errorf("%s: %+v", half, got)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 200<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

// Where the router has to understand what an agent says, there is an end to how much it reads.
func TestEndlessIntroductionsAreCutShort(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	var sse bool
	ended := make(chan struct{}, 1)
	a.opens = func(w http.ResponseWriter, id []byte) {
		defer func() { ended <- struct{}{} }()
		if sse {
			sseHead(w)
			_, _ = io.WriteString(w, "data: ") // the router ends it; so below
		} else {
			w.Header().Set("Content-Type", "application/json")
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"instructions":"`, id)
		line := bytes.Repeat([]byte("x"), 64<<10)
		for range 1 << 14 { // 1 GiB
			if _, err := w.Write(line); err != nil {
				return
			}
		}
		t.Error("the agent could write a GiB")
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	for _, sse = range []bool{false, true} {
		for _, headers := range [][]string{{"Accept", accept}, {}} {
			got := f.post(t, "/mcps/a/mcp", initialize, headers...)
			e := got.rpcError(t)
			if got.status != 502 || e.Error.Code != -32603 || !strings.HasPrefix(e.Error.Message, "Failed to reach agent: ") || string(e.ID) != "1" {
				t.Errorf("events %t, %v: %d %.300s", sse, headers, got.status, got.body)
			}
			<-ended
		}
		// On the router's own account, for a caller without a session.
		got := f.post(t, "/mcps/a/mcp", callEcho)
		if e := got.rpcError(t); got.status != 502 || e.Error.Code != -32603 || string(e.ID) != "2" {
			t.Errorf("events %t: %d %.300s", sse, got.status, got.body)
		}
		<-ended
	}
	assert.Equalf(t, f.Sessions(), 0, "a session was opened")
}

// A routing.json that becomes huge, a folder or a loop of links leaves the routes in force, and one behind a link is followed
// where that leads.
func TestRoutesThatAreNoFile(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{Poll: 10 * time.Millisecond}, route("a", a.at(), ""))
	alive := func(what, says string) {
		t.Helper()
		if err := f.Reload(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", what, err)
		}
		if got := f.post(t, "/mcps/a/mcp", callEcho); got.status != 200 {
			t.Errorf("%s: %+v", what, got)
		}
		if got := f.Status().Routes.Error; !strings.Contains(got, says) || !strings.Contains(got, "last valid") {
			t.Errorf("%s: /status says %q", what, got)
		}
	}
	if err := os.Truncate(f.file, 1<<30); err != nil { // takes no space
		t.Fatal(err)
	}
	alive("1 GB", "larger than")
	replace := func(make func() error) {
		t.Helper()
		require.NoError(t, os.Remove(f.file))
		if err := make(); err != nil {
			t.Skipf("not here: %v", err)
		}
	}
	replace(func() error { return os.Mkdir(f.file, 0o700) })
	alive("a folder", "not a regular file")
	replace(func() error { return os.Symlink(f.file, f.file) })
	alive("a loop", "symbolic link")
	replace(func() error { return os.Symlink(os.DevNull, f.file) })
	alive("a device", "not a regular file")
	real := filepath.Join(t.TempDir(), "real.json")
	require.NoError(t, os.WriteFile(real, []byte(table(route("b", a.at(), ""))), 0o600))
	replace(func() error { return os.Symlink(real, f.file) })
	require.Eventually(t, "the routes behind the link", func() bool { return f.post(t, "/mcps/b/mcp", callEcho).status == 200 })
	require.NoError(t, os.WriteFile(real, []byte(table(route("c", a.at(), ""))), 0o600))
	require.Eventually(t, "what is written there later", func() bool { return f.post(t, "/mcps/c/mcp", callEcho).status == 200 })
}

// What an agent says of itself must not begin headers of its own, nor stay in memory at any length.
func TestP3_R4_AVersionThatNoHeaderCanCarry(t *testing.T) {
	for _, version := range []string{`2025-06-18\r\nX-Evil: yes`, `2025-06-18\r\n\r\nPOST /other HTTP/1.1`, strings.Repeat("x", 100), "a b", `\u0000`} {
		a := newAgent(t)
		a.opens = func(w http.ResponseWriter, id []byte) {
			reply(w, id, `{"protocolVersion":"`+version+`","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
		}
		f := start(t, Options{}, route("a", a.at(), ""))
		check := func(got response) {
			t.Helper()
			seen, _ := a.seen()
			if got.status != 200 || seen.Get("X-Evil") != "" || seen.Get("Mcp-Protocol-Version") != "" || got.header.Get("Mcp-Protocol-Version") != "" {
				t.Errorf("%q: %+v; the agent saw %v", version, got, seen)
			}
		}
		check(f.post(t, "/mcps/a/mcp", callEcho))
		check(f.post(t, "/mcps/a/mcp", callEcho, "Mcp-Session-Id", f.open(t, "/mcps/a/mcp")))
	}
}

func TestR10_ASessionIDThatNoHeaderCanCarry(t *testing.T) {
	a := newAgent(t)
	a.opens = func(w http.ResponseWriter, id []byte) {
		w.Header().Set("Mcp-Session-Id", "up 1")
		reply(w, id, initResult)
	}
	f := start(t, Options{}, route("a", a.at(), ""))
	for _, body := range []string{initialize, callEcho} {
		got := f.post(t, "/mcps/a/mcp", body)
		if e := got.rpcError(t); got.status != 502 || e.Error.Code != -32603 || !strings.HasPrefix(e.Error.Message, "Failed to reach agent: invalid session id") {
			t.Errorf("%+v", got)
		}
	}
}

// What is kept for longer than a request lasts is short: ids, what a client can do, what it follows.
func TestP1_WhatIsKeptIsShort(t *testing.T) {
	a := newAgent(t)
	f := start(t, Options{}, route("a", a.at(), ""), `"cmd":{"command":"/nonexistent","session":"shared"}`)
	for _, path := range []string{"/mcps/a/mcp", "/mcps/cmd/mcp", "/mcp"} {
		for _, message := range []string{`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, `{"jsonrpc":"2.0","id":%s,"result":{}}`, `{"id":%s,"method":"ping"}`} {
			id := strconv.Quote(strings.Repeat("x", 1023))
			got := f.post(t, path, fmt.Sprintf(message, id))
			if e := got.rpcError(t); got.status != 400 || e.Error.Code != -32600 || string(e.ID) != "null" {
				t.Errorf("%s: %+v", path, got)
			}
		}
		got := f.post(t, path, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp__a__x","_meta":{"progressToken":"`+strings.Repeat("x", 1023)+`"}}}`)
		if e := got.rpcError(t); e.Error.Code != -32602 || e.Error.Data["field"] != "_meta.progressToken" {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if h, _ := a.seen(); h != nil {
		t.Error("one of these reached the agent")
	}
	longest := strconv.Quote(strings.Repeat("x", 1022))
	if got := f.post(t, "/mcps/a/mcp", strings.Replace(callEcho, `"id":2`, `"id":`+longest, 1)); got.status != 200 || !strings.Contains(got.body, longest) {
		t.Errorf("%+v", got)
	}
	got := f.post(t, "/mcp", strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"experimental":{"x":"`+strings.Repeat("x", 64<<10)+`"}}`, 1))
	if e := got.rpcError(t); e.Error.Code != -32602 || e.Error.Data["field"] != "capabilities" || got.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("%+v", got)
	}
	id := f.open(t, "/mcp")
	got = f.post(t, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"mcp:a:x://`+strings.Repeat("x", 8<<10)+`"}}`, "Mcp-Session-Id", id)
	if e := got.rpcError(t); e.Error.Code != -32602 || e.Error.Data["field"] != "uri" {
		t.Errorf("%+v", got)
	}
}
