package traffic

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/traffic/export"
	"github.com/mcphud/mcphud/session/traffic/trace"
	"github.com/mcphud/mcphud/session/wire/journal"
)

func (a *app) journalCommand() *cobra.Command {
	c := a.Group("journal", "Redact, cut, merge, export and replay recorded traffic", a.redactCommand(), a.cutCommand(), a.mergeCommand(), a.exportCommand(), a.statsCommand(), a.replayCommand())
	c.Long = "journal makes new files of recorded traffic, such as --journal writes: without what is secret, a part of one, several as one, or in a format for others; replay sends what is in one again. " +
		"It reads whatever mcphud open reads. See mcphud help journal."
	return c
}

// a fileCommand makes a new file of others.
type fileCommand struct {
	out     string
	inPlace bool
}

// command makes a command that is given files and writes one.
func (a *app) fileCommand(c *cobra.Command, o *fileCommand, most int, f func(ctx context.Context, args []string) error) *cobra.Command {
	c.Flags().StringVarP(&o.out, "out", "o", "", "write to `FILE`, which must not exist (default standard output)")
	c.Args, c.Annotations = cobra.ArbitraryArgs, cli.Rule(map[bool]string{true: "one", false: "some"}[most == 1])
	c.RunE = a.Action(func(ctx context.Context, cmd *cobra.Command, args []string) error {
		switch {
		case cli.HiddenFlag(cmd) != "":
			return failure.UsageError("--"+cli.HiddenFlag(cmd)+" does not apply to "+cmd.CommandPath()+", which connects to no server", "see "+cmd.CommandPath()+" --help")
		case len(args) == 0 || most > 0 && len(args) > most || cmd.ArgsLenAtDash() >= 0:
			return failure.UsageError(fmt.Sprintf("%s takes %s, and got %d arguments", cmd.CommandPath(), map[bool]string{true: "one file", false: "at least one file"}[most == 1], len(args)), "see "+cmd.CommandPath()+" --help")
		case o.inPlace && (o.out != "" || args[0] == "-"):
			return failure.UsageError("--in-place is for a file that has no other name", "leave out --out, or --in-place")
		case o.out == "" && !o.inPlace && output.Terminal(a.Out):
			return failure.UsageError("a journal is not for a terminal", "name a file with --out, or pipe the output to another program; mcphud open shows it")
		}
		return f(ctx, args)
	})
	return c
}

