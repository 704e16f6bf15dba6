// Package cli is what the verbs of the command line share: flags, the server that is named, the connection to it, output and exit codes.
package cli

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/auth"
	"github.com/mcphud/mcphud/session/auth/consent"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/config/userconfig"
	"github.com/mcphud/mcphud/session/offer/pending"
	"github.com/mcphud/mcphud/tui/safe"
)

// Standard is stdin, stdout and stderr of the process. Commands write to nothing else.
type Standard struct {
	In, Out, Err *os.File
}

// App is one run of the program.
type App struct {
	Standard
	Options Options
	Root    *cobra.Command
	Tree    func() *cobra.Command // makes all commands, whatever the command line is about
	Kill    *Children             // killed by a second interrupt
	Fail    error                 // what the command ended with
	asked   *pending.Queue        // what servers ask; nil before there are sessions
	First   pending.Rule          // looks at that before --answer does; nil for none

	Login  *auth.Options // of servers over HTTP; nil for none
	Person auth.Person   // logs in where a command needs it; nil for nobody

	NoLogin bool // nobody is asked to log in, whoever is there

	Waiting string // the id of the call of a kept session that the command goes on with; "" for none

	Tracing bool // the command shows what other processes recorded of its calls

	user    *userconfig.Config // what config.yaml says; see preferences
	consent *consent.Policy    // see Consent

	Sent *Redactor // what no error repeats

	keeps bool // the history has the calls of this run

	helping, helpAll bool // --help or --help-all was given
}

// Action adapts a command's body to cobra. Its error is kept in a.Fail: cobra and fang see only their own.
func (a *App) Action(f func(ctx context.Context, cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		a.prefer(cmd)
		if a.Fail = a.Options.checkFormat(cmd); a.Fail == nil {
			a.Fail = f(cmd.Context(), cmd, args)
		}
		return nil
	}
}

// Group is a command that only has subcommands. cobra would answer a wrong one with the help text and exit code 0.
func (a *App) Group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use + " COMMAND", Short: short, Args: cobra.ArbitraryArgs,
		RunE: a.Action(func(_ context.Context, cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.ShowHelp(cmd)
			}
			return failure.UsageError(fmt.Sprintf("%s has no subcommand %q", cmd.CommandPath(), args[0]), a.listOf(cmd, args[0])+output.DidYouMean(args[0], Subcommands(cmd))+"see "+cmd.CommandPath()+" --help")
		}),
	}
	c.AddCommand(subs...)
	for _, sub := range subs {
		if line, _, _ := strings.Cut(sub.Example, "\n"); line != "" { // a hidden one has none
			c.Example += line + "\n"
		}
	}
	return c
}

// listOf asks whether the list of a configured server was meant, where the name of one stands in the place of a subcommand; "" if it does not.
func (a *App) listOf(cmd *cobra.Command, word string) string {
	for _, c := range cmd.Commands() {
		if c.Name() != "list" || c.Annotations[RuleKey] != "none" {
			continue
		}
		if set, _, err := a.Options.Load(); err == nil { // a file that cannot be read names no server
			if _, ok := set.Server(word); ok {
				return "did you mean " + c.CommandPath() + " " + word + "? "
			}
		}
	}
	return ""
}

// Subcommands are the names of the commands below one that its help lists.
func Subcommands(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// NoArgs is for commands that take none; cobra would call them unknown commands.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%s takes no arguments, and got %q", cmd.CommandPath(), args[0])
}

// Note writes a line to stderr.
func (a *App) Note(text string) {
	if output.Terminal(a.Err) {
		text = safe.Line(text, 0)
	}
	_, _ = fmt.Fprintln(a.Err, strings.ReplaceAll(text, "\n", " "))
}

// Issues is where crashes are reported.
const Issues = "https://github.com/mcphud/mcphud/issues"
