package check

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/report"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	reports "github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/session/config"
)

// examineAll examines the servers of the configs, one after the other, and makes one report. A lock finds a server also by the name that
// it gives itself, which several may share: it does not go with it.
func (a *app) examineAll(ctx context.Context, cmd *cobra.Command, c *Checking, args []string) error {
	if err := a.Options.Check(cmd); err != nil {
		return err
	}
	words, _, dash, err := a.OwnArgs(cmd, args, nil)
	switch {
	case err != nil:
		return err
	case dash || a.Options.Named():
		return failure.UsageError("--all is about every server, and one was named", "leave one of both out")
	case slices.Contains(words, "contract"):
		return failure.UsageError("a lock is compared with one server at a time", "leave --all or contract out")
	case len(words) == 0:
		for _, s := range c.sections() {
			if s.usual && s.name != "contract" {
				words = append(words, s.name)
			}
		}
	}
	c.safety.lock = &contractFlags{accept: true, evidence: c.contract.evidence} // not compared with a lock either
	set, where, err := a.Options.Load()
	if err != nil {
		return err
	}
	trust := config.OpenTrust(where.StateDir())
	var all []reports.Of
	var interrupted error
	for _, s := range set.Servers {
		switch {
		case s.Disabled:
			a.Note("mcphud: " + s.Name + " is disabled: it is not examined")
			continue
		case !trust.Trusted(s):
			a.Note("mcphud: " + s.Name + " is not trusted yet: it is not examined")
			continue
		}
		began := time.Now()
		var of reports.Of
		a.Options.Server = s.Name
		cfg, err := a.Options.Target(cmd, nil, false)
		if err == nil {
			err = a.Connected(ctx, cfg, func(ctx context.Context, l *cli.Link) (err error) {
				of.Report, of.Options, err = a.look(ctx, l, c, words)
				return err
			})
		}
		var e *failure.Error
		switch {
		case ctx.Err() != nil:
			interrupted = cmp.Or(err, ctx.Err())
			if of.Report == nil {
				of = reports.Of{Report: check.Stopped(s.Name, report.CheckTool(), began), Options: c.reports.Options(nil, report.FindLock("."), s.Source.File)}
			}
		case of.Report != nil:
		case errors.As(err, &e) && (report.NoConnection(e.Kind) || s.Problem != nil):
			of = reports.Of{Report: check.Unreachable(s.Name, err, report.CheckTool(), began), Options: c.reports.Options(nil, report.FindLock("."), s.Source.File)}
		default:
			return err
		}
		if of.Report != nil {
			c.reports.Judge(a.App, of.Report, time.Now())
			all = append(all, of)
		}
		if interrupted != nil {
			break
		}
	}
	if len(all) == 0 {
		return cmp.Or(interrupted, error(&failure.Error{Kind: failure.Usage, Message: "the configs name no server that may start", Next: cli.NameTarget}))
	}
	used(all)
	every := make([]*check.Report, len(all))
	for i, of := range all {
		every[i] = of.Report
	}
	unwritten := c.reports.Keep(a.App, every...)
	if err := errors.Join(unwritten, c.reports.WriteAll(a.Printer(), all)); err != nil {
		return err
	}
	var own error
	var counts check.Counts
	for _, of := range all {
		own = cmp.Or(own, of.Report.Own())
		counts.Error, counts.Warning, counts.Info = counts.Error+of.Report.Counts.Error, counts.Warning+of.Report.Counts.Warning, counts.Info+of.Report.Counts.Info
	}
	return cmp.Or(interrupted, own, c.reports.Verdict("", counts, all[0].Options))
}

// used takes back that an entry of the ignore list does nothing where it does something for another server.
func used(all []reports.Of) {
	for i := range all[0].Report.Ignores {
		matched := slices.ContainsFunc(all, func(of reports.Of) bool { return of.Report.Ignores[i].Matched > 0 })
		for _, of := range all {
			if e := &of.Report.Ignores[i]; matched && e.State == check.Unused {
				e.State = ""
			}
		}
	}
}
