package main

import (
	"errors"
	"io"
	"slices"

	"charm.land/fang/v2"
	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/verb/call"
	"github.com/mcphud/mcphud/cmd/verb/check"
	"github.com/mcphud/mcphud/cmd/verb/config"
	"github.com/mcphud/mcphud/cmd/verb/inspect"
	"github.com/mcphud/mcphud/cmd/verb/login"
	"github.com/mcphud/mcphud/cmd/verb/serve"
	"github.com/mcphud/mcphud/cmd/verb/servers"
	"github.com/mcphud/mcphud/cmd/verb/sessions"
	"github.com/mcphud/mcphud/cmd/verb/traffic"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/spf13/pflag"
)

// app is a run of the program, with all verbs.
type app struct{ *cli.App }

// verbs are those of all families, and what is about the program itself.
func (a *app) verbs() []cli.Verb {
	return slices.Concat(
		call.Verbs(a.App), sessions.Verbs(a.App), servers.Verbs(a.App), login.Verbs(a.App), check.Verbs(a.App), traffic.Verbs(a.App), serve.Verbs(a.App), config.Verbs(a.App),
		[]cli.Verb{
			{Name: "help", Make: a.helpCommand, Inherits: []cli.Inherit{{}}},
			{Name: "version", Make: a.VersionCommand, Inherits: []cli.Inherit{{}}},
		},
	)
}

// run executes one command line and returns the exit code. Everything the command started is gone when it returns.
func run(args []string, std cli.Standard) int {
	a := &app{&cli.App{Standard: std, Kill: &cli.Children{}, Sent: &cli.Redactor{}}}
	ctx, stop := cli.Interruptible(a.Kill.End, a.Kill.Hangup, func() {
		if len(a.Kill.Running()) > 0 {
			a.Note("waiting for the server's process to end: interrupt again to kill it")
		}
	})
	defer stop()
	a.Tree = func() *cobra.Command { return a.command(nil) }
	if len(args) > 0 && args[0] == inspect.Inspecting {
		return inspect.Main(ctx, a.App, args[1:])
	}
	if len(args) > 1 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) && args[1] == inspect.Inspecting {
		return inspect.Complete(a.App, args[0] == cobra.ShellCompRequestCmd, args[2:])
	}
	a.Root = a.command(args)
	a.Root.SetArgs(args)
	err := fang.Execute(ctx, a.Root,
		fang.WithoutVersion(), // it is ours: cobra prints it by a template
		// The error is reported below, in one place and in the requested format.
		fang.WithErrorHandler(func(io.Writer, fang.Styles, error) {}))
	if err != nil { // cobra's own: a wrong flag, an unknown command
		err = failure.UsageError(err.Error(), a.similarFlags(args, err)+"see "+a.helpFor(args))
		a.Options.Lenient(args)
	} else {
		err = a.Fail
	}
	return a.Report(ctx, a.Printed(err))
}

// command builds the tree, or the part of it that a command line is about: all of it takes a fifth of the time of a short command.
func (a *app) command(args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "mcphud [flags] [SERVER | URL | -- COMMAND ARGS…]",
		Short: "Inspect and drive MCP servers",
		Long: "mcphud opens a Model Context Protocol server in the terminal: its tools, resources and prompts, and every frame on the wire.\n\n" +
			"Every command that talks to a server takes exactly one of: SERVER (its name in the configs, or --server NAME), URL (or --url URL), -- COMMAND ARGS… (stdio), --agent NAME (through the router). Where a server has the name of a command, it is named by --server.\n\n" +
			"mcphud --cli … takes the official Inspector's command line instead: see mcphud help inspector.",
		Example: "  mcphud github\n  mcphud -- node server.js\n  mcphud https://host/mcp\n  mcphud tools list --url http://127.0.0.1:3000/mcp\n" +
			"  mcphud tools call add a=1 b=2 -- node server.js",
		Args: cobra.ArbitraryArgs,
		RunE: a.Action(a.runRoot),
	}
	root.SetIn(a.In)
	root.SetOut(a.Out) // before the command for completion is made, which keeps it
	root.SetErr(a.Err)
	a.Options.Register(root)
	root.Flags().Var((*flags.WebURL)(&a.Options.ModelURL), "model-url", "let the OpenAI-compatible API at this `URL` answer sampling on request, with the key in MCPHUD_MODEL_KEY; MCPHUD_MODEL_URL")
	root.Flags().StringVar(&a.Options.ModelName, "model", "", "request the model of this `NAME` from it; MCPHUD_MODEL. How the API is reached is said by model in config.yaml")
	flags.Grouped(root.Flags(), flags.GroupClient, "model-url", "model")
	all := a.verbs()
	if i := slices.IndexFunc(all, func(v cli.Verb) bool { return v.Client && len(args) > 0 && v.Name == args[0] }); i >= 0 {
		a.Add(root, all[i])
		root.SetHelpCommand(&cobra.Command{Hidden: true})
		root.CompletionOptions.DisableDefaultCmd = true
	} else {
		a.addAll(root, all)
	}
	a.RegisterHelp(root)
	a.RegisterVersion(root)
	flags.PlainUsage(root)
	a.offerServers(root)
	return root
}

// addAll adds all verbs, and completion.
func (a *app) addAll(root *cobra.Command, all []cli.Verb) {
	for _, v := range all {
		if c := a.Add(root, v); v.Name == "help" {
			root.SetHelpCommand(c)
		}
	}
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.Example = "  mcphud completion bash > ~/.local/share/bash-completion/completions/mcphud\n  mcphud completion zsh > ~/.zfunc/_mcphud"
}

// offerServers completes the names of servers where a command has no other arguments.
func (a *app) offerServers(c *cobra.Command) {
	if c.ValidArgsFunction == nil && (c == c.Root() || c.Annotations[cli.RuleKey] == "none") {
		c.ValidArgsFunction = cli.CompleteServers(&a.Options)
	}
	for _, sub := range c.Commands() {
		a.offerServers(sub)
	}
}

// similarFlags asks for the flags of the command that a mistyped one stands for, "" if there are none.
func (a *app) similarFlags(args []string, err error) string {
	var unknown *pflag.NotExistError
	cmd, _, bad := a.Root.Find(args)
	if !errors.As(err, &unknown) || bad != nil {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return output.DidYouMean("--"+unknown.GetSpecifiedName(), names)
}

func (a *app) helpFor(args []string) string {
	cmd, _, err := a.Root.Find(args)
	if err != nil || cmd == nil {
		cmd = a.Root
	}
	return cmd.CommandPath() + " --help"
}
