package main

import (
	"bytes"
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
	"github.com/mcphud/mcphud/session/check/ignore"
	"github.com/mcphud/mcphud/session/check/lint"
	reports "github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/session/check/safety"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui/safe"
)

// checkReports are the flags of check about what becomes of findings.
type checkReports struct {
	failOn, ignoreFile, baseline, writeBaseline, artifact string
	reports, ignores                                      []string
	verbose                                               bool

	several bool // servers are examined
	list    ignore.List
	known   *ignore.Baseline
	out     []reportFile
	written bool // or about to be
}

// reportFile is one --report.
type reportFile struct{ format, file string }

// failLevels are what --fail-on takes.
func failLevels() []string { return []string{"error", "warning", "info", "never"} }

func (c *checkReports) register(cmd *cobra.Command) {
	f := cmd.Flags()
	c.failOn = failLevels()[0]
	f.Var(&choice{&c.failOn, failLevels()}, "fail-on", "exit with code 9 on a finding that is at least as severe")
	c.registerReport(cmd)
	f.StringVar(&c.ignoreFile, "ignore-file", "", "read the ignore list from `FILE` instead of "+ignore.Name)
	f.StringArrayVar(&c.ignores, "ignore", nil, "ignore findings of a `RULE` for a reason, as RULE:REASON; may be repeated")
	f.StringVar(&c.baseline, "baseline", "", "findings that this `FILE` has do not count; with --all it has those of each server")
	f.StringVar(&c.writeBaseline, "write-baseline", "", "write the findings to `FILE`, as known ones")
	f.StringVar(&c.artifact, "artifact", "", "the `FILE` of the repository where SARIF says that findings are")
	f.BoolVarP(&c.verbose, "verbose", "v", false, "print all findings with their evidence, reason and source, and what the server writes to stderr")
}

// registerReport adds the flag for reports.
func (c *checkReports) registerReport(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&c.reports, "report", nil, "write a report, to stdout without a file (`FORMAT=FILE`): "+strings.Join(reports.Formats(), ", ")+"; may be repeated")
}

// prepareReports reads which reports are wanted.
func (c *checkReports) prepareReports() error {
	for _, r := range c.reports {
		format, file, named := strings.Cut(r, "=")
		switch {
		case !slices.Contains(reports.Formats(), format):
			return usageError(fmt.Sprintf("--report %s: there is no format %q", r, format), didYouMean(format, reports.Formats())+strings.Join(reports.Formats(), ", ")+" are")
		case named && file == "":
			return usageError("--report "+r+": no file after =", "name a file, or leave = out for stdout")
		case !named || file == "-":
			file = ""
			if slices.ContainsFunc(c.out, func(o reportFile) bool { return o.file == "" }) {
				return usageError("two reports for stdout", "name a file for one of them: --report "+format+"=FILE")
			}
		}
		if slices.ContainsFunc(c.out, func(o reportFile) bool { return file != "" && o.file == file }) {
			return usageError("two reports for "+file, "name another file for one of them")
		}
		c.out = append(c.out, reportFile{format, file})
	}
	return noFolders(filesOf(c.out))
}

// toStdout reports whether a report takes the place of what is printed otherwise.
func (c *checkReports) toStdout() bool {
	return slices.ContainsFunc(c.out, func(o reportFile) bool { return o.file == "" })
}

