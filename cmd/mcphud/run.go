package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/check"
	reports "github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/session/wire/rpc"
	"github.com/mcphud/mcphud/tui/safe"
)

func (a *app) runCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "run CALL… [KEY=VALUE…] [flags] [SERVER | URL | -- COMMAND ARGS…]", Short: "Make named calls of a project", Annotations: rule("some"),
		Long: "Makes calls that are kept as files. CALL is the name of one in " + calls.Folder + " of this project, a file, or a folder: then all calls in it are made, in the order of their names. " +
			"KEY=VALUE changes an argument. A target on the command line is called instead of the servers that the files name. mcphud help history explains the files.\n\n" +
			"Files can say what answers have to be: by jq expressions, a schema, a time limit, a snapshot. Exit code 9 where one is not. --update keeps answers as new snapshots.\n\n" +
			"Several calls are all made, also after one failed; the exit code is that of the first that failed. Each file has a connection of its own, to a process of its own; several files run at a time. --report writes what came of them as JUnit and other formats.\n\n" +
			"A server that a file describes is started once you trust it: a terminal asks, --trust agrees beforehand. mcphud help ci has more about scripts.",
		Example: "  mcphud run search\n  mcphud run search query=other --format json\n  mcphud run .mcphud/calls --concurrency 8 -- node server.js\n  mcphud run search --update\n  mcphud run .mcphud/calls --trust --report junit=calls.xml",
		Args:    cobra.ArbitraryArgs,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			dir, err := projectCalls()
			if err != nil {
				return nil, cobra.ShellCompDirectiveDefault
			}
			names, _ := calls.Names(dir) // none, no completions
			return names, cobra.ShellCompDirectiveDefault
		},
	}
	var o runFlags
	o.register(c)
	c.Flags().BoolVar(&o.update, "update", false, "write the snapshots of calls whose other assertions hold anew")
	c.Flags().BoolVar(&o.trust, "trust", false, "trust the servers that the files describe until they change, without asking")
	o.reports.registerReport(c)
	o.reports.failOn = failLevels()[0]
	c.RunE = a.action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		if err := cmp.Or(o.check(), o.reports.prepareReports()); err != nil {
			return err
		}
		own, target, err := a.ownTarget(cmd, args, isCall)
		if err != nil {
			return err
		}
		return a.runCalls(ctx, cmd, own, target, o)
	})
	return c
}

// runFlags say how files of calls are run.
type runFlags struct {
	concurrency int
	update      bool
	trust       bool // what the files describe is started without a question
	reports     checkReports
}

const usualFiles, maxFiles = 4, 256

func (o *runFlags) register(c *cobra.Command) {
	c.Flags().IntVar(&o.concurrency, "concurrency", usualFiles, "run `N` files of calls at a time")
}

func (o *runFlags) check() error {
	if o.concurrency < 1 || o.concurrency > maxFiles {
		return usageError(fmt.Sprintf("--concurrency is %d, and must be from 1 to %d", o.concurrency, maxFiles), "give another number")
	}
	return nil
}

// targetOf is the server of a command, which may have none of its own: what the command line names comes first.
type targetOf func(otherwise func() (config.Server, error)) (config.Server, error)

// ownTarget separates a command's own arguments from the target, which need not be there. means is as in ownArgs.
func (a *app) ownTarget(cmd *cobra.Command, args []string, means func(word string) bool) ([]string, targetOf, error) {
	if err := a.o.check(cmd); err != nil {
		return nil, nil, err
	}
	own, command, dash, err := a.ownArgs(cmd, args, means)
	if err != nil {
		return nil, nil, err
	}
	return own, func(otherwise func() (config.Server, error)) (config.Server, error) {
		if dash || a.o.url+a.o.agent+a.o.server != "" {
			return a.o.target(cmd, command, dash)
		}
		s, err := otherwise()
		if err != nil {
			return s, err
		}
		return s, a.o.apply(cmd, &s)
	}, nil
}

// projectCalls is the folder of this project's calls.
func projectCalls() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the working folder: %w", err)
	}
	return calls.Dir(wd), nil
}

// isCall reports whether a word names a call of the project, a file or a folder.
func isCall(word string) bool {
	if _, err := os.Stat(word); err == nil {
		return true
	}
	dir, err := projectCalls()
	if err != nil {
		return false
	}
	file, err := calls.Path(dir, word)
	if err == nil {
		_, err = os.Lstat(file)
	}
	return err == nil
}

// findCalls are the calls that a word names.
func (a *app) findCalls(word string) ([]calls.File, error) {
	dir, err := projectCalls()
	if err != nil {
		return nil, err
	}
	if file, bad := calls.Path(dir, word); bad == nil {
		if _, err := os.Lstat(file); err == nil {
			return a.readCalls(file)
		}
	}
	info, err := os.Stat(word)
	switch {
	case err != nil:
		names, _ := calls.Names(dir) // for the advice only
		return nil, &failure.Error{
			Kind: failure.NotFound, Message: fmt.Sprintf("there is no call %q in %s, and no such file or folder", word, dir),
			Next: didYouMean(word, names) + cmp.Or(strings.Join(names[:min(len(names), 20)], ", "), "mcphud history save makes one"),
		}
	case !info.IsDir():
		return a.readCalls(word)
	}
	if inside, err := os.Stat(filepath.Join(word, calls.Folder)); err == nil && inside.IsDir() {
		word = filepath.Join(word, calls.Folder)
	}
	names, err := calls.Names(word)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, &failure.Error{Kind: failure.NotFound, Message: "there are no calls in " + word, Next: "a call is a file NAME.yaml; see mcphud help history"}
	}
	var files []string
	for _, n := range names {
		files = append(files, filepath.Join(word, n+".yaml"))
	}
	return a.readCalls(files...)
}

