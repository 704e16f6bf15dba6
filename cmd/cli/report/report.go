// Package report writes the findings of a check as files, and judges them.
package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/flags"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
	checkload "github.com/mcphud/mcphud/session/check/bench"
	"github.com/mcphud/mcphud/session/check/cases"
	"github.com/mcphud/mcphud/session/check/conform"
	"github.com/mcphud/mcphud/session/check/contract"
	"github.com/mcphud/mcphud/session/check/cost"
	"github.com/mcphud/mcphud/session/check/fuzz"
	"github.com/mcphud/mcphud/session/check/lint"
	reports "github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/session/check/report/ignore"
	"github.com/mcphud/mcphud/session/check/safety"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/views/pages"
)

// Flags are the flags of check about what becomes of findings.
type Flags struct {
	FailOn, ignoreFile, baseline, writeBaseline, artifact string
	reports, ignores                                      []string
	Verbose                                               bool

	Several bool // servers are examined
	list    ignore.List
	known   *ignore.Baseline
	Out     []reportFile
	Written bool // or about to be
}

// reportFile is one --report.
type reportFile struct{ Format, File string }

// FailLevels are what --fail-on takes.
func FailLevels() []string { return []string{"error", "warning", "info", "never"} }

// Register gives a command the flags.
func (c *Flags) Register(cmd *cobra.Command) {
	f := cmd.Flags()
	c.FailOn = FailLevels()[0]
	f.Var(&flags.Choice{Value: &c.FailOn, Allowed: FailLevels()}, "fail-on", "exit with code 9 on a finding that is at least as severe")
	c.RegisterReport(cmd)
	f.StringVar(&c.ignoreFile, "ignore-file", "", "read the ignore list from `FILE` instead of "+ignore.Name)
	f.StringArrayVar(&c.ignores, "ignore", nil, "ignore findings of a `RULE` for a reason, as RULE:REASON; may be repeated")
	f.StringVar(&c.baseline, "baseline", "", "findings that this `FILE` has do not count; with --all it has those of each server")
	f.StringVar(&c.writeBaseline, "write-baseline", "", "write the findings to `FILE`, as known ones")
	f.StringVar(&c.artifact, "artifact", "", "the `FILE` of the repository where SARIF says that findings are")
	f.BoolVarP(&c.Verbose, "verbose", "v", false, "print all findings with their evidence, reason and source, and what the server writes to stderr")
}

// RegisterReport adds the flag for reports.
func (c *Flags) RegisterReport(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.reports, "report", nil, "write a report, to stdout without a file (`FORMAT=FILE`): "+strings.Join(reports.Formats(), ", ")+"; may be repeated")
}

// PrepareReports reads which reports are wanted, and refuses one for stdout that --select cannot filter.
func (c *Flags) PrepareReports(o *cli.Options) error {
	for _, r := range c.reports {
		format, file, named := strings.Cut(r, "=")
		switch {
		case !slices.Contains(reports.Formats(), format):
			return failure.UsageError(fmt.Sprintf("--report %s: there is no format %q", r, format), output.DidYouMean(format, reports.Formats())+strings.Join(reports.Formats(), ", ")+" are")
		case named && file == "":
			return failure.UsageError("--report "+r+": no file after =", "name a file, or leave = out for stdout")
		case !named || file == "-":
			file = ""
			if o.Selects() && format != reports.JSON && format != reports.SARIF {
				return failure.UsageError("--select filters JSON, and --report "+format+" prints something else", "name a file for the report, or leave --select out")
			}
			if slices.ContainsFunc(c.Out, func(o reportFile) bool { return o.File == "" }) {
				return failure.UsageError("two reports for stdout", "name a file for one of them: --report "+format+"=FILE")
			}
		}
		if slices.ContainsFunc(c.Out, func(o reportFile) bool { return file != "" && o.File == file }) {
			return failure.UsageError("two reports for "+file, "name another file for one of them")
		}
		c.Out = append(c.Out, reportFile{format, file})
	}
	return NoFolders(filesOf(c.Out))
}

// ToStdout reports whether a report takes the place of what is printed otherwise.
func (c *Flags) ToStdout() bool {
	return slices.ContainsFunc(c.Out, func(o reportFile) bool { return o.File == "" })
}

