package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/traffic/filter"
)

// A FilterFlag is --filter, which every command has that selects entries of a journal.
type FilterFlag struct {
	Text   string
	Filter *filter.Filter
}

// AddFilter gives a command the flag that selects entries of traffic.
func AddFilter(flags *pflag.FlagSet) *FilterFlag {
	f := &FilterFlag{}
	flags.StringVar(&f.Text, "filter", "", "only entries that match this `EXPR`, such as 'tool:echo status:error >100ms' (see mcphud help traffic)")
	return f
}

// Parse is called before anything else is done.
func (f *FilterFlag) Parse() error {
	to, err := filter.Parse(f.Text)
	var bad *filter.SyntaxError
	if errors.As(err, &bad) {
		return failure.UsageError(fmt.Sprintf("--filter: column %d: %s", bad.Col, bad.Message), "the expression is "+f.Text)
	}
	f.Filter = to
	return err
}
