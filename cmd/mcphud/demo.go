package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/agentsrv"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/config"
)

func (a *app) demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "demo", Short: "Open the UI on the bundled agent; needs nothing else installed", Args: cobra.NoArgs,
		Long: "demo starts the bundled agent on a free loopback port, in this process and in memory, and opens the UI on it. It ends with the UI.",
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
	agent, err := agentsrv.New(agentsrv.Options{})
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if err := agent.Start(ctx); err != nil {
		return &session.Error{Kind: session.TransportFailed, Stage: "starting", Message: err.Error(), Err: err, Next: "see whether this machine has a loopback interface"}
	}
	defer func() {
		leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if cerr := agent.Close(leave); cerr != nil && err == nil {
			err = fmt.Errorf("demo: %w", cerr)
		}
	}()
	srv := config.Server{Name: "demo", Transport: config.HTTP, URL: agent.URL()}
	if err := a.o.apply(cmd, &srv); err != nil {
		return err
	}
	return a.ui(ctx, uiStart{servers: []config.Server{srv}, connect: srv.Name})
}