// Prepare reads what the flags name, before a server is started.
func (c *Flags) Prepare(o *cli.Options) error {
	wrong := func(err error) error {
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the file; see mcphud help check"}
	}
	if err := cmp.Or(c.PrepareReports(o), NoFolders([]string{c.writeBaseline})); err != nil {
		return err
	}
	wd, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("the working folder: %w", err)
	}
	file := c.ignoreFile
	if file == "" {
		file = ignore.Find(wd)
	}
	if file != "" {
		if c.list, err = ignore.Read(ShortPath(wd, file)); err != nil {
			return wrong(err)
		}
	}
	for _, s := range c.ignores {
		e, err := ignore.Parse(s)
		if err != nil {
			return failure.UsageError("--ignore: "+err.Error(), "such as --ignore 'lint/*:not ours to change'")
		}
		c.list.Entries = append(c.list.Entries, e)
	}
	if c.baseline == "" {
		return nil
	}
	c.known, err = ignore.ReadBaseline(c.baseline)
	switch {
	case errors.Is(err, fs.ErrNotExist) && filepath.Clean(c.baseline) == filepath.Clean(c.writeBaseline):
		c.known = nil // the first time
	case errors.Is(err, fs.ErrNotExist):
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "--write-baseline makes one"}
	case err != nil:
		return wrong(err)
	case c.Several && c.known.Servers == nil:
		return failure.UsageError(c.baseline+" is a baseline of one server, and --all examines several", "make one of all: --all --write-baseline FILE")
	}
	return nil
}

// NoFolders is the error of files that are folders, or in none, before much is done that would be written there.
func NoFolders(files []string) error {
	for _, f := range files {
		if f == "" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(f)); err != nil || !info.IsDir() {
			return failure.UsageError(fmt.Sprintf("cannot write %s: %s is not a folder", f, filepath.Dir(f)), "make it, or name another file")
		}
		if info, err := os.Stat(f); err == nil && info.IsDir() {
			return failure.UsageError("cannot write "+f+": it is a folder", "name a file in it")
		}
	}
	return nil
}

// Watch draws how far a check is, where stderr is a terminal.
func Watch(l *cli.Link) check.Watch {
	return check.Watch{
		Begin: func(section string) { l.Side.Report(rpc.Progress{Message: section}) },
		Progress: func(p check.Progress) {
			l.Side.Report(rpc.Progress{Progress: float64(p.Done), Total: float64(p.Total), HasTotal: p.Total > 0, Message: strings.TrimSpace(p.Section + " " + p.What)})
		},
	}
}

// Judge applies ignore list and baseline to the report of a server.
func (c *Flags) Judge(a *cli.App, r *check.Report, now time.Time) {
	c.list.Apply(r, now)
	if c.known == nil {
		return
	}
	if _, has := c.known.Servers[r.Server.Name]; c.known.Servers != nil && !has {
		a.Note("mcphud: " + c.known.File + " has nothing of " + r.Server.Name + ": it has " + text.Clip(strings.Join(slices.Sorted(maps.Keys(c.known.Servers)), ", "), 200))
	}
	c.known.Apply(r)
}

// Keep writes a new baseline after reports that were judged.
func (c *Flags) Keep(a *cli.App, rs ...*check.Report) error {
	if c.writeBaseline == "" {
		return nil
	}
	if slices.ContainsFunc(rs, func(r *check.Report) bool { return r.Interrupted }) {
		a.Note("mcphud: the baseline is not written: the check was interrupted")
		return nil
	}
	var next *ignore.Baseline
	if c.Several {
		next = ignore.NextOf(c.writeBaseline, c.known, rs...)
	} else {
		next = ignore.Next(c.writeBaseline, c.known, rs[0])
	}
	if err := next.Write(); err != nil {
		return fmt.Errorf("cannot write the baseline: %w", err)
	}
	a.Note("mcphud: wrote " + c.writeBaseline + ": " + text.Count(next.Count(), "finding", "findings"))
	for _, r := range rs {
		before := r.Baseline
		next.Apply(r)
		if before != nil {
			r.Baseline.Fixed = before.Fixed
		}
	}
	return nil
}

