// Package serve has the verbs that are servers: agent, router, a stack of both, a mock, the demo. Package options has their settings.
package serve

import "github.com/mcphud/mcphud/cmd/cli"

// app is a run of the program, with the verbs of this family.
type app struct{ *cli.App }

// Verbs are those of this family.
func Verbs(of *cli.App) []cli.Verb {
	a := &app{of}
	return []cli.Verb{
		{Name: "agent", Make: a.agentCommand, Child: true, Silent: []string{""}, Inherits: []cli.Inherit{{}}},
		{Name: "router", Make: a.routerCommand, Child: true, Silent: []string{""}, Inherits: []cli.Inherit{{}}},
		{Name: "up", Make: a.upCommand, Inherits: []cli.Inherit{{}}},
		{Name: "mock", Make: a.mockCommand, Silent: []string{""}, Inherits: []cli.Inherit{{}}},
		{Name: "demo", Make: a.demoCommand, Screen: true, Silent: []string{""}, Inherits: []cli.Inherit{{Keep: []string{
			"connect-timeout", "header", "journal", "journal-raw", "linear", "log-level", "max-frame", "max-timeout", "protocol", "read-only", "root", "timeout", "yes",
		}}}},
	}
}
