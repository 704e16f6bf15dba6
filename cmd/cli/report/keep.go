package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/contract"
	reports "github.com/mcphud/mcphud/session/check/report"
	"github.com/mcphud/mcphud/tui/page"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

func filesOf(out []reportFile) (files []string) {
	for _, o := range out {
		files = append(files, o.File)
	}
	return files
}

// ShortPath is path below wd where it is there.
func ShortPath(wd, path string) string {
	if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// writer writes one report, or several as one, in a format.
type writer func(w io.Writer, format string, change func(*reports.Options)) error

// Write writes the report of a server: to the files of --report, and to stdout in any case.
func (c *Flags) Write(p *output.Printer, of reports.Of) error {
	return c.writeWith(p, of.Report.Millis, func(w io.Writer, format string, change func(*reports.Options)) error {
		o := of.Options
		change(&o)
		return reports.Write(w, format, of.Report, o)
	})
}

// WriteAll is write for several servers.
func (c *Flags) WriteAll(p *output.Printer, all []reports.Of) error {
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

// WriteFiles writes the reports that are files.
func (c *Flags) WriteFiles(write writer) error {
	var errs []error
	for _, out := range c.Out {
		if out.File != "" {
			errs = append(errs, writeReport(out.File, func(w io.Writer) error {
				return write(w, out.Format, func(o *reports.Options) { o.Verbose = true })
			}))
		}
	}
	return errors.Join(errs...)
}

// writeWith writes files and what is printed, and judges the report, which took some milliseconds to make, by what was expected of it.
func (c *Flags) writeWith(p *output.Printer, took float64, write writer) error {
	format := reports.JSON
	if p.Format == output.FormatText {
		format = reports.Text
	}
	if i := slices.IndexFunc(c.Out, func(o reportFile) bool { return o.File == "" }); i >= 0 {
		format = c.Out[i].Format
	}
	if err := errors.Join(c.WriteFiles(write), c.Print(p, format, write)); err != nil || p.Expect == nil || !p.Expect.Any() {
		return err
	}
	var b bytes.Buffer
	if err := write(&b, reports.JSON, func(*reports.Options) {}); err != nil {
		return err
	}
	return p.Judge(output.Answer{Result: b.Bytes(), Took: time.Duration(took * float64(time.Millisecond))})
}

// Print writes a report to stdout. On a terminal nothing in it acts there.
func (c *Flags) Print(p *output.Printer, format string, write writer) error {
	shape := func(o *reports.Options) { o.Verbose, o.Width, o.Wrap = c.Verbose, p.Width, paint.Words }
	if !p.Tty && !p.Filters() {
		return write(p.W, format, shape)
	}
	var b bytes.Buffer
	if err := write(&b, format, shape); err != nil {
		return err
	}
	if format == reports.JSON || format == reports.SARIF {
		return p.Line(bytes.TrimRight(b.Bytes(), "\n"))
	}
	shown := b.Bytes()
	if p.Tty {
		shown = []byte(safe.Text(b.String()))
	}
	_, err := p.Write(shown)
	return err
}

// Options are those of all reports of a check by these sections. Findings are shown in the first of the files that is there.
func (c *Flags) Options(sections []check.Section, paths ...string) reports.Options {
	o := reports.Options{FailOn: reports.Never, Artifact: c.artifactOf(paths), Table: page.AlignRows}
	if c.FailOn != FailLevels()[3] {
		_ = o.FailOn.UnmarshalText([]byte(c.FailOn)) // the flag takes no other
	}
	for _, s := range append([]check.Section{check.Server()}, sections...) {
		o.Rules = append(o.Rules, s.Rules()...)
	}
	return o
}

// artifactOf is the file of the repository where findings are shown: the one that is named, else the first of some that is there, else the
// first.
func (c *Flags) artifactOf(paths []string) reports.Artifact {
	wd, err := os.Getwd()
	if err != nil {
		return reports.NewArtifact(paths[0], nil)
	}
	root := RepositoryOf(wd)
	named := c.artifact != ""
	if named {
		paths = []string{c.artifact}
	}
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err != nil || path == "" {
			continue
		}
		short := ShortPath(root, abs)
		if filepath.IsAbs(short) && !named {
			continue // it is not in the repository
		}
		if b, err := files.Read(abs, 16<<20); err == nil || named {
			return reports.NewArtifact(short, b)
		}
	}
	return reports.NewArtifact(filepath.Base(paths[0]), nil)
}

// RepositoryOf is the root of the repository that a folder is in, the folder itself where it is in none: paths in reports begin there.
func RepositoryOf(wd string) string {
	for at := wd; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return wd
		}
	}
}

// FindLock is the lock of the project that a folder belongs to: in it, or in one above up to the root of the repository. Where there is
// none it is where one would be made.
func FindLock(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return contract.FileName
	}
	for at := abs; ; at = filepath.Dir(at) {
		file := filepath.Join(at, contract.FileName)
		if _, err := os.Stat(file); err == nil {
			if rel, err := filepath.Rel(abs, file); err == nil {
				return rel
			}
			return file
		}
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil || at == filepath.Dir(at) {
			return contract.FileName
		}
	}
}

// CheckTool is how mcphud calls itself in reports.
func CheckTool() check.Tool { return check.Tool{Name: "mcphud", Version: cli.Version()} }
