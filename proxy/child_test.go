package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/proxy/flow"
	"github.com/mcphud/mcphud/proxy/policy/audit"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/listen"
	"github.com/mcphud/mcphud/session/test/require"
)

// Budgets are of processes: the router and the agent run in children of the test, which are this binary with childEnv set.
const childEnv = "MCPHUD_PROXY_CHILD"

// childMain runs what a child is for, until its stdin ends. It prints its URL.
func childMain(what string) error {
	ctx := context.Background()
	switch name, arg, _ := strings.Cut(what, ":"); name {
	case "router":
		return routerChild(ctx, arg)
	case "agent":
		return serveChild(ctx, server.NewStreamableHTTPServer(bareServer()))
	case "stdio":
		return server.ServeStdio(bareServer())
	case "sink":
		return serveChild(ctx, http.HandlerFunc(sink))
	case "chaos":
		return serveChaos(ctx, arg)
	case "chaos-stdio":
		return newChaosAgent(arg).serveStdio()
	case "bulk":
		return serveChild(ctx, bulk())
	case "large":
		return serveChild(ctx, http.HandlerFunc(large))
	case "events":
		return serveChild(ctx, http.HandlerFunc(clock))
	}
	return fmt.Errorf("no such child: %s", what)
}

// routerChild is what mcphud router is, with everything switched on that can be: it can be watched, it writes down who asked for
// what, and it remembers what tools were.
func routerChild(ctx context.Context, file string) error {
	t, err := tap.Open(tap.Options{Dir: filepath.Dir(file)})
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }()
	r, err := New(Options{
		Outer: []flow.Middleware{t.RecordResponses}, Inner: []flow.Middleware{t.RecordRequests}, Routes: file, RoutesMust: true,
		Audit: audit.Options{File: file + ".audit"}, Pins: file + ".pins",
	})
	if err != nil {
		return err
	}
	if err := r.Start(ctx); err != nil {
		return err
	}
	fmt.Println(r.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
	return r.Close(ctx)
}

// bareServer is a server as its author would make it with mcp-go.
func bareServer() *server.MCPServer {
	s := server.NewMCPServer("bare", "1.0.0", server.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("echo", mcp.WithString("text")), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(r.GetString("text", "")), nil
	})
	return s
}

// sink answers whatever it is asked in few words.
func sink(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if e, err := jsonrpc.Scan(body); err == nil {
		reply(w, e.ID, `{"protocolVersion":"2025-06-18"}`)
	}
}

// bulk answers a call with a text of 1 MiB.
func bulk() http.HandlerFunc {
	result := `{"content":[{"type":"text","text":"` + strings.Repeat("x", 1<<20) + `"}]}`
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		switch e, err := jsonrpc.Scan(body); {
		case err == nil && e.Method == "tools/call":
			reply(w, e.ID, result)
		case err == nil:
			reply(w, e.ID, `{"protocolVersion":"2025-06-18"}`)
		}
	}
}

// clock answers a call with events that tell when they were written, 20 ms apart.
func clock(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if e, err := jsonrpc.Scan(body); err != nil || e.Method != "tools/call" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(jsonrpc.NewError(e.ID, -32601, "it has no sessions", nil))
		return
	}
	rc := sseHead(w)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range events {
		<-tick.C
		_, _ = fmt.Fprintf(w, "data: %d\n\n", time.Now().UnixNano()) // who reads counts the events
		_ = rc.Flush()
	}
}

// serveChild serves h at /mcp of a free port, until stdin ends.
func serveChild(ctx context.Context, h http.Handler) error { return serveChildAt(ctx, 0, h) }

func serveChildAt(ctx context.Context, port int, h http.Handler) error {
	lns, err := listen.Listen(ctx, "127.0.0.1", port)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	web := &http.Server{Handler: mux}
	listen.Harden(web, time.Second)
	for _, ln := range lns {
		go func() { _ = web.Serve(ln) }()
	}
	fmt.Println("http://" + lns[0].Addr().String() + "/mcp")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return web.Close()
}

type child struct {
	url string
	pid int
	dir string // of a router: where its files and its tap's socket are
}

func spawn(t testing.TB, what string) *child {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+what)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return &child{url: strings.TrimSpace(line), pid: cmd.Process.Pid}
}

// cpu is the processor time that a child has used.
func (c *child) cpu(t testing.TB) time.Duration {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(c.pid) + "/stat")
	if err != nil {
		t.Skip("the processor time of another process is known on Linux only")
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	user, err1 := strconv.Atoi(f[11])
	system, err2 := strconv.Atoi(f[12])
	if err1 != nil || err2 != nil {
		t.Fatalf("stat: %s", b)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100 wherever Go runs
}

// running is how long the threads of a child were on a processor, to the nanosecond.
func (c *child) running(t testing.TB) (sum time.Duration) {
	t.Helper()
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(c.pid) + "/task/*/schedstat")
	if err != nil || len(threads) == 0 {
		t.Skip("the processor time of threads is known on Linux only")
	}
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // it ended meanwhile
		}
		ns, _, _ := strings.Cut(string(b), " ")
		n, err := strconv.ParseInt(ns, 10, 64)
		if err != nil {
			t.Fatalf("%s: %q", name, b)
		}
		sum += time.Duration(n)
	}
	return sum
}

// rss is the memory that a child holds, in bytes.
func (c *child) rss(t testing.TB) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(c.pid) + "/statm")
	if err != nil {
		t.Skip("the memory of another process is known on Linux only")
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}
