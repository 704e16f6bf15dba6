package front

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/session/budget"
)

// burst makes n calls on clients connections, each with a request of its own on a raw connection, so that the client
// costs as little as it can.
func burst(t testing.TB, addr string, headers string, clients, n int) time.Duration {
	t.Helper()
	body := call("1", "echo", `{"message":"hello"}`)
	request := fmt.Appendf(nil, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%sContent-Length: %d\r\n\r\n%s", addr, headers, len(body), body)
	conns := make([]net.Conn, clients)
	for i := range conns {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		conns[i] = c
	}
	return budget.Time(func() {
		var wg sync.WaitGroup
		for _, c := range conns {
			wg.Go(func() {
				r := bufio.NewReader(c)
				for range n / clients {
					if _, err := c.Write(request); err != nil {
						t.Error(err)
						return
					}
					res, err := http.ReadResponse(r, nil)
					if err != nil {
						t.Error(err)
						return
					}
					got, err := io.ReadAll(res.Body)
					if err != nil || res.StatusCode != 200 || !strings.Contains(string(got), "hello") {
						t.Errorf("%d %s %v", res.StatusCode, got, err)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestBudgetEcho compares tools/call of echo with mcp-go's own transport over the same engine.
func TestBudgetEcho(t *testing.T) {
	budget.Skip(t)
	through := func(next Next) Next {
		return func(ctx context.Context, x *Exchange) (json.RawMessage, error) { return next(ctx, x) }
	}
	f := start(t, func(o *Options) { o.Use = []Middleware{through, through, through, through, through} })
	bareEngine := server.NewMCPServer("bare", "1")
	bareEngine.AddTool(mcp.NewToolWithRawSchema("echo", "echo", []byte(anyObject)), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw, err := json.Marshal(r.GetRawArguments())
		return mcp.NewToolResultText(string(raw)), err
	})
	bare := httptest.NewServer(server.NewStreamableHTTPServer(bareEngine, server.WithStateful(true)))
	defer bare.Close()
	session := func(url string) string {
		res, err := http.Post(url+"/mcp", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		return "Mcp-Session-Id: " + res.Header.Get("Mcp-Session-Id") + "\r\n"
	}
	ours, theirs := session("http://"+f.host()), session(bare.URL)
	const n = 6400
	for _, clients := range []int{1, 16, 64} {
		got, base := budget.Pair(
			func() time.Duration { return burst(t, f.host(), ours, clients, n) },
			func() time.Duration { return burst(t, strings.TrimPrefix(bare.URL, "http://"), theirs, clients, n) })
		budget.Ratio(t, fmt.Sprintf("%d echo calls, %d clients: time against a bare mcp-go server (%.0f against %.0f calls/s)", n, clients, n/got.Seconds(), n/base.Seconds()), got, base, 1/0.85)
	}
}

func heapNow() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemoryIsFlat: what many calls leave behind is what few leave behind. MCPHUD_BUDGET=1 makes it 200,000.
func TestMemoryIsFlat(t *testing.T) {
	n := 6400
	if os.Getenv(budget.EnableEnv) == "1" && !budget.Race() {
		n = 200_000
	}
	f := start(t, nil)
	s := f.login(t, "2025-11-25", "{}")
	h := fmt.Sprintf("%s: %s\r\n", s[0], s[1])
	burst(t, f.host(), h, 16, 3200)
	first := heapNow()
	burst(t, f.host(), h, 16, n)
	if last := heapNow(); last > first+(2<<20) {
		t.Errorf("%d KiB before, %d KiB after %d calls", first>>10, last>>10, n)
	}
}

// TestNoNotificationIsLost: calls that send 20 notifications each. MCPHUD_BUDGET=1 makes them 10,000.
func TestNoNotificationIsLost(t *testing.T) {
	n := 320
	if os.Getenv(budget.EnableEnv) == "1" && !budget.Race() {
		n = 10_000
	}
	f := start(t, nil)
	s := f.login(t, "2025-11-25", "{}")
	var wg sync.WaitGroup
	for c := range 16 {
		wg.Go(func() {
			for i := range n / 16 {
				var g got
				if c%2 == 0 {
					g = f.post(t, call("1", "notify", "{}"), s...)
				} else {
					body, h := modern("1", "tools/call", `"name":"notify"`, "notify")
					g = f.post(t, body, h...)
				}
				last := -1
				for k := range 20 {
					at := strings.Index(g.body, fmt.Sprintf(`"progress":%d,`, k))
					if at <= last {
						t.Errorf("call %d of client %d lost or mixed up notification %d: %+v", i, c, k, g)
						return
					}
					last = at
				}
				if strings.LastIndex(g.body, `"result"`) < last {
					t.Errorf("the result of call %d of client %d is not the last", i, c)
					return
				}
			}
		})
	}
	wg.Wait()
}
