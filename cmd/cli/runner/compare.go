package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/compare"
)

// Comparing is a second target that is asked the same.
type Comparing struct {
	Cmd    *cobra.Command
	Target string
	twice  bool
	Ignore cli.Ignoring
}

// ComparingHelp explains --compare in the help of verbs that have it.
const ComparingHelp = "--compare TARGET asks a second server the same and prints how its answer differs, by JSON pointer: exit code 9 where it does. TARGET is a URL, a NAME of the configs, " +
	"agent:NAME, protocol:VERSION for the same server in another protocol version, or a command line. Where asking twice does no harm (a read-only or idempotent tool, or --twice), " +
	"what two equal calls of the first server differ in does not count. Elsewhere what looks like a clock, an id or a duration is called a possible difference, and counts. " + cli.IgnoringHelp

// Register gives a command the flags.
func (c *Comparing) Register(cmd *cobra.Command) {
	c.Cmd = cmd
	cmd.Flags().StringVar(&c.Target, "compare", "", "ask `TARGET` the same, and print how its answer differs: a URL, NAME, agent:NAME, protocol:VERSION or a command line")
	cmd.Flags().BoolVar(&c.twice, "twice", false, "with --compare, ask twice to learn what varies, also where that may do something twice")
	c.Ignore.Register(cmd.Flags(), "with --compare, ignore")
}

// Asked reports whether there is a second target.
func (c *Comparing) Asked() (bool, error) {
	if c.Target == "" && (c.twice || len(c.Ignore.Places) > 0 || c.Cmd.Flags().Changed("compare")) {
		return false, failure.UsageError("no second target was named", "name one with --compare TARGET")
	}
	return c.Target != "", c.Ignore.Parse()
}

// Second is the configuration of the second target.
func Second(a *cli.App, first config.Server, c *Comparing) (s config.Server, err error) {
	switch kind, name, _ := strings.Cut(c.Target, ":"); {
	case kind == "protocol":
		s = first
		s.Protocol = name
	case kind == "agent":
		s, err = cli.AgentServer(name)
	case config.IsURL(c.Target):
		s, err = a.Options.URLServer(c.Target)
	default:
		words, bad := text.Words(c.Target)
		if bad != nil {
			return s, failure.UsageError("--compare: "+bad.Error(), "quote it as a shell has it")
		}
		if len(words) == 1 {
			s, err = a.Options.Configured(words[0])
		} else {
			s, err = cli.StdioServer(words)
		}
	}
	if err != nil {
		return s, err
	}
	if kind := "protocol:"; !strings.HasPrefix(c.Target, kind) {
		a.Options.Limits(c.Cmd, &s)
	}
	s.NoReconnect = true
	return s, nil
}

// Beside connects to a second server, for as long as f runs. It has a name of its own.
func Beside(ctx context.Context, a *cli.App, l *cli.Link, cfg config.Server, f func(*cli.Link) error) error {
	cfg, err := a.Filled(ctx, cfg)
	if err != nil {
		return err
	}
	for n, name := 2, cfg.Name; ; n++ {
		if _, taken := l.Manager.Server(cfg.Name); !taken {
			break
		}
		cfg.Name = fmt.Sprintf("%s-%d", name, n)
	}
	s, err := l.Manager.Register(cfg)
	if err != nil {
		return err
	}
	second := *l
	second.Session = s
	return a.LoggedIn(ctx, s, func() error {
		if err := s.Connect(ctx); err != nil {
			return err
		}
		return f(&second)
	})
}

// ComparedAnswer is one of two answers, as it is printed.
type ComparedAnswer struct {
	Server   string  `json:"server"`
	Protocol string  `json:"protocol"`
	Millis   float64 `json:"ms"`
	Bytes    int     `json:"bytes"`
	Failed   bool    `json:"failed"`
}

// AnswerOf is an answer as a comparison prints it.
func AnswerOf(a calls.Answer) ComparedAnswer {
	return ComparedAnswer{a.Server, a.Version, float64(a.Took.Microseconds()) / 1000, len(a.Frame), a.Failed()}
}

