package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/cases"
	reports "github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/traffic/history"
	"github.com/mcphud/mcphud/tui/safe"
)

// casesName is the section that needs no target: its files can name their servers.
const casesName = "cases"

// casesFlags are what the section cases takes.
type casesFlags struct {
	a     *app
	words []string
	named bool // the section was asked for, not all of them
	run   runFlags
}

func (f *casesFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.words, "calls", nil, "cases: make the named calls of a `FILE` or folder instead of "+calls.Folder+"; may be repeated")
	f.run.concurrency = usualFiles
	cmd.Flags().BoolVar(&f.run.trust, "trust", false, "cases: trust the servers that the files describe until they change, without asking")
}

// files are the files of calls.
func (f *casesFlags) files() (all []calls.File, err error) {
	words := f.words
	if len(words) == 0 {
		dir, err := projectCalls()
		if err != nil {
			return nil, err
		}
		if names, err := calls.Names(dir); err != nil || len(names) == 0 {
			return nil, errors.Join(err, fmt.Errorf("%w: %w", errNotHere, usageError("there are no named calls in "+dir, "see mcphud help history, or name files with --calls")))
		}
		words = []string{dir}
	}
	for _, w := range words {
		found, err := f.a.findCalls(w)
		var e *failure.Error
		if errors.As(err, &e) && e.Kind == failure.NotFound { // not at the server: --calls is wrong
			return nil, usageError("--calls: "+e.Message, e.Next)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// about are the files about one server: all where the section was named, else those that name it, or none.
func (f *casesFlags) about(server string) ([]calls.File, error) {
	files, err := f.files()
	if err != nil {
		return nil, err
	}
	if !f.named {
		files = slices.DeleteFunc(files, func(file calls.File) bool {
			c := file.Calls[0]
			return c.Server != server && (c.Server != "" || len(c.Command) > 0 || c.URL != "")
		})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: no named call is about this server", errNotHere)
	}
	return files, nil
}

// make is the section for one server.
func (f *casesFlags) make(ctx context.Context, l *link) (check.Section, error) {
	files, err := f.about(l.Name())
	if err != nil {
		return nil, err
	}
	r, err := f.a.prepareRun(ctx, files, func(func() (config.Server, error)) (config.Server, error) { return l.Config(), nil }, nil, f.run)
	if err != nil {
		return nil, err
	}
	return r.section(func(ctx context.Context, print func(int, []ranCall) error) error { return r.in(ctx, l.work, print) }), nil
}

// section is the calls of a run as a section of a check. run makes them.
func (r *callRun) section(run func(context.Context, func(int, []ranCall) error) error) check.Section {
	total := 0
	for _, file := range r.files {
		total += len(file.Calls)
	}
	root := "."
	if wd, err := os.Getwd(); err == nil {
		root = repositoryOf(wd)
	}
	return &cases.Section{Make: func(ctx context.Context, each func(cases.Case, int, int)) error {
		done := 0
		return run(ctx, func(i int, ran []ranCall) error {
			for _, c := range ran {
				done++
				file := shortPath(root, c.File)
				one := cases.Case{
					Name: c.Name, File: file, Line: c.Line, Server: c.Server, Target: c.Method + " " + c.Target, Took: c.reply.Took,
					Failures: c.Failures, Skipped: c.Skipped, Repro: "mcphud run " + safe.Quote(file),
				}
				switch {
				case c.Skipped != "":
				case c.Verdict == history.IsError:
					one.Reported = c.err.Error()
				default:
					one.Err = c.err
				}
				each(one, done, total)
			}
			return nil
		})
	}}
}

// alone reports whether only this section was asked for, without a server.
func (f *casesFlags) alone(cmd *cobra.Command, args []string) bool {
	own, _, dash := splitArgs(cmd, args)
	f.named = slices.Contains(own, casesName)
	return len(own) == 1 && f.named && !dash && f.a.o.url+f.a.o.agent+f.a.o.server == ""
}

// examineCases makes the calls of files at the servers that these name.
func (a *app) examineCases(ctx context.Context, cmd *cobra.Command, c *checking) error {
	if err := a.o.check(cmd); err != nil {
		return err
	}
	files, err := c.cases.files()
	if err != nil {
		var e *failure.Error
		if errors.As(err, &e) {
			return e
		}
		return err
	}
	r, err := a.prepareRun(ctx, files, func(otherwise func() (config.Server, error)) (config.Server, error) {
		s, err := otherwise()
		if err != nil {
			return s, err
		}
		return s, a.o.apply(cmd, &s)
	}, nil, c.cases.run)
	if err != nil {
		return err
	}
	section := r.section(r.all)
	rep, bad := r.report(ctx, section)
	c.reports.judge(a, rep, time.Now())
	unwritten := c.reports.keep(a, rep)
	o := c.reports.options([]check.Section{section}, files[0].Path)
	if err := errors.Join(unwritten, c.reports.write(a.printer(), reports.Of{Report: rep, Options: o})); err != nil {
		return err
	}
	if bad != nil {
		return bad
	}
	return c.reports.verdict(rep.Server.Name, rep.Counts, o)
}

// report makes the calls of a section of a run, and reports them alone: no server was examined.
func (r *callRun) report(ctx context.Context, section check.Section) (*check.Report, error) {
	var names []string
	for _, s := range r.servers {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	subject := &check.Subject{Offer: check.Offer{Server: strings.Join(names, ", ")}}
	rep, err := check.Run(ctx, subject, []check.Section{section}, checkTool(), check.Watch{})
	own := check.Server().Name()
	if !slices.ContainsFunc(rep.Findings, func(f check.Finding) bool { return strings.HasPrefix(f.ID, own+"/") }) {
		rep.Sections = slices.DeleteFunc(rep.Sections, func(s check.SectionReport) bool { return s.Name == own })
	}
	return rep, err
}
