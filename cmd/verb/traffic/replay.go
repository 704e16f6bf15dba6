package traffic

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/runner"
)

// replaying is the name of the one command for files that talks to a server.
const replaying = "replay"

func (a *app) replayCommand() *cobra.Command {
	c := &cobra.Command{
		Use: replaying + " FILE [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Send recorded requests again, and compare the answers", Annotations: cli.Rule("one"),
		Long:    runner.ReplayHelp + cli.IgnoringHelp,
		Example: "  mcphud journal replay session.jsonl -- node server.js\n  mcphud journal replay session.jsonl --filter 'tool:search' https://staging.example.com/mcp",
		Args:    cobra.ArbitraryArgs,
	}
	var ignore cli.Ignoring
	r := runner.Replaying{Ignore: &ignore}
	r.Register(c)
	ignore.Register(c.Flags(), "ignore in all answers")
	run := a.ServerCommand(func(ctx context.Context, l *cli.Link, own []string) error {
		return r.Replay(ctx, a.App, l, "journal replay", own[0])
	})
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if err := r.Check(); err != nil {
			return a.Action(func(context.Context, *cobra.Command, []string) error { return err })(cmd, args)
		}
		return run(cmd, args)
	}
	return c
}
