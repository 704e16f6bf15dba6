package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/lint"
)

// lintFlags are what the section lint takes.
type lintFlags struct {
	clients []string
	knownAs string
}

func (f *lintFlags) register(cmd *cobra.Command) {
	cmd.Flags().Var(&clientNames{&f.clients, lint.Clients()}, "client", "lint: the `CLIENTS` that matter; what only others refuse is left out: "+strings.Join(lint.Clients(), ", "))
	cmd.Flags().StringVar(&f.knownAs, "known-as", "", "lint: `NAME` of the server in clients, which they put before the names of tools (default the server's own)")
}

// clientNames is a flag whose values are of a list; several are divided by commas, or given one by one.
type clientNames struct {
	values  *[]string
	allowed []string
}

func (c *clientNames) String() string {
	if c.values == nil {
		return ""
	}
	return strings.Join(*c.values, ",")
}

func (c *clientNames) Set(s string) error {
	for name := range strings.SplitSeq(s, ",") {
		if !slices.Contains(c.allowed, name) {
			return fmt.Errorf("%q is not one of %s", name, strings.Join(c.allowed, ", "))
		}
		*c.values = append(*c.values, name)
	}
	return nil
}

func (c *clientNames) Type() string { return "strings" }

func (f *lintFlags) make(context.Context, *cli.Link) (check.Section, error) {
	s, err := lint.New(lint.Options{Clients: f.clients, KnownAs: f.knownAs})
	if err != nil {
		return nil, failure.UsageError(err.Error(), "")
	}
	return s, nil
}
