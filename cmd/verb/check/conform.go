package check

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/conform"
	"github.com/mcphud/mcphud/views/shell"
)

// conformFlags are what the section conform takes.
type conformFlags struct {
	rules []string
	suite string
}

func (f *conformFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.suite, "suite", "", "conform: run the official suite as well, from this `FOLDER`; auto looks for node_modules here and above")
	cmd.Flags().StringSliceVar(&f.rules, "rule", nil, "conform: try only rules with these ids; * stands for anything (`GLOBS`)")
}

func (f *conformFlags) make(_ context.Context, l *cli.Link) (check.Section, error) {
	cfg := l.Config()
	o := conform.Options{Rules: f.rules, Repro: func(revision, method, params string) string {
		again := cfg
		again.Protocol = revision
		call := shell.Invocation{Verb: "raw", Operands: []string{method}}
		if params != "" {
			call.Operands = append(call.Operands, params)
		}
		line, err := call.On(again)
		if err != nil {
			return ""
		}
		return line
	}}
	if f.suite != "" {
		suite, err := conform.FindSuite(f.suite)
		if err != nil {
			return nil, err
		}
		o.Suite = suite
	}
	s, err := conform.New(o)
	if err != nil {
		return nil, failure.UsageError(err.Error(), "see mcphud help check")
	}
	return s, nil
}
