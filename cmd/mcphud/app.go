package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"charm.land/fang/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/session/offer/pending"
)

// standard is stdin, stdout and stderr of the process. Commands write to nothing else.
type standard struct {
	in, out, err *os.File
}

// app is one run of the program.
type app struct {
	standard
	o     options
	root  *cobra.Command
	kill  *children      // killed by a second interrupt
	fail  error          // what the command ended with
	asked *pending.Queue // what servers ask; nil before there are sessions
	first pending.Rule   // looks at that before --answer does; nil for none

	login  *auth.Options // of servers over HTTP; nil for none
	person auth.Person   // logs in where a command needs it; nil for nobody

	noLogin bool // nobody is asked to log in, whoever is there

	tracing bool // the command shows what other processes recorded of its calls

	user *userconfig.Config // what config.yaml says; see preferences

	sent *sent // what no error repeats

	helping, helpAll bool // --help or --help-all was given
}

// run executes one command line and returns the exit code. Everything the command started is gone when it returns.
func run(args []string, std standard) int {
	a := &app{standard: std, kill: &children{}, sent: &sent{}}
	ctx, stop := interruptible(a.kill.end, a.kill.hangup, func() {
		if len(a.kill.running()) > 0 {
			a.note("waiting for the server's process to end: interrupt again to kill it")
		}
	})
	defer stop()
	if len(args) > 0 && args[0] == inspecting {
		return a.inspect(ctx, args[1:])
	}
	if len(args) > 1 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) && args[1] == inspecting {
		return a.completeInspector(args[0] == cobra.ShellCompRequestCmd, args[2:])
	}
	a.root = a.command(args)
	a.root.SetArgs(args)
	err := fang.Execute(ctx, a.root,
		fang.WithVersion(version()),
		// The error is reported below, in one place and in the requested format.
		fang.WithErrorHandler(func(_ ioWriter, _ fang.Styles, _ error) {}))
	if err != nil { // cobra's own: a wrong flag, an unknown command
		err = usageError(err.Error(), "see "+a.helpFor(args))
		a.o.lenient(args)
	} else {
		err = a.fail
	}
	return a.report(ctx, err)
}

// action adapts a command's body to cobra. Its error is kept in a.fail: cobra and fang see only their own.
func (a *app) action(f func(ctx context.Context, cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.prefer(cmd)
		a.fail = f(cmd.Context(), cmd, args)
		return nil
	}
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
		RunE: a.action(a.runRoot),
	}
	root.SetIn(a.in)
	root.SetOut(a.out) // before the command for completion is made, which keeps it
	root.SetErr(a.err)
	root.SetVersionTemplate(built().lines() + "\n")
	a.o.register(root)
	root.Flags().Var((*webURL)(&a.o.modelURL), "model-url", "let the OpenAI-compatible API at this `URL` answer sampling on request, with the key in MCPHUD_MODEL_KEY; MCPHUD_MODEL_URL")
	root.Flags().StringVar(&a.o.modelName, "model", "", "request the model of this `NAME` from it; MCPHUD_MODEL. How the API is reached is said by model in config.yaml")
	grouped(root.Flags(), groupClient, "model-url", "model")
	one := map[string]func() *cobra.Command{
		"info": a.infoCommand, "tools": a.toolsCommand, "resources": a.resourcesCommand, "prompts": a.promptsCommand, "skills": a.skillsCommand,
		"tasks": a.tasksCommand, "complete": a.completeCommand, "ping": a.pingCommand, "bench": a.benchCommand, "raw": a.rawCommand,
	}
	if len(args) > 0 && one[args[0]] != nil {
		c := one[args[0]]()
		a.o.expected.register(c)
		root.AddCommand(c)
		root.SetHelpCommand(&cobra.Command{Hidden: true})
		root.CompletionOptions.DisableDefaultCmd = true
	} else {
		for _, make := range one {
			c := make()
			a.o.expected.register(c)
			root.AddCommand(c)
		}
		a.addOthers(root)
	}
	a.registerHelp(root)
	plainUsage(root)
	a.offerServers(root)
	return root
}

// offerServers completes the names of servers where a command has no other arguments.
func (a *app) offerServers(c *cobra.Command) {
	if c.ValidArgsFunction == nil && (c == c.Root() || c.Annotations[ruleKey] == "none") {
		c.ValidArgsFunction = completeServers(&a.o)
	}
	for _, sub := range c.Commands() {
		a.offerServers(sub)
	}
}

