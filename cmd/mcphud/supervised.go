package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/proxy/stack"
)

// supervisedFlag marks processes of a stack.
var supervisedFlag = strings.TrimPrefix(stack.Supervised, "--")

// supervisable adds the hidden flag --supervised to a command: the process exits as soon as its standard input ends, which is a
// pipe that only the supervisor holds. It exits without draining, since its clients are gone with the supervisor.
func (a *app) supervisable(c *cobra.Command) {
	f := c.Flags()
	f.Bool(supervisedFlag, false, "end when the standard input does")
	f.Lookup(supervisedFlag).Hidden = true
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if supervised(cmd.Flags()) {
			go followInput(a.in) // for as long as the process lives
		}
		return run(cmd, args)
	}
}

// supervised reports whether this process is part of a stack.
func supervised(f *pflag.FlagSet) bool {
	fl := f.Lookup(supervisedFlag)
	return fl != nil && fl.Value.String() == "true"
}

// followInput ends the process when in ends.
func followInput(in io.Reader) {
	_, _ = io.Copy(io.Discard, in) // until an end or an error
	os.Exit(exitInterrupted)
}
