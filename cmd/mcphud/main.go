// Command mcphud inspects and drives MCP servers: a terminal UI, and the same session layer headless for scripts.
//
// Data goes to stdout and nothing else does; logs and progress go to stderr. Exit codes are in cmd/cli/exit.go.
package main

import (
	"os"

	"github.com/mcphud/mcphud/agentsrv/tools/sandbox"
	"github.com/mcphud/mcphud/cmd/cli"
)

func main() {
	if sandbox.IsWorker(os.Args) { // before anything else: this process is a sandbox worker then
		sandbox.WorkerMain()
		return
	}
	os.Exit(run(os.Args[1:], cli.Standard{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
