package call

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/offer"
	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

func (a *app) toolsCommand() *cobra.Command {
	list := &cobra.Command{
		Use: "list [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "List the server's tools, or with --all those of every configured server", Annotations: cli.Listing(),
		Example: "  mcphud tools list -- node server.js\n  mcphud tools list --all --config ci/mcp.json --format json\n  mcphud tools list --cost -- node server.js\n  mcphud tools list --format brief -- node server.js",
		Args:    cobra.ArbitraryArgs,
	}
	all, spelling := false, spellings[0]
	list.Flags().BoolVar(&all, "all", false, "list the tools of every configured server under their full names")
	list.Flags().Var(&flags.Choice{Value: &spelling, Allowed: spellings}, "names", "spell full names as mcp__SERVER__TOOL (underscore) or mcp:SERVER:TOOL (colon)")
	costs := false
	list.Flags().BoolVar(&costs, "cost", false, "say what each tool costs a model that is given it: bytes, and tokens as mcphud check cost estimates them")
	one := a.ServerCommand(func(ctx context.Context, l *cli.Link, own []string) error {
		if costs {
			return toolsCost(ctx, l)
		}
		return toolsList(ctx, l, own)
	})
	everyone := a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		if given := cli.TargetFlags(cmd); len(given) > 0 || len(args) > 0 {
			return failure.UsageError("--all lists every configured server, and "+cmp.Or(strings.Join(given, " and "), "a name, a URL or a command")+" names one", "leave one of them out")
		}
		return a.WithFleet(ctx, cmd, func(ctx context.Context, f *cli.Fleet) error { return toolsOfAll(ctx, f, spelling) })
	})
	list.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case all && costs:
			return a.Action(func(context.Context, *cobra.Command, []string) error {
				return failure.UsageError("--cost is of one server's tools", "name a server instead of --all")
			})(cmd, args)
		case all:
			return everyone(cmd, args)
		case cmd.Flags().Changed("names"):
			return a.Action(func(context.Context, *cobra.Command, []string) error {
				return failure.UsageError("--names spells full names, which only --all prints", "add --all, or leave it out")
			})(cmd, args)
		}
		return one(cmd, args)
	}
	var example bool
	show := &cobra.Command{
		Use: "show NAME [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Show one tool with its schemas", Annotations: cli.Rule("one"),
		Example: "  mcphud tools show add -- node server.js\n  mcphud tools show add --example -- node server.js",
		Long:    "Shows one tool with its schemas. " + fullNames,
		Args:    cobra.ArbitraryArgs, ValidArgsFunction: runner.CompleteNames(a.App, offer.Tools),
		RunE: a.ServerCommand(func(ctx context.Context, l *cli.Link, args []string) error { return toolsShow(ctx, l, args, example) }),
	}
	show.Flags().BoolVar(&example, "example", false, "print arguments to start from, as the input schema's examples have them")
	var args string
	var task bool
	var second runner.Comparing
	var many runner.Batching
	call := &cobra.Command{
		Use: "call NAME [KEY=VALUE…] [KEY:=JSON…] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Call a tool", Annotations: cli.Rule("some"),
		Long: "Calls a tool. KEY=VALUE is converted by the tool's input schema, KEY:=JSON is taken as JSON; keys nest as a.b[0]=x.\n" +
			"--args gives the whole object, on top of which single keys are set. --answer says what a tool that asks is answered.\n\n" + runner.BatchHelp + "\n\n" + runner.ComparingHelp + "\n\n" + fullNames,
		Example: "  mcphud tools call mcp__github__search_repos query=mcp\n  mcphud tools call add a=1 b=2 -- node server.js\n  mcphud tools call search --args @query.json limit=5 --url http://127.0.0.1:3000/mcp\n" +
			"  mcphud tools call add --batch numbers.jsonl --concurrency 4 -- node server.js\n" +
			"  mcphud tools call add a=1 b=2 --expect '.content[0].text|contains(\"3\")' --max-latency 2s -- node server.js",
		Args: cobra.ArbitraryArgs,
		RunE: a.ServerCommand(func(ctx context.Context, l *cli.Link, own []string) error {
			switch batch, err := many.Asked(args, task, second.Target != ""); {
			case err != nil:
				return err
			case batch:
				return runner.Batch(ctx, a.App, l, calls.Call{Method: calls.ToolsCall, Target: own[0], Given: own[1:]}, &many)
			}
			return a.toolsCall(ctx, l, own, args, task, &second)
		}),
		ValidArgsFunction: runner.CompleteNames(a.App, offer.Tools),
	}
	call.Flags().StringVar(&args, "args", "", "arguments as `JSON`, @FILE, or - for stdin")
	call.Flags().BoolVar(&task, "task", false, "run the call as a task, print its id, and wait for its result")
	many.Register(call)
	second.Register(call)
	cli.RegisterName(show, call)
	return a.Group("tools", "List, show and call tools", list, show, call)
}