// addOthers adds the commands that are not a client's of one server.
func (a *app) addOthers(root *cobra.Command) {
	agent, router, up, tap, config, demo, status := a.agentCommand(), a.routerCommand(), a.upCommand(), a.tapCommand(), a.configCommand(), a.demoCommand(), a.statusCommand()
	open, explain, journal := a.openCommand(), a.expertCommand(), a.journalCommand()
	ps := a.psCommand()
	examine, doctor, trace := a.examineCommand(), a.doctorCommand(), a.traceCommand()
	registries := a.registryCommand()
	root.AddCommand(
		doctor, examine, a.historyCommand(), a.runCommand(), a.serversCommand(), a.authCommand(), status, config, demo, up, agent, router, tap, ps, open, registries, explain, trace, journal, a.conformanceCommand(),
	)
	help, version := a.helpCommand(), a.versionCommand()
	root.SetHelpCommand(help)
	mock := a.mockCommand()
	root.AddCommand(version, mock)
	root.InitDefaultCompletionCmd()
	completion, _, _ := root.Find([]string{"completion"})
	completion.Example = "  mcphud completion bash > ~/.local/share/bash-completion/completions/mcphud\n  mcphud completion zsh > ~/.zfunc/_mcphud"
	for _, server := range []*cobra.Command{agent, router, up, help, version} {
		hideInherited(server)
	}
	hideInherited(mock)
	hideInherited(tap, append([]string{"journal", "journal-raw", "linear"}, networkFlags...)...)
	hideInherited(ps)
	for _, sub := range tap.Commands() {
		hideInherited(sub)
	}
	hideInherited(open, "linear", "set", "proxy", "ca", "sandbox")
	for _, c := range registries.Commands() {
		hideInherited(c, "proxy", "ca")
	}
	for _, c := range append(journal.Commands(), journal, explain) {
		if c.Name() != replaying {
			hideInherited(c)
		}
	}
	hideInherited(status, fleetFlags...)
	for _, c := range []*cobra.Command{status, examine, doctor, trace} {
		a.o.expected.register(c)
	}
	hideInherited(demo, "connect-timeout", "header", "journal", "journal-raw", "linear", "log-level", "max-frame", "max-timeout", "protocol", "read-only", "root", "timeout", "yes")
	hideExplain(config)
	hideEntryFlags(root)
	a.supervisable(agent)
	a.supervisable(router)
}

// group is a command that only has subcommands. cobra would answer a wrong one with the help text and exit code 0.
func (a *app) group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use + " COMMAND", Short: short, Args: cobra.ArbitraryArgs,
		RunE: a.action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.showHelp(cmd)
			}
			return usageError(fmt.Sprintf("%s has no subcommand %q", cmd.CommandPath(), args[0]), a.listOf(cmd, args[0])+didYouMean(args[0], subcommands(cmd))+"see "+cmd.CommandPath()+" --help")
		}),
	}
	c.AddCommand(subs...)
	for _, sub := range subs {
		line, _, _ := strings.Cut(sub.Example, "\n")
		c.Example += line + "\n"
	}
	return c
}

// listOf asks whether the list of a configured server was meant, where the name of one stands in the place of a subcommand; "" if it does not.
func (a *app) listOf(cmd *cobra.Command, word string) string {
	for _, c := range cmd.Commands() {
		if c.Name() != "list" || c.Annotations[ruleKey] != "none" {
			continue
		}
		if set, _, err := a.o.load(); err == nil { // a file that cannot be read names no server
			if _, ok := set.Server(word); ok {
				return "did you mean " + c.CommandPath() + " " + word + "? "
			}
		}
	}
	return ""
}

func subcommands(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

func (a *app) helpFor(args []string) string {
	cmd, _, err := a.root.Find(args)
	if err != nil || cmd == nil {
		cmd = a.root
	}
	return cmd.CommandPath() + " --help"
}

// noArgs is for commands that take none; cobra would call them unknown commands.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, and got %q", cmd.CommandPath(), args[0])
}

func usageError(msg, next string) error {
	return &failure.Error{Kind: failure.Usage, Message: msg, Next: next}
}

func terminal(f *os.File) bool { return term.IsTerminal(f.Fd()) }
