package cli

import (
	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
)

// checkFormat refuses a format that a command does not have, before it does anything.
func (o *Options) checkFormat(cmd *cobra.Command) error {
	if o.Format == output.FormatBrief && cmd.Annotations[briefKey] == "" {
		return failure.UsageError("--format brief is for lists of a server, such as mcphud tools list, and not for "+cmd.CommandPath(), "write --format text, json, jsonl or raw")
	}
	return nil
}
