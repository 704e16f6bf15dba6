package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/proxy/stack"
)

// hideInherited hides flags that all commands share from a command. They are still known, so that whoever gives one is told why it means nothing.
func hideInherited(c *cobra.Command, hide func(name string) bool) {
	c.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if !hide(f.Name) || c.Flags().Lookup(f.Name) != nil {
			return
		}
		own := *f
		own.Hidden = true
		c.Flags().AddFlag(&own)
	})
}

// HiddenFlag is a flag that was given though the command does not have it, "" if there is none.
func HiddenFlag(cmd *cobra.Command) (name string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Hidden && f.Name != supervisedFlag {
			name = f.Name
		}
	})
	return name
}

// supervisedFlag marks processes of a stack.
var supervisedFlag = strings.TrimPrefix(stack.Supervised, "--")

// Supervised reports whether this process is part of a stack.
func Supervised(f *pflag.FlagSet) bool {
	fl := f.Lookup(supervisedFlag)
	return fl != nil && fl.Value.String() == "true"
}

// followInput ends the process when in ends.
func followInput(in io.Reader) {
	_, _ = io.Copy(io.Discard, in) // until an end or an error
	os.Exit(ExitInterrupted)
}

// supervisable adds the hidden flag --supervised to a command: the process exits as soon as its standard input ends, which is a
// pipe that only the supervisor holds. It exits without draining, since its clients are gone with the supervisor.
func (a *App) supervisable(c *cobra.Command) {
	f := c.Flags()
	f.Bool(supervisedFlag, false, "end when the standard input does")
	f.Lookup(supervisedFlag).Hidden = true
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if Supervised(cmd.Flags()) {
			go followInput(a.In) // for as long as the process lives
		}
		return run(cmd, args)
	}
}
