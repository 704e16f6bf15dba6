package check

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/cost"
)

// costFlags are what the section cost takes.
type costFlags struct{ budget int }

func (f *costFlags) register(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.budget, "budget", 0, "cost: `TOKENS` that all tools may take together; more is an error (0: any number)")
}

func (f *costFlags) section() check.Section { return &cost.Section{Budget: f.budget} }

func (f *costFlags) make(context.Context, *cli.Link) (check.Section, error) { return f.section(), nil }
