package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session"
)

// runRoot is mcphud without a subcommand.
func (a *app) runRoot(_ context.Context, cmd *cobra.Command, args []string) error {
	own, _, dash := splitArgs(cmd, args)
	if len(own) > 0 && !strings.Contains(own[0], "://") {
		e := &session.Error{Kind: session.Usage, Message: fmt.Sprintf("there is no command %q", own[0]), Next: "see mcphud --help; a server is named with -- COMMAND ARGS…, a URL, or --server NAME"}
		if s := similar(own[0], subcommands(cmd)); len(s) > 0 {
			e.Next = "did you mean " + strings.Join(s, " or ") + "? " + e.Next
		}
		return e
	}
	_ = dash
	return cmd.Help()
}
