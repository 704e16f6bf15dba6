// Package servers has the verbs about the servers of the configs: listing, changing, finding, opening.
package servers

import "github.com/mcphud/mcphud/cmd/cli"

// app is a run of the program, with the verbs of this family.
type app struct{ *cli.App }

// Verbs are those of this family.
func Verbs(of *cli.App) []cli.Verb {
	a := &app{of}
	return []cli.Verb{
		{Name: "servers", Make: a.serversCommand, Inherits: []cli.Inherit{
			{Of: "list", All: true}, {Of: "add", Keep: entryFlags}, {Of: "edit", Keep: entryFlags}, {Of: "templates"}, {Of: "*", Keep: []string{"config"}},
		}},
		{Name: "status", Make: a.statusCommand, Judged: true, Inherits: []cli.Inherit{{Keep: cli.FleetFlags}}},
		{Name: "open", Make: a.openCommand, Screen: true, Inherits: []cli.Inherit{{Keep: []string{"session", "linear", "set", "proxy", "ca", "sandbox"}}}},
		{Name: "registry", Make: a.registryCommand, Inherits: []cli.Inherit{{Of: "*", Keep: []string{"proxy", "ca"}}}},
	}
}
