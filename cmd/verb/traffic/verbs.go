// Package traffic has the verbs about what is said on the wire: recording, watching, following a call.
package traffic

import (
	"slices"

	"github.com/mcphud/mcphud/cmd/cli"
)

// app is a run of the program, with the verbs of this family.
type app struct{ *cli.App }

// Verbs are those of this family.
func Verbs(of *cli.App) []cli.Verb {
	a := &app{of}
	return []cli.Verb{
		{Name: "journal", Make: a.journalCommand, Silent: []string{"redact", "cut", "merge", "export"}, Inherits: []cli.Inherit{{Of: replaying, All: true}, {}, {Of: "*"}}},
		{Name: "trace", Make: a.traceCommand, Judged: true},
		{Name: "tap", Make: a.tapCommand, Screen: true, Inherits: []cli.Inherit{
			{Keep: slices.Concat([]string{"journal", "journal-raw", "linear"}, cli.NetworkFlags)}, {Of: "*"},
		}},
		{Name: "ps", Make: a.psCommand, Inherits: []cli.Inherit{{}}},
	}
}