// ComparedTargets is how the answers of two servers differ, as it is printed.
type ComparedTargets struct {
	Same        bool                 `json:"same"`
	Real        int                  `json:"real"`
	Guesses     int                  `json:"guesses"` // differences that may be noise, and count
	Expected    int                  `json:"expected"`
	Note        string               `json:"note,omitempty"`
	Before      ComparedAnswer       `json:"before"`
	After       ComparedAnswer       `json:"after"`
	Twice       bool                 `json:"twice"` // asked twice to learn what varies
	Differences []compare.Difference `json:"differences"`
	More        int                  `json:"more,omitempty"` // that are not listed
}

// Against makes a call that was prepared at both targets, and prints how the answers differ.
func Against(ctx context.Context, a *cli.App, l *cli.Link, c calls.Call, second *Comparing) error {
	req, err := c.Request(l.Name())
	if err != nil {
		return err
	}
	return Compared(ctx, a, l, req, second)
}

// Compared asks both targets the same, and prints how the answers differ.
func Compared(ctx context.Context, a *cli.App, l *cli.Link, req calls.Request, c *Comparing) error {
	cfg, err := Second(a, l.Config(), c)
	if err != nil {
		return err
	}
	return Beside(ctx, a, l, cfg, func(second *cli.Link) error {
		other := Of(second)
		if err := other.Confirm(ctx, req); err != nil {
			return err
		}
		out, frames, r, err := both(ctx, Of(l), other, req, c)
		if err != nil {
			return err
		}
		raw, err := output.Marshal(out)
		if err != nil {
			return err
		}
		if err := l.Print(output.Answer{Result: raw, Frames: frames, Text: func(t *output.Text) {
			t.Table(l.Out.Width, [][]string{answerRow("before", out.Before), answerRow("after", out.After)})
			t.Block(r.Summary())
			PrintDifferences(t, r)
		}}); err != nil || r.Same() {
			return err
		}
		next := ""
		if r.Real() == 0 {
			next = "see the differences; leave out what may vary: " + cli.Allow(r)
			if !out.Twice {
				next += ", or learn it with --twice"
			}
		}
		return &failure.Error{Kind: failure.Assertion, Stage: req.Method(), Message: "the answers differ: " + r.Summary(), Next: next}
	})
}

func answerRow(name string, a ComparedAnswer) []string {
	return []string{name, a.Server, a.Protocol, text.Duration(time.Duration(a.Millis * float64(time.Millisecond))), text.Bytes(a.Bytes)}
}

// both asks two servers the same, and where it may, or is told to, the first one twice.
func both(ctx context.Context, first, second *calls.Runner, req calls.Request, c *Comparing) (out ComparedTargets, frames [][]byte, r compare.Result, err error) {
	before, err := first.Ask(ctx, req)
	if err != nil {
		return out, nil, r, err
	}
	after, err := second.Ask(ctx, req)
	if err != nil {
		return out, nil, r, err
	}
	r, twice, err := c.Ignore.Compared(ctx, before, after, c.twice, first.NoiseProbe(ctx, req, before, c.twice))
	if err != nil {
		return out, nil, r, err
	}
	return ComparedTargets{
		r.Same(), r.Real(), r.Guesses(), r.Noise(), r.Note, AnswerOf(before), AnswerOf(after), twice, r.Differences, r.More,
	}, [][]byte{before.Frame, after.Frame}, r, nil
}

// PrintDifferences writes how two values differ, a line for each.
func PrintDifferences(t *output.Text, r compare.Result) {
	for _, d := range r.Differences {
		line := d.String()
		switch d.Class {
		case compare.Real:
		case compare.Guess:
			line += " (guess: " + d.Reason + ")"
		default:
			line += " (" + d.Reason + ")"
		}
		t.Block(line)
	}
	if r.More > 0 {
		t.Block(fmt.Sprintf("… and %d more", r.More))
	}
}
