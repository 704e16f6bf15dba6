// Package check has the verbs that judge: servers, connections, conformance, speed and recorded traffic.
package check

import "github.com/mcphud/mcphud/cmd/cli"

// app is a run of the program, with the verbs of this family.
type app struct{ *cli.App }

// Verbs are those of this family.
func Verbs(of *cli.App) []cli.Verb {
	a := &app{of}
	return []cli.Verb{
		{Name: "check", Make: a.examineCommand, Judged: true},
		{Name: "bench", Make: a.benchCommand, Client: true, Judged: true},
		{Name: "doctor", Make: a.doctorCommand, Judged: true},
		{Name: "explain", Make: a.expertCommand, Inherits: []cli.Inherit{{}}},
		{Name: "conformance", Make: a.conformanceCommand},
	}
}
