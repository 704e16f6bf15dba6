package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcphud/mcphud/session/test/budget"
	"github.com/mcphud/mcphud/session/test/require"
	"github.com/mcphud/mcphud/session/test/require/assert"
)

// raw sends bytes to the agent on a connection of its own and returns the status of the first answer, 0 if it hung up.
func (s *served) raw(request string) int {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr())
	require.NoError(s.t, err)
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	go func() { _, _ = io.WriteString(c, request) }() // it may stop reading in the middle
	buf := make([]byte, 1<<12)
	n, _ := io.ReadAtLeast(c, buf, len("HTTP/1.1 200"))
	if w := strings.Fields(string(buf[:n])); len(w) > 1 {
		code, _ := strconv.Atoi(w[1])
		return code
	}
	return 0
}

// head is a POST to the endpoint up to the extra headers.
func (s *served) head(headers string) string {
	return "POST /mcp HTTP/1.1\r\nHost: " + s.addr() + "\r\nContent-Type: application/json\r\n" + headers + "\r\n"
}

const echoFrame = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":"x"}}}`

// frameOf is a tools/call of echo with that as its arguments.
func frameOf(arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":` + arguments + `}}`
}

// gzipped is so many MiB of blanks as gzip packs them, each in a part of its own.
func gzipped(n int) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, strings.Repeat(" ", 1<<20))
	_ = w.Close()
	return strings.Repeat(b.String(), n)
}

// withLength is a complete request with that body.
func (s *served) withLength(headers, body string) string {
	return s.head(fmt.Sprintf("%sContent-Length: %d\r\n", headers, len(body))) + body
}

// status makes an attack of one raw request that must be answered in one of those ways.
func status(request func(s *served) string, want ...int) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		got := s.raw(request(s))
		for _, w := range want {
			if got == w {
				return
			}
		}
		t.Errorf("answered %d, want one of %v", got, want)
	}
}

// body is status for a POST of a body.
func body(b string, want ...int) func(*testing.T, *served) {
	return status(func(s *served) string { return s.withLength("", b) }, want...)
}

// code makes an attack of one execute_code call that must not end well.
func code(js string, says ...string) func(*testing.T, *served) {
	return func(t *testing.T, s *served) {
		a := s.call("execute_code", fmt.Sprintf(`{"code":%q,"timeout":300}`, js))
		got := fmt.Sprintf("%+v %+v", a.Result, a.Error)
		if a.Error == nil && !a.Result.IsError {
			t.Errorf("ended well: %.300s", got)
		}
		for _, want := range says {
			assert.Contains(t, got, want)
		}
	}
}

