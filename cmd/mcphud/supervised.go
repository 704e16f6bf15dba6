package main

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/proxy/stack"
)

// supervisedFlag is given to servers that are part of a stack.
var supervisedFlag = strings.TrimPrefix(stack.Supervised, "--")

// supervisable lets a server be part of a stack: with the hidden flag --supervised the process ends as soon as its standard
// input does, which is a pipe that only the supervisor holds. It ends at once: those who waited for an answer are gone, too.
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
	_, _ = io.Copy(io.Discard, in) // that it ended is what counts, not how
	os.Exit(exitInterrupted)
}
