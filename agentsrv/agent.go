// Package agentsrv is the agent that mcphud brings along: an MCP server with one tool, resource or prompt for each
// thing a client must be able to show. It serves both protocol eras (2024-11-05 to 2025-11-25 with initialize and
// sessions, 2026-07-28 without) on one Streamable HTTP endpoint, and the same server over stdio.
//
// The protocol itself is github.com/mark3labs/mcp-go; this package adds what that leaves to its user: an HTTP front with
// Host and Origin checks and a body limit (front.go), and notifications that arrive in order and before the result
// (notify.go).
package agentsrv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/basics"
)

// Path is where the Streamable HTTP endpoint is mounted.
const Path = "/mcp"

// MaxBody is the largest request body the HTTP front accepts, in bytes; a larger one is answered with 413.
const MaxBody = 10 << 20

// stopGrace is how long a stopping agent waits for requests that are being answered before it closes their connections.
const stopGrace = time.Second

// Options says who the agent claims to be and how it pages. The zero value is a complete, usable agent.
type Options struct {
	Name    string // serverInfo.name, default "mcphud-demo"
	Version string // serverInfo.version, default "dev"
	// PageSize limits how many items one page of a list has; 0 puts every list on one page.
	PageSize int
	// Logger receives what goes wrong while serving; nil discards it.
	Logger *slog.Logger
}

// Agent is one MCP server with its tools, resources and prompts. It can be served over any number of listeners, over
// stdio, and in-process (MCP), also at the same time; they share the counter that reset_counter resets.
type Agent struct {
	mcp  *server.MCPServer
	http *server.StreamableHTTPServer
	log  *slog.Logger

	mu  sync.Mutex
	url string
}

// New builds an agent. It starts nothing.
func New(o Options) *Agent {
	if o.Name == "" {
		o.Name = "mcphud-demo"
	}
	if o.Version == "" {
		o.Version = "dev"
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	a := &Agent{log: o.Logger}
	var extra []server.ServerOption
	if o.PageSize > 0 {
		extra = append(extra, server.WithPaginationLimit(o.PageSize))
	}
	a.mcp = basics.NewServer(o.Version, extra...)
	a.http = server.NewStreamableHTTPServer(a.mcp,
		server.WithEndpointPath(Path), server.WithStateful(true), server.WithStreamableHTTPLogger(o.Logger))
	return a
}

// MCP is the server underneath, for mcp-go's in-process transport.
func (a *Agent) MCP() *server.MCPServer { return a.mcp }

// URL is the endpoint of the listener that was given to Listen or Serve last, "" before that.
func (a *Agent) URL() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.url
}

// Listen opens a TCP listener for Serve on a loopback address ("127.0.0.1:0" picks a free port), so that URL is known
// before Serve runs. An address that other machines can reach is refused: the agent asks nobody who they are.
func (a *Agent) Listen(addr string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("agent: listen on %q: %w; give it as 127.0.0.1:PORT", addr, err)
	}
	if !loopback(host) {
		return nil, fmt.Errorf("agent: listen on %q: only loopback addresses are served; use 127.0.0.1", addr)
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("agent: listen on %q: %w; another port, or 0 for a free one, may work", addr, err)
	}
	a.setURL(ln)
	return ln, nil
}

func (a *Agent) setURL(ln net.Listener) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.url = "http://" + ln.Addr().String() + Path
}

// Serve answers on ln until ctx is done, and then stops: running handlers are cancelled, their answers get a second to
// leave, and no goroutine and no connection is left when Serve returns. It closes ln. The error is nil after a stop
// that ctx asked for. An agent can be served again afterwards; its sessions are gone then.
func (a *Agent) Serve(ctx context.Context, ln net.Listener) error {
	a.setURL(ln)
	work, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	srv := &http.Server{
		Handler:           a.Handler(),
		BaseContext:       func(net.Listener) context.Context { return work },
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(ln) }()
	select {
	case err := <-served:
		_ = srv.Close()
		return fmt.Errorf("agent: serve on %s: %w", ln.Addr(), err)
	case <-ctx.Done():
	}
	stopWork()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	a.http.CloseSessions(grace)
	if err := srv.Shutdown(grace); err != nil {
		_ = srv.Close()
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("agent: stop on %s: %w", ln.Addr(), err)
	}
	return nil
}

// ServeStdio answers newline-delimited frames from in on out until in ends or ctx is done; in must be readable without
// blocking for ever after that (a pipe whose other end closes). mcp-go keeps one stdio session per process.
func (a *Agent) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	s := server.NewStdioServer(a.mcp)
	s.SetErrorLogger(log.New(slogWriter{a.log}, "", 0))
	err := s.Listen(ctx, in, out)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("agent: stdio: %w", err)
}

type slogWriter struct{ log *slog.Logger }

func (w slogWriter) Write(p []byte) (int, error) {
	w.log.Warn(string(p))
	return len(p), nil
}