var attacks = []struct {
	name string
	do   func(t *testing.T, s *served)
}{
	{"half a header, then nothing", func(t *testing.T, s *served) {
		many(50, func(int) {
			if c, err := net.Dial("tcp", s.addr()); err == nil {
				_, _ = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: x")
				_ = c.Close()
			}
		})
	}},
	{"half a body, then nothing", func(t *testing.T, s *served) {
		many(50, func(int) {
			if c, err := net.Dial("tcp", s.addr()); err == nil {
				_, _ = io.WriteString(c, s.head("Content-Length: 1000\r\n")+`{"jsonrpc"`)
				_ = c.Close()
			}
		})
	}},
	{"2 MiB of headers", status(func(s *served) string { return s.head("X-Big: " + strings.Repeat("a", 2<<20) + "\r\n") }, 431, 400, 0)},
	{"a body above the limit", status(func(s *served) string { return s.head("Content-Length: 10485761\r\n") + strings.Repeat(" ", 10<<20+1) }, 413)},
	{"a chunked body above the limit", status(func(s *served) string {
		return s.head("Transfer-Encoding: chunked\r\n") + strings.Repeat("100000\r\n"+strings.Repeat(" ", 1<<20)+"\r\n", 11) + "0\r\n\r\n"
	}, 413)},
	{"a chunk size that no number holds", status(func(s *served) string { return s.head("Transfer-Encoding: chunked\r\n") + "fffffffffffffffff\r\nx" }, 400)},
	{"a chunk that is shorter than it says", func(t *testing.T, s *served) {
		c, err := net.Dial("tcp", s.addr())
		require.NoError(t, err)
		defer c.Close()
		_, _ = io.WriteString(c, s.head("Transfer-Encoding: chunked\r\n")+"ffff\r\n"+echoFrame)
		_ = c.(*net.TCPConn).CloseWrite()
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if b, err := io.ReadAll(c); err != nil || strings.Contains(string(b), " 200 ") {
			t.Errorf("%v: %.200s", err, b)
		}
	}},
	{"two ways to say the length", status(func(s *served) string {
		return s.head("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") + "0\r\n\r\n"
	}, 400)},
	{"two lengths", status(func(s *served) string { return s.head("Content-Length: 5\r\nContent-Length: 6\r\n") + "{}    " }, 400)},
	{"a compressed body", status(func(s *served) string {
		return s.withLength("Content-Encoding: gzip\r\n", gzipped(50))
	}, 415)},
	{"another site's Origin", status(func(s *served) string { return s.withLength("Origin: https://evil.example\r\n", echoFrame) }, 403)},
	{"no site's Origin", status(func(s *served) string { return s.withLength("Origin: null\r\n", echoFrame) }, 403)},
	{"another Host", status(func(s *served) string {
		return strings.Replace(s.withLength("", echoFrame), "Host: "+s.addr(), "Host: evil.example", 1)
	}, 403)},
	{"a form's content type", status(func(s *served) string {
		return strings.Replace(s.withLength("", echoFrame), "application/json", "text/plain", 1)
	}, 415)},
	{"paths", func(t *testing.T, s *served) {
		for _, p := range []string{"/mcp/../../etc/passwd", "/mcp%2f..%2f..", "//mcp", "/mcp\x00", "/%6dcp/", "/" + strings.Repeat("a", 10<<10), "/tasks/../../x", "/tasks/%2e%2e%2f"} {
			if got := s.raw("GET " + p + " HTTP/1.1\r\nHost: " + s.addr() + "\r\n\r\n"); got == 200 {
				t.Errorf("GET %.40q answered %d", p, got)
			}
		}
	}},
	{"an array", body("["+echoFrame+"]", 400)},
	{"no JSON", body("{bad", 400)},
	{"brackets 100,000 deep", body(frameOf(strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)), 400, 200)},
	{"a million keys", func(t *testing.T, s *served) {
		var b strings.Builder
		n := 500_000
		if budget.Race() {
			n /= 10
		}
		for i := range n {
			fmt.Fprintf(&b, `"k%d":1,`, i)
		}
		body(frameOf("{"+b.String()+`"message":"x"}`), 200, 400, 413)(t, s)
	}},
	{"a key twice", body(`{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}`, 400)},
	{"a number without bounds", body(frameOf(`{"message":1e400}`), 200, 400)},
	{"half a surrogate pair", body(frameOf(`{"message":"\ud800"}`), 200, 400)},
	{"invalid UTF-8", body(frameOf("{\"message\":\"\xff\"}"), 400)},
	{"names that forge log lines", func(t *testing.T, s *served) {
		forged := `x\n{\"level\":\"ERROR\",\"msg\":\"forged\"}\u001b[2J`
		s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + forged + `","arguments":{}}}`)
		s.post(`{"jsonrpc":"2.0","id":1,"method":"` + forged + `","params":{"uri":"` + forged + `"}}`)
		for line := range strings.Lines(s.log()) {
			if strings.HasPrefix(line, `{"level":"ERROR","msg":"forged"`) || strings.ContainsRune(line, 0x1b) {
				t.Errorf("a line of the log is the client's: %q", line)
			}
		}
	}},
	{"300 sessions that nobody ends", func(t *testing.T, s *served) {
		many(16, func(int) {
			for range 20 {
				s.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`, "Accept", "application/json, text/event-stream")
			}
		})
	}},
	{"callers who leave in the middle of a stream", func(t *testing.T, s *served) {
		frame := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"seconds":600,"steps":6000},"_meta":{"progressToken":1,` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		many(30, func(int) {
			ctx, cancel := context.WithCancel(t.Context())
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(frame))
			assert.NoError(t, err)
			for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "sleep"} {
				req.Header.Set(k, v)
			}
			stop := time.AfterFunc(200*time.Millisecond, cancel)
			defer stop.Stop()
			defer cancel()
			if res, err := s.http.Do(req); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		})
	}},
	{"more calls than the queue takes", func(t *testing.T, s *served) {
		var mu sync.Mutex
		codes := map[string]int{}
		many(40, func(i int) {
			r, err := s.send(http.MethodPost, s.url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"sleep","arguments":{"seconds":0.2}}}`)
			if err != nil {
				t.Error(err)
				return
			}
			what := "done"
			if a := r.rpc(t); a.Error != nil {
				what = fmt.Sprint(a.Error.Code, " ", a.Error.Data["kind"])
			}
			mu.Lock()
			codes[what]++
			mu.Unlock()
		})
		if codes["done"] < 2 || codes["-32002 queue_full"] < 2 || codes["done"]+codes["-32002 queue_full"] != 40 {
			t.Errorf("%v", codes)
		}
	}},
	{"a loop", code("for(;;){}", "-32003")},
	{"recursion", code("function f(){return f()+1} f()")},
	{"a string of 200 MB", code(`let s="x".repeat(200<<20); s.length + s.repeat(10).length`)},
	{"arrays without end", code(`let a=[]; for(;;) a.push(new Array(1e5).fill(a.length))`)},
	{"a regular expression without end", code(`/^(a+)+$/.test("a".repeat(40)+"!")`)},
	{"the function constructor", func(t *testing.T, s *served) {
		a := s.call("execute_code", `{"code":"[typeof require, typeof process, typeof fetch, typeof Function('return this')().std, typeof Function('return this')().os].join()"}`)
		assert.Contains(t, a.text(t), "undefined,undefined,undefined,undefined,undefined")
	}},
	{"a prototype for the next caller", func(t *testing.T, s *served) {
		s.call("execute_code", `{"code":"Object.prototype.evil=1; Array.prototype.map=null; globalThis.kept=1"}`)
		assert.Contains(t, s.call("execute_code", `{"code":"[typeof ({}).evil, typeof [].map, typeof kept].join()"}`).text(t), "undefined,function,undefined")
	}},
	{"100 MB of output", func(t *testing.T, s *served) {
		r := s.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"const x='x'.repeat(65536); for(let i=0;i<1600;i++) console.log(x)","timeout":20000}}}`)
		if len(r.body) > 4<<20 {
			t.Errorf("%d bytes came through", len(r.body))
		}
	}},
}

