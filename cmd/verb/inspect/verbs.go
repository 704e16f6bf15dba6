// Package inspect is mcphud as the official MCP Inspector's command line, mcphud --cli.
package inspect

import "github.com/mcphud/mcphud/cmd/cli"

// app is a run of the program, with the one verb of this family, which reads its own command line.
type app struct{ *cli.App }