// readCalls reads files, and warns of what is not known in them.
func (a *app) readCalls(files ...string) (all []calls.File, err error) {
	for _, f := range files {
		c, warnings, err := calls.Read(f)
		if err != nil {
			return nil, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the file; see mcphud help history"}
		}
		for _, w := range warnings {
			a.note("mcphud: warning: " + w.String())
		}
		all = append(all, c)
	}
	return all, nil
}

// runCalls makes the calls that words name.
func (a *app) runCalls(ctx context.Context, cmd *cobra.Command, words []string, target targetOf, o runFlags) error {
	var files []calls.File
	var given []string
	for _, w := range words {
		if _, err := os.Lstat(w); err != nil && strings.Contains(w, "=") {
			given = append(given, w)
			continue
		}
		found, err := a.findCalls(w)
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return usageError("no call was named", "usage: "+cmd.UseLine())
	}
	r, err := a.prepareRun(ctx, files, target, given, o)
	if err != nil {
		return err
	}
	if !r.several() {
		return r.single(ctx)
	}
	var ran []ranCall
	var first error
	p, began, silent := a.printer(), time.Now(), o.reports.toStdout()
	print := func(_ int, calls []ranCall) error {
		for _, c := range calls {
			first = cmp.Or(first, c.err)
			if !silent {
				if err := p.ran(c); err != nil {
					return err
				}
			}
			if c.reply = (rpc.Reply{}); p.format != formatJSON {
				c.Result = nil // printed, or not to be
			}
			ran = append(ran, c)
		}
		return nil
	}
	var unwritten error
	if len(o.reports.out) == 0 {
		err = r.all(ctx, print)
	} else {
		err, unwritten = r.reported(ctx, p, print)
	}
	if err != nil && ctx.Err() == nil {
		return err
	}
	if !silent {
		unwritten = cmp.Or(p.ranAll(ran, len(files), time.Since(began)), unwritten)
	}
	return cmp.Or(unwritten, err, first)
}

// reported is all with the reports that were asked for. err is that of all, unwritten that of the reports.
func (r *callRun) reported(ctx context.Context, p *printer, print func(int, []ranCall) error) (err, unwritten error) {
	section := r.section(func(ctx context.Context, each func(int, []ranCall) error) error {
		err = r.all(ctx, func(i int, calls []ranCall) error { return cmp.Or(each(i, calls), print(i, calls)) })
		return err
	})
	rep, _ := r.report(ctx, section) // an interrupt is also the error of all
	o := r.o.reports.options([]check.Section{section}, r.files[0].Path)
	write := func(w io.Writer, format string, change func(*reports.Options)) error {
		o := o
		change(&o)
		return reports.Write(w, format, rep, o)
	}
	unwritten = r.o.reports.writeFiles(write)
	for _, out := range r.o.reports.out {
		if out.file == "" {
			unwritten = errors.Join(unwritten, r.o.reports.print(p, out.format, write))
		}
	}
	return err, unwritten
}

// kept is a call of a file as one that is made again.
func kept(c calls.Call, given []string) *keptCall {
	return &keptCall{method: c.Method, target: c.Target, args: c.Arguments, meta: c.Meta, timeout: c.Timeout, secrets: c.Secrets, given: slices.Clone(given)}
}

// runOne makes one call and prints what it gave.
func (a *app) runOne(ctx context.Context, l *link, k *keptCall) error {
	r, err := k.make(ctx, l)
	if err != nil {
		return k.named(ctx, l, err)
	}
	return k.print(l, r)
}

// serverOf is the server that a file names or describes. trust says that the latter is trusted without a question.
func (a *app) serverOf(ctx context.Context, c calls.Call, trust bool) (config.Server, error) {
	if c.Server != "" {
		return a.o.configured(c.Server)
	}
	s, ok := c.Config()
	if !ok {
		return s, usageError("no server was named, and "+c.File+" names none", nameTarget)
	}
	if err := a.trustCall(ctx, s, trust); err != nil {
		return s, err
	}
	s.Source.Project = false // what it runs was trusted, whatever flags add
	return s, nil
}

// trustCall asks whether a server that a file of the project describes may be started, unless that was agreed to before, or yes agrees now.
func (a *app) trustCall(ctx context.Context, s config.Server, yes bool) error {
	trust := a.o.trust()
	if trust.Trusted(s) {
		return nil
	}
	if yes {
		a.note("mcphud: trusted until it changes, by --trust: " + safe.Line(mask.Text(destination(s)), 200))
		if trust == nil {
			return nil // there is no folder to save it in
		}
		if err := trust.Trust(s); err != nil {
			a.note("mcphud: warning: " + err.Error())
		}
		return nil
	}
	refused := &failure.Error{
		Kind: failure.ServerDisabled, Server: s.Name, Message: "not trusted yet: its command or URL comes from a file of this project, " + s.Source.File,
		Next: "run it on a terminal, which shows what it would start and asks; read it and give --trust to accept it; or name a server yourself",
	}
	if !terminal(a.in) || !terminal(a.err) || trust == nil {
		return refused
	}
	var b strings.Builder
	for _, f := range config.Describe(s) {
		fmt.Fprintf(&b, "  %-8s %s\n", f.Label, safe.Text(f.Value))
	}
	fmt.Fprintf(a.err, "A file of this project wants to start or contact a server:\n%sTrust it, until that changes? [y/N] ", b.String())
	line, err := readLine(ctx, a.in)
	if err != nil {
		return err
	}
	if !strings.EqualFold(line, "y") && !strings.EqualFold(line, "yes") {
		return refused
	}
	return trust.Trust(s)
}
