// Package sessions has the verbs about sessions that outlive the command that opened them: a process of this program keeps the server of
// each, see package kept.
package sessions

import (
	"slices"

	"github.com/mcphud/mcphud/cmd/cli"
)

// app is a run of the program, with the verbs of this family.
type app struct{ *cli.App }

// targets are the flags that say which server a session is of.
var targets = []string{
	"url", "agent", "server", "config", "set", "protocol", "env", "cwd", "sandbox", "root", "transport", "header", "connect-timeout", "max-frame",
}

// Verbs are those of this family.
func Verbs(of *cli.App) []cli.Verb {
	a := &app{of}
	return []cli.Verb{
		{Name: "session", Make: a.sessionCommand, Inherits: []cli.Inherit{{Of: "open", Keep: slices.Concat(targets, cli.NetworkFlags)}, {Of: "*"}, {}}},
		{Name: "answer", Make: a.answerCommand, Judged: true, Inherits: []cli.Inherit{{Keep: []string{"timeout", "max-timeout", "journal", "journal-raw", "no-history"}}}},
	}
}
