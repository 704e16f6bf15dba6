package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/report"
	"github.com/mcphud/mcphud/session"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	reports "github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/session/config"
)

// Checking is the command's flags.
type Checking struct {
	reports   report.Flags
	allow     []string
	listRules bool
	every     bool
	before    []check.Offer // with every: of the servers that were examined
	lint      lintFlags
	cost      costFlags
	contract  contractFlags
	safety    safetyFlags
	fuzz      fuzzing
	conform   conformFlags
	load      loadFlags
	cases     casesFlags
}

// checkSection is one section as the command line knows it.
type checkSection struct {
	name  string
	usual bool // it only reads what is listed, and runs without being named
	make  func(ctx context.Context, l *cli.Link) (check.Section, error)
}

// sections are all sections, in the order in which they run.
func (c *Checking) sections() []checkSection {
	return []checkSection{
		{"lint", true, c.lint.make},
		{"cost", true, c.cost.make},
		{"contract", true, c.contract.make},
		{"safety", true, c.safety.make},
		{"conform", false, c.conform.make},
		{"fuzz", false, c.fuzz.make},
		{"load", false, c.load.make},
		{casesName, false, c.cases.make},
	}
}

// allSections is the word for all of them.
const allSections = "all"

func (a *app) examineCommand() *cobra.Command {
	c := &Checking{cases: casesFlags{a: a}}
	cmd := &cobra.Command{
		Use: "check [SECTION…] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Say whether a server is good", Annotations: cli.Rule("any"),
		Long: "Examines a server by rules that have an id, a severity, a reason and a fix. Without a SECTION those run that only read what the server lists; \"" + allSections + "\" means all of them. " +
			"Sections: " + strings.Join(c.Names(), ", ") + ".\n\nExit code 9 where a finding is as severe as --fail-on says, or more. See mcphud help check.",
		Example:   "  mcphud check -- node server.js\n  mcphud check --report junit=check.xml --report sarif=check.sarif -- node server.js\n  mcphud check --list-rules cost\n  mcphud check contract --accept -- node server.js\n  mcphud check contract --evidence session.jsonl -- node server.js\n  mcphud check cases",
		Args:      cobra.ArbitraryArgs,
		ValidArgs: append(c.Names(), allSections),
	}
	run := a.ServerCommand(func(ctx context.Context, l *cli.Link, words []string) error {
		return a.examine(ctx, l, c, words)
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var err error
		c.reports.Several = c.every
		if c.listRules {
			err = a.Action(func(_ context.Context, cmd *cobra.Command, words []string) error {
				if err := a.Options.Check(cmd); err != nil {
					return err
				}
				return report.ListRules(a.App, report.EverySection(), words)
			})(cmd, args)
		} else if wrong := cmp.Or(a.noSection(cmd, args, c.Names()), c.reports.Prepare(&a.Options)); wrong != nil {
			err = a.Action(func(context.Context, *cobra.Command, []string) error { return wrong })(cmd, args)
		} else if c.every {
			err = a.Action(func(ctx context.Context, cmd *cobra.Command, words []string) error {
				return a.examineAll(ctx, cmd, c, words)
			})(cmd, args)
		} else if c.cases.alone(cmd, args) {
			err = a.Action(func(ctx context.Context, cmd *cobra.Command, _ []string) error { return a.examineCases(ctx, cmd, c) })(cmd, args)
		} else {
			began := time.Now()
			err = run(cmd, args)
			c.reports.Unreachable(a.App, began)
		}
		return err
	}
	c.reports.Register(cmd)
	c.lint.register(cmd)
	c.cost.register(cmd)
	c.contract.register(cmd)
	c.safety.register(cmd)
	c.safety.lock = &c.contract
	cmd.Flags().BoolVar(&c.every, "all", false, "examine every server of the configs that is enabled and trusted")
	cmd.Flags().BoolVar(&c.listRules, "list-rules", false, "list the rules, or those of a section; explain the one that is named")
	c.conform.register(cmd)
	cmd.Flags().StringSliceVar(&c.allow, "allow", nil, "tools that may be called although they are not read-only; * for all (`NAMES`)")
	c.fuzz.register(cmd)
	c.load.register(cmd)
	c.cases.register(cmd)
	return cmd
}

// Names are the names of the sections.
func (c *Checking) Names() (out []string) {
	for _, s := range c.sections() {
		out = append(out, s.name)
	}
	return out
}

// noSection is the error of a word that names no section, before a server is started. A URL, or a name of the configs, may stand for the
// server.
func (a *app) noSection(cmd *cobra.Command, args, known []string) error {
	words, _, dash := cli.SplitArgs(cmd, args)
	named := dash || a.Options.Named()
	for _, w := range words {
		if !named && config.IsURL(w) {
			named = true
			continue
		}
		if url := flags.BareURL(w); url != "" {
			return failure.UsageError(fmt.Sprintf("there is no section %q", w), "did you mean "+url+"? sections are "+strings.Join(known, ", ")+", and "+allSections)
		}
		if w == allSections || slices.Contains(known, w) {
			continue
		}
		names := slices.Clone(known)
		if set, _, err := a.Options.Load(); err == nil { // a file that cannot be read names no server
			if _, ok := set.Server(w); ok && !named {
				named = true
				continue
			}
			names = output.Union(names, cli.ServerNames(set))
		}
		return failure.UsageError(fmt.Sprintf("there is no section %q, and no server of that name", w), output.DidYouMean(w, names)+strings.Join(known, ", ")+" are sections, and "+allSections)
	}
	return nil
}

// chosen are the sections that words name.
func (c *Checking) chosen(ctx context.Context, l *cli.Link, words []string) (out []check.Section, err error) {
	for _, s := range c.sections() {
		if len(words) == 0 && !s.usual || len(words) > 0 && !slices.Contains(words, s.name) && !slices.Contains(words, allSections) {
			continue
		}
		section, err := s.make(ctx, l)
		if errors.Is(err, errNotHere) && (c.every || !slices.Contains(words, s.name)) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, section)
	}
	return out, nil
}