// write calls f with where the output goes. A file is private, and is not there if f fails.
func (a *app) write(o *fileCommand, of string, f func(w io.Writer) error) (err error) {
	if o.out == "" && !o.inPlace || o.out == "-" {
		return f(output.Stdout{File: a.Out})
	}
	name := o.out
	var file *os.File
	if o.inPlace {
		if name, err = filepath.EvalSymlinks(of); err == nil {
			file, err = os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*") // mode 0600
		}
	} else {
		file, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return failure.UsageError(name+" exists already, and is left as it is", "name another file, or remove it")
	case err != nil:
		return &failure.Error{Kind: failure.Usage, Message: "cannot write the file: " + err.Error(), Err: err, Next: "name a file that can be written"}
	}
	err = f(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil && o.inPlace {
		err = files.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		if path := (*fs.PathError)(nil); errors.As(err, &path) {
			return &failure.Error{Kind: failure.Usage, Message: "cannot write the file: " + err.Error(), Err: err, Next: "make room, or name another file; nothing was written"}
		}
	}
	return err
}

func (a *app) cutCommand() *cobra.Command {
	o, q := &fileCommand{}, export.Query{}
	c := &cobra.Command{
		Use: "cut [flags] FILE", Short: "Keep a part of a file of recorded traffic",
		Long: "cut writes the entries that --filter, --first and --last select; at:10:31..10:32 in a filter selects a time. " +
			"Of an exchange it keeps all or nothing: the request, its answer, its progress and its HTTP heads.",
		Example: "  mcphud journal cut session.jsonl --filter 'tool:search status:error' --handshake -o failed.jsonl\n" +
			"  mcphud journal cut session.jsonl --filter at:10:31..10:32 -o minute.jsonl\n  mcphud journal cut session.jsonl --last 20 -o end.jsonl",
	}
	only := cli.AddFilter(c.Flags())
	c.Flags().IntVar(&q.First, "first", 0, "keep the first `N` exchanges, and entries that stand alone, of what is selected")
	c.Flags().IntVar(&q.Last, "last", 0, "keep the last `N` of them")
	c.Flags().BoolVar(&q.Handshake, "handshake", false, "keep also how connections began, which tells the protocol version")
	return a.fileCommand(c, o, 1, func(ctx context.Context, args []string) error {
		if err := only.Parse(); err != nil {
			return err
		}
		q.Filter = only.Filter
		if q.First < 0 || q.Last < 0 {
			return failure.UsageError("--first and --last are numbers of 1 and more", "leave out what is not wanted")
		}
		if q.Filter.Empty() && q.First == 0 && q.Last == 0 {
			return failure.UsageError("nothing says what to keep", "give --filter, --first or --last")
		}
		return a.rewrite(ctx, o, args[0], q, nil)
	})
}

// rewrite writes what a query selects of a file.
func (a *app) rewrite(ctx context.Context, o *fileCommand, name string, q export.Query, change export.Change) error {
	f, err := a.Whole(ctx, name)
	if err != nil {
		return err
	}
	defer f.Close()
	keep, err := export.Select(ctx, f.Journal, q)
	if err != nil {
		return err
	}
	n := 0
	if err := a.write(o, name, func(w io.Writer) (err error) {
		n, err = export.WriteSelection(ctx, w, &export.Source{Journal: f.Journal, Keep: keep, Change: change})
		return err
	}); err != nil {
		return err
	}
	if keep != nil {
		a.Note(fmt.Sprintf("mcphud: %s: kept %d of %s", name, n, text.Count(f.Len(), "entry", "entries")))
	}
	return nil
}

func (a *app) mergeCommand() *cobra.Command {
	o := &fileCommand{}
	var offsets []string
	c := &cobra.Command{
		Use: "merge [flags] [LABEL=]FILE…", Short: "Make one file of several, by time",
		Long: "merge writes the entries of all files in the order of time. A server that is in several files is called NAME@LABEL, with the label of its file, " +
			"which is the name of the file if none is given. Where the clocks of the machines differed, --offset puts that right.",
		Example: "  mcphud journal merge client.jsonl router.jsonl -o both.jsonl\n  mcphud journal merge here=a.jsonl there=b.jsonl --offset there=-1.5s -o both.jsonl",
	}
	c.Flags().StringArrayVar(&offsets, "offset", nil, "add a time such as 1.5s or -200ms to that of a file's entries: `LABEL=TIME` (repeatable)")
	return a.fileCommand(c, o, 0, func(ctx context.Context, args []string) error {
		labels, names, err := labelled(args)
		if err != nil {
			return err
		}
		sources := make([]*export.Source, len(names))
		for _, text := range offsets {
			label, value, _ := strings.Cut(text, "=")
			d, err := time.ParseDuration(value)
			i := slices.Index(labels, label)
			switch {
			case err != nil:
				return failure.UsageError(fmt.Sprintf("--offset %q has no time such as 1.5s or -200ms", text), "give it as --offset LABEL=TIME")
			case i < 0:
				return failure.UsageError(fmt.Sprintf("--offset: no file is called %q", label), "the labels are "+strings.Join(labels, ", "))
			}
			sources[i] = &export.Source{Offset: d}
		}
		for i, name := range names {
			f, err := a.Whole(ctx, name)
			if err != nil {
				return err
			}
			defer f.Close()
			if sources[i] == nil {
				sources[i] = &export.Source{}
			}
			sources[i].Journal = f.Journal
		}
		export.Label(sources, labels)
		return a.write(o, "", func(w io.Writer) error {
			_, err := export.WriteSelection(ctx, w, sources...)
			return err
		})
	})
}

// labelled takes [LABEL=]FILE apart.
func labelled(args []string) (labels, names []string, err error) {
	for _, arg := range args {
		label, name, ok := strings.Cut(arg, "=")
		if _, err := os.Stat(arg); !ok || err == nil || strings.ContainsAny(label, `/\`) {
			name = arg
			label, _, _ = strings.Cut(filepath.Base(arg), ".")
		}
		if slices.Contains(labels, label) {
			return nil, nil, failure.UsageError(fmt.Sprintf("two files are called %q", label), "give each a label of its own: LABEL="+name)
		}
		labels, names = append(labels, label), append(names, name)
	}
	return labels, names, nil
}

// exported are the formats of export.
var exported = []string{"jsonl", "har", "otlp", "html"}

func (a *app) exportCommand() *cobra.Command {
	o := &fileCommand{}
	format := "jsonl"
	c := &cobra.Command{
		Use: "export [flags] FILE", Short: "Write recorded traffic in another format",
		Long: "export writes what --filter selects in a format for others: jsonl, the lines of mcphud itself; har, an HTTP archive for browsers and proxies, " +
			"in which exchanges over stdio are entries that are marked as made up; otlp, a span for each exchange and those that routers and agents recorded, " +
			"as OpenTelemetry's JSON; html, one page for a bug report that loads nothing and is at most 8 MB, with what mcphud explain finds. Redact first what is secret.",
		Example: "  mcphud journal export session.jsonl --format html -o report.html\n  mcphud journal export session.jsonl --format har -o session.har\n  mcphud journal export browser.har --format jsonl | jq .method",
	}
	only := cli.AddFilter(c.Flags())
	c.Flags().Var(&flags.Choice{Value: &format, Allowed: exported}, "format", "write this `FORMAT`: "+strings.Join(exported, ", "))
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(exported, cobra.ShellCompDirectiveNoFileComp))
	return a.fileCommand(c, o, 1, func(ctx context.Context, args []string) error {
		if err := only.Parse(); err != nil {
			return err
		}
		if format == "jsonl" {
			return a.rewrite(ctx, o, args[0], export.Query{Filter: only.Filter}, nil)
		}
		f, err := a.Whole(ctx, args[0])
		if err != nil {
			return err
		}
		defer f.Close()
		keep, err := export.Select(ctx, f.Journal, export.Query{Filter: only.Filter})
		if err != nil {
			return err
		}
		left := ""
		err = a.write(o, "", func(w io.Writer) (err error) {
			switch format {
			case "har":
				left, err = export.HAR(ctx, w, f.Journal, keep, cli.Version())
			case "html":
				var kept func(uint64) bool
				if keep != nil {
					kept = keep.Has
				}
				findings, wrong := live.PageFindings(ctx, f.Journal, kept)
				if wrong != nil {
					return wrong
				}
				left, err = export.HTML(ctx, w, f.Journal, keep, findings, f.Name, cli.Version())
			case "otlp":
				_, err = trace.WriteOTLP(w, f.Journal, func(e *journal.Entry) bool { return keep == nil || keep.Has(e.Seq) })
			}
			return err
		})
		if err == nil && left != "" {
			a.Note("mcphud: " + left)
		}
		return err
	})
}
