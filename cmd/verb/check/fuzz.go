package check

import (
	"context"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/fuzz"
	"github.com/mcphud/mcphud/views/shell"
)

// fuzzing is the flags of the section fuzz.
type fuzzing struct {
	seed     uint64
	runs     int
	limit    time.Duration
	each     time.Duration
	failures string
	only     []string
	replay   bool
}

func (f *fuzzing) register(cmd *cobra.Command) {
	cmd.Flags().Uint64Var(&f.seed, "seed", 0, "fuzz: make the calls that a run with this seed made; 0 picks one, which the report names")
	cmd.Flags().StringSliceVar(&f.only, "only", nil, "fuzz: call nothing but these tools, prompts, templates and resources (`NAMES`)")
	cmd.Flags().IntVar(&f.runs, "runs", 100, "fuzz: most calls of each tool, prompt and template")
	cmd.Flags().DurationVar(&f.limit, "for", time.Minute, "fuzz: end after this time")
	cmd.Flags().DurationVar(&f.each, "call-timeout", 5*time.Second, "fuzz: how long one call may take")
	cmd.Flags().StringVar(&f.failures, "failures", ".mcphud/fuzz", "fuzz: `FOLDER` that keeps what failed, \"\" for none")
	cmd.Flags().BoolVar(&f.replay, "replay", false, "fuzz: try what is kept again, and say whether it is fixed")
}

func (f *fuzzing) make(_ context.Context, l *cli.Link) (check.Section, error) {
	for f.seed == 0 {
		f.seed = rand.Uint64N(1_000_000)
	}
	cfg := l.Config()
	return fuzz.Section(fuzz.Options{
		Seed: f.seed, Runs: f.runs, For: f.limit, Timeout: f.each, Folder: f.failures, Only: f.only, Replay: f.replay, Journal: l.Manager.Journal(),
		Repro: func(c fuzz.Call) string {
			line, err := callAgain(c).On(cfg)
			if err != nil {
				return ""
			}
			return line
		},
	}), nil
}

// callAgain is the command that makes a call of a fuzzed server once more.
func callAgain(c fuzz.Call) shell.Invocation {
	switch {
	// The command for calls sends an object where none is given, and takes a name with a dash for a flag.
	case c.Kind != check.OfTool, c.Arguments == nil, strings.HasPrefix(c.Name, "-"):
		return shell.Invocation{Verb: "raw", Operands: []string{c.Method, string(c.Params)}}
	case c.File != "":
		return shell.Invocation{Verb: "tools call", Operands: []string{c.Name}, Flags: []string{"--args", "@" + c.File}}
	case string(c.Arguments) == "{}":
		return shell.Invocation{Verb: "tools call", Operands: []string{c.Name}}
	}
	return shell.Invocation{Verb: "tools call", Operands: []string{c.Name}, Flags: []string{"--args", string(c.Arguments)}}
}