// look examines a connected server. There is a report where nothing but an interrupt was in the way.
func (a *app) look(ctx context.Context, l *cli.Link, c *Checking, words []string) (*check.Report, reports.Options, error) {
	sections, err := c.chosen(ctx, l, words)
	if err != nil {
		return nil, reports.Options{}, err
	}
	offer, err := check.Take(ctx, l.Session)
	if err != nil && ctx.Err() == nil {
		return nil, reports.Options{}, err
	}
	if !c.reports.Verbose { // a line for each of thousands of calls hides what is found
		l.Side.Deafen()
	}
	subject := &check.Subject{Offer: offer, Session: l.Session, Allow: c.allow, Again: func(ctx context.Context, change func(*config.Server)) (*session.Session, func(), error) {
		return again(ctx, l, change)
	}}
	if subject.Others, err = c.safety.others(ctx, a, l); err != nil && ctx.Err() == nil {
		return nil, reports.Options{}, err
	}
	if c.every { // a client has them all: of two that clash the later one has the finding
		subject.Others = slices.Concat(subject.Others, c.before)
		c.before = append(c.before, offer)
	}
	rep, interrupted := check.Run(ctx, subject, sections, report.CheckTool(), report.Watch(l))
	l.Side.Finish()
	if left := uncalled(rep); left > 0 {
		a.Note(fmt.Sprintf("mcphud: fuzz called nothing: none of %s is marked as read-only · --allow NAMES says which may be called, --allow '*' all", text.Count(left, "tool", "tools")))
	}
	return rep, c.reports.Options(sections, cmp.Or(c.contract.lock, report.FindLock(".")), l.Config().Source.File), interrupted
}

// uncalled is how many tools the section fuzz left out, where it called nothing at all.
func uncalled(rep *check.Report) int {
	for _, s := range rep.Sections {
		var f struct {
			Calls int `json:"calls"`
			Left  int `json:"not_allowed"`
		}
		if s.Name == "fuzz" && json.Unmarshal(s.Figures, &f) == nil && f.Calls == 0 {
			return f.Left
		}
	}
	return 0
}

func (a *app) examine(ctx context.Context, l *cli.Link, c *Checking, words []string) error {
	rep, o, bad := a.look(ctx, l, c, words)
	if rep == nil {
		return bad
	}
	c.reports.Written = true
	c.reports.Judge(a.App, rep, time.Now())
	unwritten := c.reports.Keep(a.App, rep)
	if err := errors.Join(unwritten, c.reports.Write(l.Out, reports.Of{Report: rep, Options: o})); err != nil {
		return err
	}
	return cmp.Or(bad, rep.Own(), c.reports.Verdict(l.Name(), rep.Counts, o))
}

// again connects to the server once more.
func again(ctx context.Context, l *cli.Link, change func(*config.Server)) (*session.Session, func(), error) {
	cfg := l.Config()
	if change != nil {
		change(&cfg)
	}
	name := cfg.Name
	for n := 2; ; n++ {
		if _, taken := l.Manager.Server(cfg.Name); !taken {
			break
		}
		cfg.Name = fmt.Sprintf("%s-%d", name, n)
	}
	s, err := l.Manager.Register(cfg)
	if err != nil {
		return nil, nil, err
	}
	end := func() { _ = l.Manager.Unregister(cfg.Name) } // it was registered
	if err := s.Connect(ctx); err != nil {
		end()
		return nil, nil, err
	}
	return s, end, nil
}
