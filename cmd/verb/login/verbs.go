// Package login has the verbs about logins at servers.
package login

import "github.com/mcphud/mcphud/cmd/cli"

// app is a run of the program, with the verbs of this family.
type app struct{ *cli.App }

// Verbs are those of this family.
func Verbs(of *cli.App) []cli.Verb {
	return []cli.Verb{{Name: "auth", Make: (&app{of}).authCommand}}
}