// Unreachable writes the files of --report where there was no connection: who reads them learns of it too. The same goes for an interrupt
// before there was one.
func (c *Flags) Unreachable(a *cli.App, began time.Time) {
	if c.Written || len(c.Out) == 0 {
		return
	}
	server := cmp.Or(a.Options.Server, a.Options.URL, "server")
	var e *failure.Error
	if errors.As(a.Fail, &e) {
		server = cmp.Or(e.Server, server)
	}
	var r *check.Report
	switch {
	case errors.Is(a.Fail, cli.ErrInterrupted) || failure.KindOf(a.Fail) == failure.Interrupted:
		r = check.Stopped(server, CheckTool(), began)
	case e != nil && NoConnection(e.Kind):
		r = check.Unreachable(server, a.Fail, CheckTool(), began)
	default:
		return
	}
	if err := c.WriteFiles(func(w io.Writer, format string, change func(*reports.Options)) error {
		o := c.Options(nil, FindLock("."))
		change(&o)
		return reports.Write(w, format, r, o)
	}); err != nil {
		a.Fail = errors.Join(a.Fail, err)
	}
}

// NoConnection reports whether an error of that kind is the server's.
func NoConnection(k failure.Kind) bool {
	switch k {
	case failure.SpawnFailed, failure.ServerNotConnected, failure.RpcError, failure.Timeout, failure.ChannelClosed, failure.OAuth, failure.Transport, failure.Protocol:
		return true
	}
	return false
}

// writeReport writes a file for others to read, as a whole or not at all; one that is something else, such as /dev/stderr, as it is.
func writeReport(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("cannot write the report: %w", err)
		}
		if err := errors.Join(write(f), f.Close()); err != nil {
			return fmt.Errorf("cannot write the report: %s: %w", path, err)
		}
		return nil
	}
	if err := files.WriteTo(path, 0o644, write); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return nil
}

// Verdict is the error that a report ends with, nil for none.
func (c *Flags) Verdict(server string, counts check.Counts, o reports.Options) error {
	n := counts.AtLeast(o.FailOn)
	if n == 0 || o.FailOn == reports.Never {
		return nil
	}
	return &failure.Error{
		Kind: failure.Assertion, Server: server, Stage: "check", Message: fmt.Sprintf("%s of severity %s or more", text.Count(n, "finding", "findings"), c.FailOn),
		Next: "mend them, ignore them with a reason, or keep a baseline; see mcphud help check",
	}
}

// EverySection is all sections for their rules, in the order in which they run: listing rules needs no server.
func EverySection() []check.Section {
	return []check.Section{
		check.Server(), &lint.Section{}, &cost.Section{}, &contract.Section{}, &safety.Section{}, &conform.Section{}, fuzz.Section(fuzz.Options{}), &checkload.Section{}, &cases.Section{},
	}
}

// ListRules prints rules: all of the sections, or those that words name. A single one is explained.
func ListRules(a *cli.App, sections []check.Section, words []string) error {
	type rule struct {
		ID       string         `json:"id"`
		Severity check.Severity `json:"severity"`
		Title    string         `json:"title"`
		Why      string         `json:"why,omitempty"`
		Fix      string         `json:"fix,omitempty"`
		Source   string         `json:"source,omitempty"`
		Read     string         `json:"read,omitempty"`
		Clients  []string       `json:"clients,omitempty"`
	}
	all := []rule{}
	var found []*check.Rule
	var names []string
	for _, s := range sections {
		names = append(names, s.Name())
		for _, r := range s.Rules() {
			names = append(names, r.ID)
			if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return w == s.Name() || ignore.Match(w, r.ID) }) {
				found = append(found, r)
				all = append(all, rule{r.ID, r.Severity, r.Title, r.Why, r.Fix, r.Source, r.Read, r.Clients})
			}
		}
	}
	for _, w := range words {
		if !slices.ContainsFunc(names, func(n string) bool { return ignore.Match(w, n) }) {
			return failure.UsageError(fmt.Sprintf("there is no rule or section %q", w), output.DidYouMean(w, names)+"without a name all rules are listed")
		}
	}
	is := pages.Rules(found)
	if len(found) == 1 {
		is = pages.Rule(found[0])
	}
	is.Value = map[string]any{"rules": all}
	return a.Printer().Page(is)
}