const fullNames = "A full name, mcp__SERVER__TOOL or mcp:SERVER:TOOL, names the server of the configs as well, so that no target is needed."

// spellings are what --names takes, the default first.
var spellings = []string{"underscore", "colon"}

func toolsList(ctx context.Context, l *cli.Link, _ []string) error {
	return runner.PrintList(ctx, l, offer.Tools, briefTool, func(t *output.Text, items []offer.Item) {
		rows := [][]string{}
		for _, it := range items {
			rows = append(rows, []string{it.Name, runner.Hints(it), markMalformed(it, text.FirstLine(runner.Describe(it)))})
		}
		t.Table(l.Out.Width, output.DropEmptyColumn(rows, 1))
	})
}

func toolsShow(ctx context.Context, l *cli.Link, args []string, example bool) error {
	it, err := runner.FindTool(ctx, l, args[0])
	if err != nil {
		return err
	}
	if example {
		v := schema.ParseArguments(it.InputSchema).Root().Example().JSON()
		return l.Print(output.Answer{Result: v, Text: func(t *output.Text) { t.JSON(v) }})
	}
	return l.Print(output.Answer{Result: it.Raw, Frames: l.Responses("tools/list"), Text: func(t *output.Text) {
		t.Fields([2]string{"name", it.Name}, [2]string{"title", it.Title}, [2]string{"hints", runner.Hints(it)}, [2]string{"", ""})
		if it.Description != "" {
			t.Block("")
			t.Prose(l.Out.Width, it.Description)
		}
		runner.PrintArguments(t, l.Out.Width, it.InputSchema)
		if len(it.OutputSchema) > 0 {
			t.Block("\noutput schema:")
			t.JSON(it.OutputSchema)
		}
		if len(it.InputSchema) > 0 {
			t.Block("\ninput schema:")
			t.JSON(it.InputSchema)
		}
	}})
}

func (a *app) toolsCall(ctx context.Context, l *cli.Link, own []string, whole string, task bool, second *runner.Comparing) error {
	both, err := second.Asked()
	if err != nil {
		return err
	}
	c, err := runner.ToolCall(a.App, own, whole)
	if err != nil {
		return err
	}
	maker := runner.Of(l)
	if c, err = maker.Prepare(ctx, c); err != nil {
		return err
	}
	if both {
		if task {
			return failure.UsageError("--task and --compare do not go together", "leave one of them out")
		}
		return runner.Against(ctx, a.App, l, c, second)
	}
	if task {
		maker.Options.Task, maker.Options.OnTask = true, printTask(l.Side, l.Out.Format)
	}
	return runner.One(ctx, l, maker, c)
}

// markMalformed marks an item that violates the specification.
func markMalformed(it offer.Item, s string) string {
	if it.Barred != nil {
		return "! " + it.Barred.Error() + "  " + s
	}
	if it.Flaw != nil {
		return "! malformed: " + it.Flaw.Error() + "  " + s
	}
	return s
}
