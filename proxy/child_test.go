package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
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
	"github.com/mcphud/mcphud/session/test/childtest"
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
	c := childtest.Start(t, childEnv+"="+what)
	return &child{url: c.Line, pid: c.PID}
}
