package runner

import (
	"cmp"
	"context"
	"os"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/cmd/cli/report"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/cases"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui/safe"
)

// Section is the calls of a run as a section of a check. run makes them.
func (r *Run) Section(run func(context.Context, func(int, []calls.Outcome) error) error) check.Section {
	total := 0
	for _, file := range r.Files {
		total += len(file.Calls)
	}
	root := "."
	if wd, err := os.Getwd(); err == nil {
		root = report.RepositoryOf(wd)
	}
	return &cases.Section{
		File: func(file string) string {
			if file == "" { // of the history
				return ""
			}
			return report.ShortPath(root, file)
		},
		Repro: func(o calls.Outcome) string { return "mcphud run " + safe.Quote(cmp.Or(o.File, o.Name)) },
		Make: func(ctx context.Context, each func(calls.Outcome, int, int)) error {
			done := 0
			return run(ctx, func(_ int, ran []calls.Outcome) error {
				for _, o := range ran {
					done++
					each(o, done, total)
				}
				return nil
			})
		},
	}
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
