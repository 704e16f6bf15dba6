package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Open the UI on a small bundled agent; needs nothing else installed", Args: cobra.NoArgs,
		Long: "demo starts a small bundled MCP server on a free loopback port, in this process, and opens the UI on it. It ends with the UI.",
		RunE: a.action(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.demo(ctx, cmd) }),
	}
}

func (a *app) demo(ctx context.Context, cmd *cobra.Command) (err error) {
	if err := a.o.check(); err != nil {
		return err
	}
	if a.o.url != "" || a.o.server != "" {
		return usageError("the demo brings its own server", "leave --url and --server out")
	}
	agent := agentsrv.New(agentsrv.Options{Version: version()})
	ln, err := agent.Listen("127.0.0.1:0")
	if err != nil {
		return &session.Error{Kind: session.TransportFailed, Stage: "starting", Message: err.Error(), Err: err, Next: "see whether this machine has a loopback interface"}
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- agent.Serve(work, ln) }()
	defer func() {
		stop()
		if serr := <-served; serr != nil && err == nil {
			err = fmt.Errorf("demo: %w", serr)
		}
	}()
	srv := config.Server{Name: "demo", Transport: config.HTTP, URL: agent.URL()}
	if err := a.o.apply(cmd, &srv); err != nil {
		return err
	}
	return a.ui(ctx, uiStart{servers: []config.Server{srv}, connect: srv.Name})
}
