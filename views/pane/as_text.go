package pane

import (
	"slices"

	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/client/persona"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/views/shell"
)

// Invoke is an mcphud subcommand without flags.
func Invoke(verb string, operands ...string) shell.Invocation {
	return shell.Invocation{Verb: verb, Operands: operands}
}

// WithMeta adds what goes with every request to s, and as whom it is made.
func WithMeta(s *session.Session, i shell.Invocation) shell.Invocation {
	for _, word := range session.MetaWords(s.Meta()) {
		i.Flags = append(slices.Clip(i.Flags), "--meta", word)
	}
	if p, ok := persona.Of(s.Presented()); ok {
		i.Flags = append(slices.Clip(i.Flags), "--as", p.Name)
	}
	return i
}

// CopyCommand copies the mcphud command that does the same on a server.
func CopyCommand(srv config.Server, i shell.Invocation) tui.CopyFunc {
	return func() (string, error) { return i.On(srv) }
}
