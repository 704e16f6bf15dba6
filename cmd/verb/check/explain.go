package check

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/views/pages"
)

// expertFlags is what the flags of explain say.
type expertFlags struct {
	only         *cli.FilterFlag
	severity     string
	rules        []string
	list, strict bool
}

func (a *app) expertCommand() *cobra.Command {
	var x expertFlags
	c := &cobra.Command{
		Use: "explain [flags] FILE | RULE", Annotations: cli.Rule("0-1"), Short: "List what breaks the protocol in a file of recorded traffic",
		Long: "explain checks every message of a file by the rules of the specification, in the revision that was spoken, and says for each that was broken: the frame, who broke it, " +
			"the evidence, what to change, and the section of the specification. With the name of a rule it describes the rule.\n\n" +
			"The exit code is 0 whatever was found; with --strict it is 6 when there is an error among the findings shown.",
		Example: "  mcphud explain session.jsonl\n  mcphud explain session.jsonl --severity warning --filter server:github\n  mcphud explain session.jsonl --strict --format jsonl | jq .rule\n" +
			"  mcphud explain --rules\n  mcphud explain id-reused",
		Args: cobra.ArbitraryArgs,
		RunE: a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
			return a.expert(ctx, cmd, args, x)
		}),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault
		},
	}
	x.only = cli.AddFilter(c.Flags())
	c.Flags().StringSliceVar(&x.rules, "rule", nil, "show findings of this `RULE` only; may be repeated")
	c.Flags().StringVar(&x.severity, "severity", "", "show findings of this `SEVERITY` and worse: error, warning or note")
	c.Flags().BoolVar(&x.list, "rules", false, "list the rules")
	c.Flags().BoolVar(&x.strict, "strict", false, "exit with code 6 when an error was found")
	_ = c.RegisterFlagCompletionFunc("severity", cobra.FixedCompletions([]string{"error", "warning", "note"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("rule", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var ids []string
		for _, r := range rules.Of("live") {
			ids = append(ids, r.ID+"\t"+r.Title)
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	})
	return c
}

func (a *app) expert(ctx context.Context, cmd *cobra.Command, args []string, x expertFlags) error {
	if hidden := cli.HiddenFlag(cmd); hidden != "" {
		return failure.UsageError("--"+hidden+" does not apply to explain, which connects to no server", "see mcphud explain --help")
	}
	want, err := x.parse()
	if err != nil {
		return err
	}
	switch {
	case x.list && len(args) > 0:
		return failure.UsageError("--rules takes no argument", "write mcphud explain --rules")
	case x.list:
		return a.ruleList()
	case len(args) != 1 || cmd.ArgsLenAtDash() >= 0:
		return failure.UsageError(fmt.Sprintf("explain takes one file or rule, and got %d arguments", len(args)), "write mcphud explain FILE")
	}
	if r := rules.Find("live", args[0]); r != nil {
		if _, err := os.Stat(args[0]); err != nil {
			return a.ruleShow(r)
		}
	}
	return a.explainFile(ctx, args[0], x, want)
}

// wanted are the findings to show.
type wanted struct {
	filter *filter.Filter
	least  rules.Severity
	rules  []*rules.Rule
}

func (x expertFlags) parse() (w wanted, err error) {
	if err := x.only.Parse(); err != nil {
		return w, err
	}
	w.filter = x.only.Filter
	if x.severity != "" {
		if w.least, err = live.ParseSeverity(x.severity); err != nil {
			return w, failure.UsageError("--severity: "+err.Error(), "write --severity error")
		}
	}
	for _, id := range x.rules {
		r := rules.Find("live", id)
		if r == nil {
			return w, failure.UsageError(fmt.Sprintf("--rule: no such rule: %q", id), "mcphud explain --rules lists them")
		}
		w.rules = append(w.rules, r)
	}
	return w, nil
}

// of is a report with the findings to show, counted anew.
func (w wanted) of(j *journal.Journal, r live.Report) live.Report {
	all := r.Groups
	r.Groups, r.Count = nil, [len(r.Count)]int{}
	for _, g := range all {
		kept := len(g.Findings)
		g.Findings = slices.DeleteFunc(slices.Clone(g.Findings), func(f live.Finding) bool { return !w.has(j, f) })
		if len(g.Findings) < kept { // those that were not kept may be left out on purpose, too
			g.Count = len(g.Findings)
		}
		if g.Count > 0 {
			r.Groups = append(r.Groups, g)
			r.Count[g.Rule.Severity] += g.Count
		}
	}
	return r
}

// has is whether a finding is to be shown.
func (w wanted) has(j *journal.Journal, f live.Finding) bool {
	if f.Rule.Severity < w.least || len(w.rules) > 0 && !slices.Contains(w.rules, f.Rule) {
		return false
	}
	if w.filter.Empty() {
		return true
	}
	e, ok := j.Get(f.Seq)
	return ok && w.filter.Match(j, &e)
}

// FoundLine is a finding as JSON.
type FoundLine struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	By       string `json:"by"`
	Seq      uint64 `json:"seq"`
	Server   string `json:"server,omitempty"`
	Conn     uint64 `json:"conn,omitempty"`
	Method   string `json:"method,omitempty"`
	Revision string `json:"revision,omitempty"`
	Title    string `json:"title"`
	Evidence string `json:"evidence"`
	Fix      string `json:"fix"`
	Section  string `json:"section"`
}

// ExpertReport is what explain prints as JSON.
type ExpertReport struct {
	Frames      int         `json:"frames"`
	Unvalidated int         `json:"unvalidated"`
	Errors      int         `json:"errors"`
	Warnings    int         `json:"warnings"`
	Notes       int         `json:"notes"`
	More        int         `json:"more,omitempty"` // findings of rules that were broken so often that not each is listed
	Findings    []FoundLine `json:"findings"`
}

func (a *app) explainFile(ctx context.Context, name string, x expertFlags, want wanted) error {
	f, err := a.OpenJournal(ctx, name)
	if err != nil {
		return ruleOrFile(name, err)
	}
	defer f.Close()
	defer func() { a.Unread(f) }()
	if err := f.Wait(ctx); err != nil && ctx.Err() != nil {
		return err
	}
	list := live.NewList()
	if err := list.Update(ctx, f.Journal); err != nil {
		return err
	}
	list.Finish()
	report := want.of(f.Journal, list.Report())
	out := ExpertReport{
		Frames: report.Frames, Unvalidated: report.Unchecked, Errors: report.Count[rules.Error], Warnings: report.Count[rules.Warning], Notes: report.Count[rules.Info],
		Findings: []FoundLine{},
	}
	for _, g := range report.Groups {
		out.More += g.Count - len(g.Findings)
		for _, one := range g.Findings {
			out.Findings = append(out.Findings, FoundLine{
				one.Rule.ID, live.Word(one.Rule.Severity), string(one.By), one.Seq, one.Server, one.Conn, one.Method, one.Revision,
				one.Rule.Title, strings.ToValidUTF8(one.Evidence, "\uFFFD"), one.Rule.Fix, one.Section(),
			})
		}
	}
	is := pages.Broken(&report)
	is.Value, is.Table = out, page.Table{Len: len(out.Findings), Value: func(i int) any { return out.Findings[i] }}
	if err := a.Printer().Page(is); err != nil {
		return err
	}
	if err := cli.FileError(f.Progress().Err); err != nil {
		return err
	}
	if x.strict && out.Errors > 0 {
		return &cli.StrictError{Err: &failure.Error{Kind: failure.Protocol, Message: text.Count(out.Errors, "error", "errors") + " in " + name, Next: "the findings on stdout say what to change"}}
	}
	return nil
}

// ruleOrFile explains an argument that is neither a file nor a rule.
func ruleOrFile(name string, err error) error {
	if _, missing := os.Stat(name); missing == nil || !os.IsNotExist(missing) || !fs.ValidPath(name) {
		return err
	}
	var ids []string
	for _, r := range rules.Of("live") {
		ids = append(ids, r.ID)
	}
	if mean := output.DidYouMean(name, ids); mean != "" {
		return failure.UsageError("no such file or rule: "+name, mean+"mcphud explain --rules lists the rules")
	}
	return err
}

// RuleLine is a rule as JSON.
type RuleLine struct {
	Rule      string            `json:"rule"`
	Severity  string            `json:"severity"`
	By        string            `json:"by"`
	Title     string            `json:"title"`
	Fix       string            `json:"fix"`
	Revisions []string          `json:"revisions"`
	Sections  map[string]string `json:"sections"`
}

func ruleLineOf(r *rules.Rule) RuleLine {
	l := RuleLine{r.ID, live.Word(r.Severity), string(r.By), r.Title, r.Fix, r.Revisions(), map[string]string{}}
	for _, rev := range l.Revisions {
		l.Sections[rev] = r.Link(rev)
	}
	return l
}

// ruleList prints all rules.
func (a *app) ruleList() error {
	live := rules.Of("live")
	all := make([]RuleLine, len(live))
	for i, r := range live {
		all[i] = ruleLineOf(r)
	}
	is := pages.Rules(live)
	is.Value, is.Table.Value = all, func(i int) any { return all[i] }
	return a.Printer().Page(is)
}

// ruleShow prints one rule.
func (a *app) ruleShow(r *rules.Rule) error {
	is := pages.Rule(r)
	is.Value = ruleLineOf(r)
	return a.Printer().Page(is)
}