var goroutines = regexp.MustCompile(`(?m)^go_goroutines (\d+)`)

// held is what a process has that could leak.
type held struct{ files, children, goroutines int }

func (s *served) held() (h held) {
	s.http.CloseIdleConnections()
	h.children = len(childrenOf(s.t, s.cmd.Process.Pid))
	if m := goroutines.FindStringSubmatch(s.get("/metrics").body); m != nil {
		h.goroutines, _ = strconv.Atoi(m[1])
	}
	s.http.CloseIdleConnections()
	h.files = openFiles(s.t, s.cmd.Process.Pid)
	return h
}

func (h held) within(most held) bool {
	return h.files <= most.files && h.children <= most.children && h.goroutines <= most.goroutines
}

// TestAttacks runs each attack from outside, and looks afterwards: the agent answers a normal call within 100 ms, and holds
// no more files, processes and goroutines than before.
func TestAttacks(t *testing.T) {
	t.Parallel()
	s := serveAgent(t, "--ephemeral", "--queue-capacity", "20", "--rate-limit", "0", "--tenant-concurrency", "0", "--log-level", "debug")
	s.call("echo", `{"message":"x"}`).text(t)
	before := s.held()
	s.call("execute_code", `{"code":"1+1"}`).text(t)
	most := s.held()
	if most.goroutines == 0 || most.children != 1 {
		t.Fatalf("nothing is seen of its goroutines or workers: %+v", most)
	}
	// A second worker is kept where the first had to be killed once.
	most.children++
	most.files += most.files - before.files + 2 // and a connection may just be closing
	most.goroutines += most.goroutines - before.goroutines + 4
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			if a.name == "a million keys" && !budget.All() {
				t.Skip("takes the agent seconds: set MCPHUD_TESTS=all to run it")
			}
			s.t = t
			a.do(t, s)
			best, h := time.Hour, held{}
			defer func() {
				if t.Failed() {
					t.Logf("best call %v, held %+v of %+v", best, h, most)
				}
			}()
			require.Eventually(t, "a normal call within 100 ms", func() bool {
				start := time.Now()
				if s.call("echo", `{"message":"x"}`).Error != nil {
					return false // the queue may still be full
				}
				best = min(best, time.Since(start))
				return best < 100*time.Millisecond
			})
			require.Eventually(t, "what the attack took to be given back", func() bool {
				h = s.held()
				return h.within(most)
			})
		})
	}
	s.t = t
}
