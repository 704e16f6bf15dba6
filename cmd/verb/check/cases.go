package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	reports "github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
)

// casesName is the section that needs no target: its files can name their servers.
const casesName = "cases"

// casesFlags are what the section cases takes.
type casesFlags struct {
	a     *app
	words []string
	named bool // the section was asked for, not all of them
	run   runner.Flags
}

func (f *casesFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.words, "calls", nil, "cases: make the named calls of a `FILE` or folder instead of "+calls.Folder+"; may be repeated")
	f.run.Concurrency = runner.UsualFiles
	cmd.Flags().BoolVar(&f.run.Trust, "trust", false, "cases: trust the servers that the files describe until they change, without asking")
}

// files are the files of calls.
func (f *casesFlags) files() (all []calls.File, err error) {
	words := f.words
	if len(words) == 0 {
		dir, err := runner.ProjectCalls()
		if err != nil {
			return nil, err
		}
		if names, err := calls.Names(dir); err != nil || len(names) == 0 {
			return nil, errors.Join(err, fmt.Errorf("%w: %w", errNotHere, failure.UsageError("there are no named calls in "+dir, "see mcphud help history, or name files with --calls")))
		}
		words = []string{dir}
	}
	for _, w := range words {
		found, err := runner.FindCalls(f.a.App, w)
		var e *failure.Error
		if errors.As(err, &e) && e.Kind == failure.NotFound { // not at the server: --calls is wrong
			return nil, failure.UsageError("--calls: "+e.Message, e.Next)
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
			at := file.Calls[0].Server
			return at.Name != server && at.IsSet()
		})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: no named call is about this server", errNotHere)
	}
	return files, nil
}

// make is the section for one server.
func (f *casesFlags) make(ctx context.Context, l *cli.Link) (check.Section, error) {
	files, err := f.about(l.Name())
	if err != nil {
		return nil, err
	}
	r, err := runner.PrepareRun(ctx, f.a.App, files, func(func() (config.Server, error)) (config.Server, error) { return l.Config(), nil }, nil, f.run)
	if err != nil {
		return nil, err
	}
	return r.Section(func(ctx context.Context, print func(int, []calls.Outcome) error) error {
		return r.In(ctx, l.Work, print)
	}), nil
}

// alone reports whether only this section was asked for, without a server.
func (f *casesFlags) alone(cmd *cobra.Command, args []string) bool {
	own, _, dash := cli.SplitArgs(cmd, args)
	f.named = slices.Contains(own, casesName)
	return len(own) == 1 && f.named && !dash && !f.a.Options.Named()
}

// examineCases makes the calls of files at the servers that these name.
func (a *app) examineCases(ctx context.Context, cmd *cobra.Command, c *Checking) error {
	if err := a.Options.Check(cmd); err != nil {
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
	r, err := runner.PrepareRun(ctx, a.App, files, func(otherwise func() (config.Server, error)) (config.Server, error) {
		s, err := otherwise()
		if err != nil {
			return s, err
		}
		return s, a.Options.Apply(cmd, &s)
	}, nil, c.cases.run)
	if err != nil {
		return err
	}
	section := r.Section(r.All)
	rep, bad := r.Report(ctx, section)
	c.reports.Judge(a.App, rep, time.Now())
	unwritten := c.reports.Keep(a.App, rep)
	o := c.reports.Options([]check.Section{section}, files[0].Path)
	if err := errors.Join(unwritten, c.reports.Write(a.Printer(), reports.Of{Report: rep, Options: o})); err != nil {
		return err
	}
	if bad != nil {
		return bad
	}
	return c.reports.Verdict(rep.Server.Name, rep.Counts, o)
}
