package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/mcphud/mcphud/session/traffic/filter"
)

// A filterFlag is --filter, which every command has that selects entries of a journal.
type filterFlag struct {
	text   string
	filter *filter.Filter
}

func addFilter(flags *pflag.FlagSet) *filterFlag {
	f := &filterFlag{}
	flags.StringVar(&f.text, "filter", "", "only entries that match this `EXPR`, such as 'tool:echo status:error >100ms' (see mcphud help traffic)")
	return f
}

// parse is called before anything else is done.
func (f *filterFlag) parse() error {
	to, err := filter.Parse(f.text)
	var bad *filter.SyntaxError
	if errors.As(err, &bad) {
		return usageError(fmt.Sprintf("--filter: column %d: %s", bad.Col, bad.Message), "the expression is "+f.text)
	}
	f.filter = to
	return err
}
