package views

import (
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/shell"
)

// invoke is an mcphud subcommand without flags.
func invoke(verb string, operands ...string) shell.Invocation {
	return shell.Invocation{Verb: verb, Operands: operands}
}

// copyCommand copies the mcphud command that does the same on a server.
func copyCommand(srv config.Server, i shell.Invocation) tui.CopyFunc {
	return func() (string, error) { return i.On(srv) }
}
