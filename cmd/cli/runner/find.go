package runner

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/report"
	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/session/traffic/calls"
	"github.com/mcphud/mcphud/tui/safe"
)

// Flags say how files of calls are run.
type Flags struct {
	Concurrency int
	Update      bool
	Trust       bool // what the files describe is started without a question
	Reports     report.Flags
	Batch       Batching  // of a single call
	Second      Comparing // likewise
}

// UsualFiles is how many files of calls run at a time where nothing says otherwise; maxFiles is the most.
const UsualFiles, maxFiles = 4, 256

// Register gives a command the flags.
func (o *Flags) Register(c *cobra.Command) {
	c.Flags().IntVar(&o.Concurrency, "concurrency", UsualFiles, "run `N` files of calls at a time")
}

// Special reports whether the flags are about a single call, and refuses those that do not fit.
func (o *Flags) Special() (bool, error) {
	second, err := o.Second.Asked()
	if err != nil {
		return false, err
	}
	if o.Batch.concurrency = 1; o.Batch.cmd.Flags().Changed("concurrency") {
		o.Batch.concurrency = o.Concurrency
	}
	if !o.Batch.cmd.Flags().Changed("batch") {
		return second, nil
	}
	return o.Batch.Asked("", false, second)
}

// Check says what is wrong with the flags, nil for nothing.
func (o *Flags) Check() error {
	if o.Concurrency < 1 || o.Concurrency > maxFiles {
		return failure.UsageError(fmt.Sprintf("--concurrency is %d, and must be from 1 to %d", o.Concurrency, maxFiles), "give another number")
	}
	return nil
}

// TargetOf is the server of a command, which may have none of its own: what the command line names comes first.
type TargetOf func(otherwise func() (config.Server, error)) (config.Server, error)

// OwnTarget separates a command's own arguments from the target, which need not be there. means is as in OwnArgs.
func OwnTarget(a *cli.App, cmd *cobra.Command, args []string, means func(word string) bool) ([]string, TargetOf, error) {
	if err := a.Options.Check(cmd); err != nil {
		return nil, nil, err
	}
	own, command, dash, err := a.OwnArgs(cmd, args, means)
	if err != nil {
		return nil, nil, err
	}
	return own, func(otherwise func() (config.Server, error)) (config.Server, error) {
		if dash || a.Options.Named() {
			return a.Options.Target(cmd, command, dash)
		}
		s, err := otherwise()
		if err != nil {
			return s, err
		}
		return s, a.Options.Apply(cmd, &s)
	}, nil
}

// ProjectCalls is the folder of this project's calls.
func ProjectCalls() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("the working folder: %w", err)
	}
	return calls.Dir(wd), nil
}

// IsCall reports whether a word names a call of the project, a file or a folder.
func IsCall(word string) bool {
	if _, err := os.Stat(word); err == nil {
		return true
	}
	dir, err := ProjectCalls()
	if err != nil {
		return false
	}
	file, err := calls.Path(dir, word)
	if err == nil {
		_, err = os.Lstat(file)
	}
	return err == nil
}

// FindCalls are the calls that a word names.
func FindCalls(a *cli.App, word string) ([]calls.File, error) {
	dir, err := ProjectCalls()
	if err != nil {
		return nil, err
	}
	if file, bad := calls.Path(dir, word); bad == nil {
		if _, err := os.Lstat(file); err == nil {
			return readCalls(a, file)
		}
	}
	info, err := os.Stat(word)
	switch {
	case err != nil:
		names, _ := calls.Names(dir) // for the advice only
		return nil, &failure.Error{
			Kind: failure.NotFound, Message: fmt.Sprintf("there is no call %q in %s, and no such file or folder", word, dir),
			Next: output.DidYouMean(word, names) + cmp.Or(strings.Join(names[:min(len(names), 20)], ", "), "mcphud history save makes one"),
		}
	case !info.IsDir():
		return readCalls(a, word)
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
	return readCalls(a, files...)
}

// readCalls reads files, and warns of what is not known in them.
func readCalls(a *cli.App, files ...string) (all []calls.File, err error) {
	for _, f := range files {
		c, warnings, err := calls.Read(f)
		if err != nil {
			return nil, &failure.Error{Kind: failure.Usage, Message: err.Error(), Err: err, Next: "correct the file; see mcphud help history"}
		}
		for _, w := range warnings {
			a.Note("mcphud: warning: " + w.String())
		}
		all = append(all, c)
	}
	return all, nil
}

// serverOf is the server that a call names or describes. trust says that one that a file describes is trusted without a question.
func serverOf(ctx context.Context, a *cli.App, c calls.Call, trust bool) (config.Server, error) {
	if !c.Server.Unnamed && c.Server.Name != "" {
		return a.Options.Configured(c.Server.Name)
	}
	if c.File == "" { // whoever made it once has trusted it
		s, ok := c.Server.Config()
		if !ok {
			return s, failure.UsageError("what "+c.Server.Where()+" was called with is not all kept: variables, headers and secrets are not", cli.NameTarget)
		}
		return s, nil
	}
	s, ok := c.Config()
	if !ok {
		return s, failure.UsageError("no server was named, and "+c.File+" names none", cli.NameTarget)
	}
	if err := trustCall(ctx, a, s, trust); err != nil {
		return s, err
	}
	s.Source.Project = false // what it runs was trusted, whatever flags add
	return s, nil
}

// trustCall asks whether a server that a file of the project describes may be started, unless that was agreed to before, or yes agrees now.
func trustCall(ctx context.Context, a *cli.App, s config.Server, yes bool) error {
	trust := a.Options.Trust()
	if trust.Trusted(s) {
		return nil
	}
	if yes {
		a.Note("mcphud: trusted until it changes, by --trust: " + safe.Line(mask.Text(s.Destination()), 200))
		if trust == nil {
			return nil // there is no folder to save it in
		}
		if err := trust.Trust(s); err != nil {
			a.Note("mcphud: warning: " + err.Error())
		}
		return nil
	}
	refused := &failure.Error{
		Kind: failure.ServerDisabled, Server: s.Name, Message: "not trusted yet: its command or URL comes from a file of this project, " + s.Source.File,
		Next: "run it on a terminal, which shows what it would start and asks; read it and give --trust to accept it; or name a server yourself",
	}
	if !output.Terminal(a.In) || !output.Terminal(a.Err) || trust == nil {
		return refused
	}
	var b strings.Builder
	for _, f := range config.Describe(s) {
		fmt.Fprintf(&b, "  %-8s %s\n", f.Label, safe.Text(f.Value))
	}
	fmt.Fprintf(a.Err, "A file of this project wants to start or contact a server:\n%sTrust it, until that changes? [y/N] ", b.String())
	line, err := cli.ReadLine(ctx, a.In)
	if err != nil {
		return err
	}
	if !strings.EqualFold(line, "y") && !strings.EqualFold(line, "yes") {
		return refused
	}
	return trust.Trust(s)
}
