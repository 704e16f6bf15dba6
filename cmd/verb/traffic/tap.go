package traffic

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/proxy/tap"
	"github.com/mcphud/mcphud/proxy/tap/wrap"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views"
	"github.com/mcphud/mcphud/views/traffic"
)

// Shown while there is nothing to watch.
const (
	tapNothing = "No router or wrapped server is running."
	tapNext    = "Start mcphud router, or put mcphud tap -- before the command of a server in a client's configuration, which mcphud tap wrap CLIENT SERVER does. It is shown as soon as it runs."
)

func (a *app) tapCommand() *cobra.Command {
	var name string
	var server string
	var port int
	var only *cli.FilterFlag
	c := &cobra.Command{
		Use: "tap [flags] [-- COMMAND ARGS…]", Annotations: cli.Rule("0"), Short: "Watch the traffic of routers and wrapped servers, or wrap a server",
		Long: "tap shows the traffic of all your running routers and wrapped servers, and of those that start later: in the traffic screen on a terminal, as one JSON line " +
			"per entry elsewhere.\n\n" +
			"tap -- COMMAND runs a stdio server. Put it in the place of COMMAND in a client's configuration to watch from another terminal what the client really sends. " +
			"Bytes pass unchanged both ways, and so do stderr, signals and the exit code. wrap and unwrap change that configuration.\n\n" +
			"tap --http URL does the same for a server over HTTP: it prints the address on this machine that takes the place of URL in the client, until it is interrupted.",
		Example: "  mcphud tap\n  mcphud tap --format jsonl | jq .method\n  mcphud tap --filter 'tool:echo status:error'\n  mcphud tap -- npx -y @modelcontextprotocol/server-everything stdio",
		Args:    cobra.ArbitraryArgs,
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			if server != "" && len(args) == 0 {
				return a.tapHTTP(ctx, cmd, server, name, port)
			}
			return a.tap(ctx, cmd, args, name, only)
		}),
	}
	only = cli.AddFilter(c.Flags())
	c.AddCommand(a.wrapCommand(), a.unwrapCommand())
	c.Flags().StringVar(&name, "name", "", "show the wrapped server under this `NAME` (default: made from the command, or the host)")
	c.Flags().StringVar(&server, "http", "", "listen on this machine and pass everything on to the HTTP server at this `URL`")
	c.Flags().Var(&flags.Number{Value: &port, Least: 0, Most: 65535}, "port", "with --http, listen on this `PORT`; 0 picks a free one")
	return c
}

func (a *app) tap(ctx context.Context, cmd *cobra.Command, args []string, name string, only *cli.FilterFlag) error {
	own, command, dash := cli.SplitArgs(cmd, args)
	for _, flag := range cli.NetworkFlags {
		if cmd.Flags().Changed(flag) {
			return failure.UsageError("--"+flag+" is for --http", "write mcphud tap --http URL --"+flag+" …")
		}
	}
	if hidden := cli.HiddenFlag(cmd); hidden != "" {
		return failure.UsageError("--"+hidden+" does not apply to tap, which connects to no server", "see mcphud tap --help")
	}
	if len(own) > 0 {
		return failure.UsageError("tap takes no argument before the double dash", output.DidYouMean(own[0], cli.Subcommands(cmd))+"to wrap a server, write mcphud tap -- COMMAND ARGS…, or mcphud tap wrap CLIENT SERVER")
	}
	if dash {
		return a.tapWrap(cmd, command, name)
	}
	if cmd.Flags().Changed("port") {
		return failure.UsageError("--port is for --http", "write mcphud tap --http URL --port PORT")
	}
	if name != "" {
		return failure.UsageError("--name is for a wrapped server", "write mcphud tap --name NAME -- COMMAND ARGS…")
	}
	if err := only.Parse(); err != nil {
		return err
	}
	return a.tapWatch(ctx, only)
}

// tapWrap runs a server for another client.
func (a *app) tapWrap(cmd *cobra.Command, command []string, name string) error {
	if len(command) == 0 || command[0] == "" {
		return failure.UsageError("nothing follows the double dash", "write mcphud tap -- COMMAND ARGS…")
	}
	for _, flag := range []string{"format", "select", "max-bytes", "journal", "linear", "filter"} {
		if cmd.Flags().Changed(flag) {
			return failure.UsageError("--"+flag+" does not apply to a wrapped server, which is watched from another terminal", "run mcphud tap --"+flag+" in another terminal")
		}
	}
	a.Kill.Patient.Store(true) // signals are for the server
	code, err := wrap.Run(wrap.Options{Argv: command, Name: name, Stdin: a.In, Stdout: a.Out, Stderr: a.Err})
	var start *wrap.StartError
	switch {
	case errors.As(err, &start):
		return &failure.Error{Kind: failure.SpawnFailed, Stage: "starting", Message: start.Error(), Err: start.Err, Next: "check the command after the double dash, or give its full path"}
	case err != nil:
		return err
	}
	if code == 0 {
		return nil
	}
	return cli.ExitStatus(code)
}

// tapWatch shows the traffic of all producers until it is interrupted.
func (a *app) tapWatch(ctx context.Context, only *cli.FilterFlag) (err error) {
	j, done, err := a.Journal()
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, done()) }()
	w := tap.Join(ctx, j)
	defer w.Close()
	cfg := tui.Config{Linear: a.Options.Linear}
	if !a.Options.Printed() && output.Terminal(a.Out) && !cfg.LinearMode() {
		return a.tapUI(ctx, j, only.Text)
	}
	<-w.Scanned()
	if w.Found() == 0 {
		_, _ = a.Err.WriteString("mcphud: " + tapNothing + " " + tapNext + "\n")
	}
	f := &cli.Follower{J: j, Out: a.LinePrinter(), Only: only.Filter}
	return f.Run(ctx)
}

// tapUI shows a journal in the traffic screen.
func (a *app) tapUI(ctx context.Context, j *journal.Journal, filter string) error {
	m := session.NewManager(session.Options{Journal: j, ClientInfo: cli.ClientInfo()})
	defer m.Close()
	targets, done, err := a.Targets()
	if err != nil {
		return err
	}
	defer done()
	cfg := tui.Config{
		Views: views.Watch(traffic.Foreign{Empty: func() (what, next string) { return tapNothing, tapNext }, Targets: targets}), Sessions: m, Idle: func() string { return "tap" },
		Filter: filter, Report: cli.Issues,
	}
	defer a.Personal(&cfg)()
	return tui.Run(ctx, cfg)
}
