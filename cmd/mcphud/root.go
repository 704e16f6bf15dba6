package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/config"
)

// runRoot is mcphud without a subcommand: the UI on the server that the command line names, or on the servers of the
// configs.
func (a *app) runRoot(ctx context.Context, cmd *cobra.Command, args []string) error {
	own, command, dash := splitArgs(cmd, args)
	if len(own) > 0 && !strings.Contains(own[0], "://") {
		return usageError(fmt.Sprintf("there is no command %q", own[0]),
			didYouMean(own[0], subcommands(cmd))+"see mcphud --help; a server is named with -- COMMAND ARGS…, a URL, --agent NAME or --server NAME")
	}
	if err := a.o.check(); err != nil {
		return err
	}
	if len(own) > 0 {
		if len(own) > 1 || dash || a.o.url != "" || a.o.agent != "" || a.o.server != "" {
			return usageError("more than one server was named", "name exactly one")
		}
		a.o.url = own[0]
	}
	if a.o.url == "" && a.o.agent == "" && a.o.server == "" && !dash {
		return a.openConfigs(ctx, cmd, "")
	}
	if a.o.server != "" && a.o.url == "" && a.o.agent == "" && !dash {
		return a.openConfigs(ctx, cmd, a.o.server)
	}
	srv, err := a.o.target(cmd, command, dash)
	if err != nil {
		return err
	}
	return a.ui(ctx, uiStart{servers: []config.Server{srv}, connect: srv.Name})
}

// openConfigs opens the UI on what the configs name; name, if given, is connected at once, after asking for trust where
// that is needed.
func (a *app) openConfigs(ctx context.Context, cmd *cobra.Command, name string) error {
	set, _, err := a.o.load()
	if err != nil {
		return err
	}
	start := uiStart{servers: set.Servers, settings: set.Settings, warnings: set.Warnings}
	if name == "" {
		return a.ui(ctx, start)
	}
	s, ok := set.Server(name)
	if !ok {
		_, err := a.o.configured(name) // the error names the problem and similar names
		return err
	}
	trusted := a.o.trust().Trusted(s) // without the flags, as its file describes it
	if err := a.o.apply(cmd, &s); err != nil {
		return err
	}
	for i := range start.servers {
		if start.servers[i].Name == s.Name {
			start.servers[i] = s
		}
	}
	start.open = s.Name
	if trusted && s.Problem == nil && !s.Disabled {
		start.open, start.connect = "", s.Name
	}
	return a.ui(ctx, start)
}
