package call

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/report"
	"github.com/mcphud/mcphud/cmd/cli/runner"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/check"
	reports "github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/wire/rpc"
)

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "run CALL… [KEY=VALUE…] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Make calls again: of files, the history, recorded traffic", Annotations: cli.Rule("some"),
		Long: "Makes calls that are kept. CALL is the name of one in " + calls.Folder + " of this project, a file, or a folder: then all calls in it are made, in the order of their names. " +
			"It may also be a call of the history: its number, its name, or last; or recorded traffic, a file that ends in .jsonl or .har, which mcphud journal replay explains. " +
			"KEY=VALUE changes an argument. A target on the command line is called instead of the servers that the calls name. mcphud help history explains the files.\n\n" +
			"--batch FILE makes a single call once for each object of arguments in a file, --compare TARGET asks a second server the same and prints how its answer differs; mcphud tools call --help explains both.\n\n" +
			"Files can say what answers have to be: by jq expressions, a schema, a time limit, a snapshot. Exit code 9 where one is not. --update keeps answers as new snapshots.\n\n" +
			"Several calls are all made, also after one failed; the exit code is that of the first that failed. Each file has a connection of its own, to a process of its own; several files run at a time. --report writes what came of them as JUnit and other formats.\n\n" +
			"A server that a file describes is started once you trust it: a terminal asks, --trust agrees beforehand. mcphud help ci has more about scripts.",
		Example: "  mcphud run search\n  mcphud run search query=other --format json\n  mcphud run .mcphud/calls --concurrency 8 -- node server.js\n  mcphud run search --update\n  mcphud run last --compare protocol:2025-11-25\n  mcphud run .mcphud/calls --trust --report junit=calls.xml",
		Args:    cobra.ArbitraryArgs,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
			dir, err := runner.ProjectCalls()
			if err != nil {
				return nil, cobra.ShellCompDirectiveDefault
			}
			names, _ := calls.Names(dir) // none, no completions
			kept, _ := completeCalls(cmd, args, word)
			return append(names, kept...), cobra.ShellCompDirectiveDefault
		},
	}
	var o runner.Flags
	o.Register(c)
	c.Flags().BoolVar(&o.Update, "update", false, "write the snapshots of calls whose other assertions hold anew")
	c.Flags().BoolVar(&o.Trust, "trust", false, "trust the servers that the files describe until they change, without asking")
	o.Reports.RegisterReport(c)
	o.Batch.RegisterFile(c)
	o.Second.Register(c)
	replaying := runner.Replaying{Ignore: &o.Second.Ignore}
	replaying.Register(c)
	for _, name := range []string{"filter", "all-tools"} {
		f := c.Flags().Lookup(name)
		f.Usage = "of recorded traffic, " + f.Usage
	}
	f := c.Flags().Lookup("ignore")
	f.Usage = strings.Replace(f.Usage, "with --compare,", "with --compare, or of recorded traffic,", 1)
	o.Reports.FailOn = report.FailLevels()[0]
	c.RunE = a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		if err := cmp.Or(o.Check(), o.Reports.PrepareReports(&a.Options)); err != nil {
			return err
		}
		own, target, err := runner.OwnTarget(a.App, cmd, args, runner.IsCall)
		if err != nil {
			return err
		}
		if file := recorded(own); file != "" {
			return a.runRecorded(ctx, cmd, own, target, &replaying, file)
		}
		return a.runCalls(ctx, cmd, own, target, o)
	})
	return c
}

// recorded is the first word that is a file of recorded traffic, "" for none.
func recorded(words []string) string {
	for _, w := range words {
		switch strings.ToLower(filepath.Ext(w)) {
		case ".jsonl", ".har":
			if info, err := os.Stat(w); err == nil && info.Mode().IsRegular() {
				return w
			}
		}
	}
	return ""
}

// onlyFor refuses flags that are for something else.
func onlyFor(cmd *cobra.Command, what string, flags ...string) error {
	for _, name := range flags {
		if cmd.Flags().Changed(name) {
			return failure.UsageError("--"+name+" is for "+what, "leave it out")
		}
	}
	return nil
}

