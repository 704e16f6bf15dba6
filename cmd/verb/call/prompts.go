package call

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

func (a *app) promptsCommand() *cobra.Command {
	get := &cobra.Command{
		Use: "get NAME [KEY=VALUE…] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Get one prompt", Annotations: cli.Rule("some"),
		Example: "  mcphud prompts get greet name=Ada -- node server.js",
		Args:    cobra.ArbitraryArgs, RunE: a.ServerCommand(promptsGet), ValidArgsFunction: runner.CompleteNames(a.App, offer.Prompts),
	}
	cli.RegisterName(get)
	return a.Group("prompts", "List and get prompts",
		&cobra.Command{
			Use: "list [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's prompts", Annotations: cli.Listing(),
			Example: "  mcphud prompts list -- node server.js",
			Args:    cobra.ArbitraryArgs, RunE: a.ServerCommand(promptsList),
		},
		get)
}

func promptsList(ctx context.Context, l *cli.Link, _ []string) error {
	return runner.PrintList(ctx, l, offer.Prompts, briefPrompt, func(t *output.Text, items []offer.Item) {
		rows := [][]string{}
		for _, it := range items {
			var args []string
			for _, p := range it.Args {
				if p.Required {
					args = append(args, p.Name)
				} else {
					args = append(args, "["+p.Name+"]")
				}
			}
			rows = append(rows, []string{it.Name, strings.Join(args, " "), markMalformed(it, text.FirstLine(runner.Describe(it)))})
		}
		t.Table(l.Out.Width, output.DropEmptyColumn(rows, 1))
	})
}

func promptsGet(ctx context.Context, l *cli.Link, own []string) error {
	return runner.One(ctx, l, runner.Of(l), calls.Call{Method: calls.PromptsGet, Target: own[0], Given: own[1:]})
}
