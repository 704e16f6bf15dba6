// Package config has the verbs about mcphud's own files: what is set, by what, and whether it is right.
package config

import "github.com/mcphud/mcphud/cmd/cli"

// app is a run of the program, with the verbs of this family.
type app struct{ *cli.App }

// Verbs are those of this family.
func Verbs(of *cli.App) []cli.Verb {
	return []cli.Verb{
		{Name: "config", Make: (&app{of}).configCommand, Silent: []string{"edit"}, Inherits: []cli.Inherit{{}, {Of: "*", Keep: []string{"config"}}, {Of: "*/*"}}},
	}
}