// prepare reads what the flags name, before a server is started.
func (c *checkReports) prepare() error {
	wrong := func(err error) error {
		return &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the file; see mcphud help check"}
	}
	if err := cmp.Or(c.prepareReports(), noFolders([]string{c.writeBaseline})); err != nil {
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
		if c.list, err = ignore.Read(shortPath(wd, file)); err != nil {
			return wrong(err)
		}
	}
	for _, s := range c.ignores {
		e, err := ignore.Parse(s)
		if err != nil {
			return usageError("--ignore: "+err.Error(), "such as --ignore 'lint/*:not ours to change'")
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
	case c.several && c.known.Servers == nil:
		return usageError(c.baseline+" is a baseline of one server, and --all examines several", "make one of all: --all --write-baseline FILE")
	}
	return nil
}

// noFolders is the error of files that are folders, or in none, before much is done that would be written there.
func noFolders(files []string) error {
	for _, f := range files {
		if f == "" {
			continue
		}
		if info, err := os.Stat(filepath.Dir(f)); err != nil || !info.IsDir() {
			return usageError(fmt.Sprintf("cannot write %s: %s is not a folder", f, filepath.Dir(f)), "make it, or name another file")
		}
		if info, err := os.Stat(f); err == nil && info.IsDir() {
			return usageError("cannot write "+f+": it is a folder", "name a file in it")
		}
	}
	return nil
}

func filesOf(out []reportFile) (files []string) {
	for _, o := range out {
		files = append(files, o.file)
	}
	return files
}

// shortPath is path below wd where it is there.
func shortPath(wd, path string) string {
	if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// watch draws how far a check is, where stderr is a terminal.
func (l *link) watch() check.Watch {
	return check.Watch{
		Begin: func(section string) { l.side.report(rpc.Progress{Message: section}) },
		Progress: func(p check.Progress) {
			l.side.report(rpc.Progress{Progress: float64(p.Done), Total: float64(p.Total), HasTotal: p.Total > 0, Message: strings.TrimSpace(p.Section + " " + p.What)})
		},
	}
}

// judge applies ignore list and baseline to the report of a server.
func (c *checkReports) judge(a *app, r *check.Report, now time.Time) {
	c.list.Apply(r, now)
	if c.known == nil {
		return
	}
	if _, has := c.known.Servers[r.Server.Name]; c.known.Servers != nil && !has {
		a.note("mcphud: " + c.known.File + " has nothing of " + r.Server.Name + ": it has " + text.Clip(strings.Join(slices.Sorted(maps.Keys(c.known.Servers)), ", "), 200))
	}
	c.known.Apply(r)
}

// keep writes a new baseline after reports that were judged.
func (c *checkReports) keep(a *app, rs ...*check.Report) error {
	if c.writeBaseline == "" {
		return nil
	}
	if slices.ContainsFunc(rs, func(r *check.Report) bool { return r.Interrupted }) {
		a.note("mcphud: the baseline is not written: the check was interrupted")
		return nil
	}
	var next *ignore.Baseline
	if c.several {
		next = ignore.NextOf(c.writeBaseline, c.known, rs...)
	} else {
		next = ignore.Next(c.writeBaseline, c.known, rs[0])
	}
	if err := next.Write(); err != nil {
		return fmt.Errorf("cannot write the baseline: %w", err)
	}
	a.note("mcphud: wrote " + c.writeBaseline + ": " + count(next.Count(), "finding", "findings"))
	for _, r := range rs {
		before := r.Baseline
		next.Apply(r)
		if before != nil {
			r.Baseline.Fixed = before.Fixed
		}
	}
	return nil
}

// writer writes one report, or several as one, in a format.
type writer func(w io.Writer, format string, change func(*reports.Options)) error

// write writes the report of a server: to the files of --report, and to stdout in any case.
func (c *checkReports) write(p *printer, of reports.Of) error {
	return c.writeWith(p, of.Report.Millis, func(w io.Writer, format string, change func(*reports.Options)) error {
		o := of.Options
		change(&o)
		return reports.Write(w, format, of.Report, o)
	})
}

// writeAll is write for several servers.
func (c *checkReports) writeAll(p *printer, all []reports.Of) error {
	took := 0.0
	for _, of := range all {
		took += of.Report.Millis
	}
	return c.writeWith(p, took, func(w io.Writer, format string, change func(*reports.Options)) error {
		changed := slices.Clone(all)
		for i := range changed {
			change(&changed[i].Options)
		}
		return reports.WriteAll(w, format, changed)
	})
}

// writeFiles writes the reports that are files.
func (c *checkReports) writeFiles(write writer) error {
	var errs []error
	for _, out := range c.out {
		if out.file != "" {
			errs = append(errs, writeReport(out.file, func(w io.Writer) error {
				return write(w, out.format, func(o *reports.Options) { o.Verbose = true })
			}))
		}
	}
	return errors.Join(errs...)
}

// writeWith writes files and what is printed, and judges the report, which took some milliseconds to make, by what was expected of it.
func (c *checkReports) writeWith(p *printer, took float64, write writer) error {
	format := reports.JSON
	if p.format == formatText {
		format = reports.Text
	}
	if i := slices.IndexFunc(c.out, func(o reportFile) bool { return o.file == "" }); i >= 0 {
		format = c.out[i].format
	}
	if err := errors.Join(c.writeFiles(write), c.print(p, format, write)); err != nil || p.expect == nil || !p.expect.Any() {
		return err
	}
	var b bytes.Buffer
	if err := write(&b, reports.JSON, func(*reports.Options) {}); err != nil {
		return err
	}
	return p.judge(answer{result: b.Bytes(), took: time.Duration(took * float64(time.Millisecond))})
}

// unreachable writes the files of --report where there was no connection: who reads them learns of it too. The same goes for an interrupt
// before there was one.
func (c *checkReports) unreachable(a *app, began time.Time) {
	if c.written || len(c.out) == 0 {
		return
	}
	server := cmp.Or(a.o.server, a.o.url, "server")
	var e *failure.Error
	if errors.As(a.fail, &e) {
		server = cmp.Or(e.Server, server)
	}
	var r *check.Report
	switch {
	case errors.Is(a.fail, errInterrupted) || failure.KindOf(a.fail) == failure.Interrupted:
		r = check.Stopped(server, checkTool(), began)
	case e != nil && noConnection(e.Kind):
		r = check.Unreachable(server, a.fail, checkTool(), began)
	default:
		return
	}
	if err := c.writeFiles(func(w io.Writer, format string, change func(*reports.Options)) error {
		o := c.options(nil, findLock("."))
		change(&o)
		return reports.Write(w, format, r, o)
	}); err != nil {
		a.fail = errors.Join(a.fail, err)
	}
}

// noConnection reports whether an error of that kind is the server's.
func noConnection(k failure.Kind) bool {
	switch k {
	case failure.SpawnFailed, failure.ServerNotConnected, failure.RpcError, failure.Timeout, failure.ChannelClosed, failure.OAuth, failure.Transport, failure.Protocol:
		return true
	}
	return false
}

// print writes a report to stdout. On a terminal nothing in it acts there.
func (c *checkReports) print(p *printer, format string, write writer) error {
	shape := func(o *reports.Options) { o.Verbose, o.Width, o.Wrap = c.verbose, p.width, wrapWords }
	if !p.tty {
		return write(p.w, format, shape)
	}
	var b bytes.Buffer
	if err := write(&b, format, shape); err != nil {
		return err
	}
	shown := escaped(b.Bytes())
	if format != reports.JSON && format != reports.SARIF {
		shown = []byte(safe.Text(b.String()))
	}
	_, err := p.w.Write(shown)
	return err
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

// options are those of all reports of a check by these sections. Findings are shown in the first of the files that is there.
func (c *checkReports) options(sections []check.Section, paths ...string) reports.Options {
	o := reports.Options{FailOn: reports.Never, Artifact: c.artifactOf(paths), Table: func(width int, rows [][]string) string {
		t := &textOutput{}
		t.table(width, rows)
		return t.b.String()
	}}
	if c.failOn != failLevels()[3] {
		_ = o.FailOn.UnmarshalText([]byte(c.failOn)) // the flag takes no other
	}
	for _, s := range append([]check.Section{check.Server()}, sections...) {
		o.Rules = append(o.Rules, s.Rules()...)
	}
	return o
}

// artifactOf is the file of the repository where findings are shown: the one that is named, else the first of some that is there, else the
// first.
func (c *checkReports) artifactOf(paths []string) reports.Artifact {
	wd, err := os.Getwd()
	if err != nil {
		return reports.NewArtifact(paths[0], nil)
	}
	root := repositoryOf(wd)
	named := c.artifact != ""
	if named {
		paths = []string{c.artifact}
	}
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil || path == "" {
			continue
		}
		short := shortPath(root, abs)
		if filepath.IsAbs(short) && !named {
			continue // it is not in the repository
		}
		if b, err := files.Read(abs, 16<<20); err == nil || named {
			return reports.NewArtifact(short, b)
		}
	}
	return reports.NewArtifact(filepath.Base(paths[0]), nil)
}

// repositoryOf is the root of the repository that a folder is in, the folder itself where it is in none: paths in reports begin there.
func repositoryOf(wd string) string {
	for at := wd; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return wd
		}
	}
}