// runRecorded sends the requests of a file again.
func (a *app) runRecorded(ctx context.Context, cmd *cobra.Command, own []string, target runner.TargetOf, r *runner.Replaying, file string) error {
	if len(own) > 1 {
		return failure.UsageError(file+" is recorded traffic, which is sent alone and as it is", "leave the other words out")
	}
	if err := cmp.Or(onlyFor(cmd, "calls of files and of the history", "update", "trust", "report", "concurrency", "batch", "compare", "twice"), r.Check()); err != nil {
		return err
	}
	s, err := target(func() (config.Server, error) {
		return config.Server{}, failure.UsageError("no server was named, and recorded traffic names none", cli.NameTarget)
	})
	if err != nil {
		return err
	}
	return a.Connected(ctx, s, func(ctx context.Context, l *cli.Link) error { return r.Replay(ctx, a.App, l, "run", file) })
}

// runCalls makes the calls that words name.
func (a *app) runCalls(ctx context.Context, cmd *cobra.Command, own []string, target runner.TargetOf, o runner.Flags) error {
	special, err := o.Special()
	if err = cmp.Or(onlyFor(cmd, "recorded traffic", "filter", "all-tools"), err); err != nil {
		return err
	}
	var files []calls.File
	var words, given []string
	for _, w := range own {
		if _, err := os.Lstat(w); err != nil && strings.Contains(w, "=") {
			given = append(given, w)
			continue
		}
		words = append(words, w)
	}
	for _, w := range words {
		found, err := runner.FindCalls(a.App, w)
		if failure.KindOf(err) == failure.NotFound {
			// A history that cannot be read does not hide that there is no such file.
			if kept, missing := a.remembered(ctx, w, len(given) > 0 || cmd.Flags().Changed("batch")); missing == nil || failure.KindOf(missing) == failure.Usage {
				found, err = []calls.File{kept}, missing
			}
		}
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return failure.UsageError("no call was named", "usage: "+cmd.UseLine())
	}
	r, err := runner.PrepareRun(ctx, a.App, files, target, given, o)
	if err != nil {
		return err
	}
	switch {
	case !r.Several():
		return r.Single(ctx)
	case special:
		return failure.UsageError("--batch and --compare are for a single call", "name one, and leave --report out")
	}
	var ran []calls.Outcome
	var first error
	p, began, silent := a.Printer(), time.Now(), o.Reports.ToStdout()
	print := func(_ int, came []calls.Outcome) error {
		for _, c := range came {
			first = cmp.Or(first, c.Err)
			if !silent {
				if err := runner.PrintOutcome(p, c); err != nil {
					return err
				}
			}
			if c.Reply = (rpc.Reply{}); p.Format != output.FormatJSON {
				c.Result = nil // printed, or not to be
			}
			ran = append(ran, c)
		}
		return nil
	}
	var unwritten error
	if len(o.Reports.Out) == 0 {
		err = r.All(ctx, print)
	} else {
		err, unwritten = reported(ctx, r, p, print)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	if !silent {
		unwritten = cmp.Or(runner.PrintAll(p, ran, len(files), time.Since(began)), unwritten)
	}
	return cmp.Or(unwritten, err, first)
}

// reported is all with the reports that were asked for. err is that of all, unwritten that of the reports.
func reported(ctx context.Context, r *runner.Run, p *output.Printer, print func(int, []calls.Outcome) error) (err, unwritten error) {
	section := r.Section(func(ctx context.Context, each func(int, []calls.Outcome) error) error {
		err = r.All(ctx, func(i int, came []calls.Outcome) error { return cmp.Or(each(i, came), print(i, came)) })
		return err
	})
	rep, _ := r.Report(ctx, section) // an interrupt is also the error of all
	o := r.O.Reports.Options([]check.Section{section}, r.Files[0].Path)
	write := func(w io.Writer, format string, change func(*reports.Options)) error {
		o := o
		change(&o)
		return reports.Write(w, format, rep, o)
	}
	unwritten = r.O.Reports.WriteFiles(write)
	for _, out := range r.O.Reports.Out {
		if out.File == "" {
			unwritten = errors.Join(unwritten, r.O.Reports.Print(p, out.Format, write))
		}
	}
	return err, unwritten
}
