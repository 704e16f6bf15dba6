// Package agentsrv is the agent that mcphud brings along: an MCP server that is useful by itself, and has something to
// show for each thing that a client or a router must be able to carry. It serves both protocol eras (2024-11-05 to
// 2025-11-25 with initialize and sessions, 2026-07-28 without) on one Streamable HTTP endpoint, or over stdio.
package agentsrv

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcphud/mcphud/agentsrv/basics"
)

// Path is where the Streamable HTTP endpoint is mounted.
const Path = "/mcp"

// MaxBody is the largest request body the HTTP front accepts, in bytes; a larger one is answered with 413.
const MaxBody = 10 << 20

// Agent is one MCP server with its tools, resources and prompts.
type Agent struct {
	o    Options
	mcp  *server.MCPServer
	http *server.StreamableHTTPServer
	log  *slog.Logger

	mu     sync.Mutex
	url    string
	srv    *http.Server
	served chan error
}

// New builds an agent. It starts nothing and opens nothing.
func New(o Options) (*Agent, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	a := &Agent{o: o, log: o.Logger}
	var extra []server.ServerOption
	if o.PageSize > 0 {
		extra = append(extra, server.WithPaginationLimit(o.PageSize))
	}
	a.mcp = basics.NewServer(o.Version, extra...)
	a.http = server.NewStreamableHTTPServer(a.mcp,
		server.WithEndpointPath(Path), server.WithStateful(true), server.WithStreamableHTTPLogger(o.Logger))
	return a, nil
}

// URL is the endpoint, "" before Start.
func (a *Agent) URL() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.url
}

// Start opens what the agent keeps and listens. When it returns without an error the agent answers at URL, until Close.
// ctx bounds the starting only.
func (a *Agent) Start(ctx context.Context) error {
	ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(a.o.Host, strconv.Itoa(a.o.Port)))
	if err != nil {
		return fmt.Errorf("agent: %w; another port, or 0 for a free one, may work", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.url = "http://" + ln.Addr().String() + Path
	a.srv = &http.Server{
		Handler:           a.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    1 << 20,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelWarn),
	}
	a.served = make(chan error, 1)
	go func() { a.served <- a.srv.Serve(ln) }()
	return nil
}

// Close stops the agent: it takes nothing new, lets running calls finish until ctx is done, and then cancels what is
// left. No goroutine, process, connection or file of the agent is left when it returns.
func (a *Agent) Close(ctx context.Context) error {
	a.mu.Lock()
	srv := a.srv
	a.mu.Unlock()
	if srv == nil {
		return nil
	}
	a.http.CloseSessions(ctx)
	if err := srv.Shutdown(ctx); err != nil {
		_ = srv.Close()
	}
	if err := <-a.served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("agent: stop: %w", err)
	}
	return nil
}

// ServeStdio answers newline-delimited frames from in on out until in ends or ctx is done; in must be readable without
// blocking for ever after that (a pipe whose other end closes). It needs no Start.
func (a *Agent) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	err := server.NewStdioServer(a.mcp).Listen(ctx, in, out)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return fmt.Errorf("agent: stdio: %w", err)
}