// verdict is the error that a report ends with, nil for none.
func (c *checkReports) verdict(server string, counts check.Counts, o reports.Options) error {
	n := counts.AtLeast(o.FailOn)
	if n == 0 || o.FailOn == reports.Never {
		return nil
	}
	return &failure.Error{
		Kind: failure.Assertion, Server: server, Stage: "check", Message: fmt.Sprintf("%s of severity %s or more", count(n, "finding", "findings"), c.failOn),
		Next: "mend them, ignore them with a reason, or keep a baseline; see mcphud help check",
	}
}

// everySection is all sections for their rules, in the order in which they run: listing rules needs no server.
func everySection() []check.Section {
	return []check.Section{
		check.Server(), &lint.Section{}, &cost.Section{}, &contract.Section{}, &safety.Section{}, &conform.Section{}, fuzz.Section(fuzz.Options{}), &checkload.Section{}, &cases.Section{},
	}
}

// listRules prints rules: all of the sections, or those that words name. A single one is explained.
func (a *app) listRules(sections []check.Section, words []string) error {
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
	rules := []rule{}
	var names []string
	for _, s := range sections {
		names = append(names, s.Name())
		for _, r := range s.Rules() {
			names = append(names, r.ID)
			if len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return w == s.Name() || ignore.Match(w, r.ID) }) {
				rules = append(rules, rule{r.ID, r.Severity, r.Title, r.Why, r.Fix, r.Source, r.Read, r.Clients})
			}
		}
	}
	for _, w := range words {
		if !slices.ContainsFunc(names, func(n string) bool { return ignore.Match(w, n) }) {
			return usageError(fmt.Sprintf("there is no rule or section %q", w), didYouMean(w, names)+"without a name all rules are listed")
		}
	}
	raw, err := marshal(struct {
		Rules []rule `json:"rules"`
	}{rules})
	if err != nil {
		return err
	}
	p := a.printer()
	return p.print(answer{result: raw, frames: [][]byte{raw}, text: func(t *textOutput) {
		if len(rules) == 1 {
			r := rules[0]
			t.prose(p.width, r.ID+": "+r.Title)
			t.fields([2]string{"severity", r.Severity.String()}, [2]string{"why", wrapped(r.Why, p.width)}, [2]string{"fix", wrapped(r.Fix, p.width)},
				[2]string{"clients", wrapped(strings.Join(r.Clients, ", "), p.width)}, [2]string{"source", r.Source}, [2]string{"read", r.Read})
			return
		}
		rows := [][]string{{"RULE", "SEVERITY", "WHAT"}}
		for _, r := range rules {
			rows = append(rows, []string{r.ID, r.Severity.String(), r.Title})
		}
		t.table(p.width, rows)
	}})
}

// wrapped is a text for beside the name of a field.
func wrapped(s string, width int) string {
	const name = 10
	if width < name+20 {
		return text.FirstLine(s)
	}
	return strings.Join(wrapWords(s, width-name), "\n")
}
