// Package call has the verbs of a client: what a server offers, one call, and calls that are kept.
package call

import "github.com/mcphud/mcphud/cmd/cli"

// app is a run of the program, with the verbs of this family.
type app struct{ *cli.App }

// Verbs are those of this family.
func Verbs(of *cli.App) []cli.Verb {
	a := &app{of}
	return []cli.Verb{
		{Name: "info", Make: a.infoCommand, Client: true, Judged: true},
		{Name: "tools", Make: a.toolsCommand, Client: true, Judged: true, Guarded: []string{"list", "call"}},
		{Name: "resources", Make: a.resourcesCommand, Client: true, Judged: true},
		{Name: "prompts", Make: a.promptsCommand, Client: true, Judged: true},
		{Name: "skills", Make: a.skillsCommand, Client: true, Judged: true},
		{Name: "tasks", Make: a.tasksCommand, Client: true, Judged: true},
		{Name: "complete", Make: a.completeCommand, Client: true, Judged: true},
		{Name: "ping", Make: a.pingCommand, Client: true, Judged: true},
		{Name: "raw", Make: a.rawCommand, Client: true, Judged: true, Guarded: []string{""}},
		{Name: "history", Make: a.historyCommand},
		{Name: "run", Make: a.runCommand},
	}
}
