package check

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	checkload "github.com/mcphud/mcphud/session/check/bench"
)

// loadFlags are what the section load takes.
type loadFlags struct {
	rate float64
	long time.Duration
	slos []string
}

func (f *loadFlags) register(cmd *cobra.Command) {
	cmd.Flags().Float64Var(&f.rate, "load-rate", checkload.DefaultRate, "load: `N` requests are due in each second")
	cmd.Flags().DurationVar(&f.long, "load-for", checkload.DefaultFor, "load: for how long they are")
	cmd.Flags().StringArrayVar(&f.slos, "slo", nil, "load: a `THRESHOLD` such as p99<200ms, errors<1% or rate>18/s (repeatable)")
}

func (f *loadFlags) make(_ context.Context, l *cli.Link) (check.Section, error) {
	slos, err := objectives(f.slos)
	if err != nil {
		return nil, err
	}
	if err := (checkload.Plan{Rate: f.rate, For: f.long}).Check(); err != nil {
		return nil, err
	}
	return &checkload.Section{Options: l.How, Rate: f.rate, For: f.long, SLOs: slos, Tool: "mcphud " + cli.Version()}, nil
}

// objectives reads the thresholds of flags.
func objectives(texts []string) (all []checkload.Objective, err error) {
	for _, text := range texts {
		o, err := checkload.ParseObjective(text)
		if err != nil {
			return nil, &failure.Error{Kind: failure.Usage, Message: fmt.Sprintf("--slo %v", err), Err: err}
		}
		all = append(all, o)
	}
	return all, nil
}
