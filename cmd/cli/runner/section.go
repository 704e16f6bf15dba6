package runner

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli/report"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/cases"
	"github.com/mcphud/mcphud/session/traffic/history"
	"github.com/mcphud/mcphud/tui/safe"
)

// Section is the calls of a run as a section of a check. run makes them.
func (r *Run) Section(run func(context.Context, func(int, []Ran) error) error) check.Section {
	total := 0
	for _, file := range r.Files {
		total += len(file.Calls)
	}
	root := "."
	if wd, err := os.Getwd(); err == nil {
		root = report.RepositoryOf(wd)
	}
	return &cases.Section{Make: func(ctx context.Context, each func(cases.Case, int, int)) error {
		done := 0
		return run(ctx, func(i int, ran []Ran) error {
			for _, c := range ran {
				done++
				file := report.ShortPath(root, c.File)
				one := cases.Case{
					Name: c.Name, File: file, Line: c.Line, Server: c.Server, Target: c.Method + " " + c.Target, Took: c.Reply.Took,
					Failures: c.Failures, Skipped: c.Skipped, Repro: "mcphud run " + safe.Quote(file),
				}
				switch {
				case c.Skipped != "":
				case c.Verdict == history.IsError:
					one.Reported = c.Err.Error()
				default:
					one.Err = c.Err
				}
				each(one, done, total)
			}
			return nil
		})
	}}
}

// Report makes the calls of a section of a run, and reports them alone: no server was examined.
func (r *Run) Report(ctx context.Context, section check.Section) (*check.Report, error) {
	var names []string
	for _, s := range r.servers {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	subject := &check.Subject{Offer: check.Offer{Server: strings.Join(names, ", ")}}
	rep, err := check.Run(ctx, subject, []check.Section{section}, report.CheckTool(), check.Watch{})
	own := check.Server().Name()
	if !slices.ContainsFunc(rep.Findings, func(f check.Finding) bool { return strings.HasPrefix(f.ID, own+"/") }) {
		rep.Sections = slices.DeleteFunc(rep.Sections, func(s check.SectionReport) bool { return s.Name == own })
	}
	return rep, err
}
