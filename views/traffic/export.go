package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcphud/mcphud/session/base/files"
	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check/live"
	"github.com/mcphud/mcphud/session/traffic/export"
	"github.com/mcphud/mcphud/session/traffic/filter"
	"github.com/mcphud/mcphud/session/traffic/importer"
	"github.com/mcphud/mcphud/session/traffic/redact"
	"github.com/mcphud/mcphud/session/wire/journal"
	"github.com/mcphud/mcphud/tui"
	"github.com/mcphud/mcphud/tui/safe"
)

// formats are what traffic can be exported as, and how the names of their files end.
var formats = []struct{ word, ext string }{{"HTML page", ".html"}, {"HAR", ".har"}, {"JSONL", ".jsonl"}}

// cleaned is traffic without secrets, ready to be written.
type cleaned struct {
	folder  string // temporary: holds the lines
	lines   string
	ext     string
	entries int
	taken   []redact.Taken
}

// written is a file that traffic was exported to.
type written struct{ file, left string }

// export asks for a format, takes secrets out, says which, and writes a file.
func (v *traffic) export(c *tui.Ctx) tea.Cmd {
	var words []string
	for _, f := range formats {
		words = append(words, f.word)
	}
	j, only := c.Sessions.Journal(), v.Feed.Applied()
	return c.Choose("export as", "", words, func(c *tui.Ctx, word string) tea.Cmd {
		for _, f := range formats {
			if f.word == word {
				cmd, _ := c.Go("traffic", "look for secrets", func(ctx context.Context) (any, error) { return clean(ctx, j, only, f.ext) })
				return cmd
			}
		}
		return nil
	})
}

// clean writes what is exported without secrets to a temporary file, of which the other formats are made.
func clean(ctx context.Context, j *journal.Journal, only *filter.Filter, ext string) (p cleaned, err error) {
	keep, err := export.Select(ctx, j, export.Query{Filter: only})
	if err != nil {
		return p, err
	}
	r, err := redact.New(redact.Rules{})
	if err != nil {
		return p, err
	}
	j.Each(0, func(e *journal.Entry) bool {
		if keep == nil || keep.Has(e.Seq) {
			body, _ := j.Body(e.Seq) // what cannot be read says nothing
			r.Learn(*e, body)
		}
		return ctx.Err() == nil
	})
	if p.folder, err = os.MkdirTemp("", "mcphud-export-"); err != nil {
		return p, err
	}
	p.ext, p.lines = ext, filepath.Join(p.folder, "traffic.jsonl")
	err = files.WriteTo(p.lines, 0o600, func(w io.Writer) (err error) {
		p.entries, err = export.WriteSelection(ctx, w, &export.Source{Journal: j, Keep: keep, Change: r.Change})
		return err
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		p.drop()
	}
	p.taken = r.Report()
	return p, err
}

// drop removes what was prepared.
func (p *cleaned) drop() { _ = os.RemoveAll(p.folder) }

// ask says what was taken out, and asks for the file.
func (p *cleaned) ask(c *tui.Ctx) tea.Cmd {
	no := func(*tui.Ctx) tea.Cmd { p.drop(); return nil }
	return c.Ask(tui.Question{
		Label: "export to", Initial: "mcphud-" + time.Now().Format("20060102-150405") + p.ext, OnCancel: no,
		Check: func(name string) string {
			if strings.TrimSpace(name) == "" {
				return "a file name is needed"
			}
			return ""
		},
		OnDone: func(c *tui.Ctx, name string) tea.Cmd {
			body := p.summary()
			_, err := os.Lstat(name)
			there := err == nil
			if there {
				body += "\n\n! " + safe.Line(name, 200) + " is there already, and is replaced."
			}
			return c.Confirm(tui.Confirmation{
				Title: "Write " + safe.Line(name, 60) + "?", Body: body, Yes: "write", No: "cancel", Danger: there, OnNo: no,
				OnYes: func(c *tui.Ctx) tea.Cmd {
					version := c.Version()
					cmd, _ := c.Go("traffic", "export", func(ctx context.Context) (any, error) { return p.write(ctx, name, version) })
					return cmd
				},
			})
		},
	})
}

// summary says what is written, and what was taken out of it, by kind.
func (p *cleaned) summary() string {
	lines := []string{text.Count(p.entries, "entry", "entries") + " of what the filter leaves."}
	if len(p.taken) == 0 {
		return lines[0] + "\n\nNo secret was found in it. Read it before you give it to others."
	}
	lines = append(lines, "", "Taken out:")
	for _, t := range p.taken {
		lines = append(lines, fmt.Sprintf("  %d  %s, in %s", t.N, safe.Line(t.Rule, 60), safe.Line(t.Where(3), 80)))
	}
	return strings.Join(append(lines, "", "Read it before you give it to others: not every secret looks like one."), "\n")
}

// write makes the file, of an open copy of what was prepared.
func (p *cleaned) write(ctx context.Context, name, version string) (out written, err error) {
	defer p.drop()
	if out.file, err = filepath.Abs(name); err != nil {
		return out, err
	}
	f, err := importer.Open(p.lines)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Wait(ctx); err != nil {
		return out, err
	}
	return out, files.WriteTo(out.file, 0o600, func(w io.Writer) (err error) {
		switch p.ext {
		case ".har":
			out.left, err = export.HAR(ctx, w, f.Journal, nil, version)
		case ".html":
			findings, wrong := live.PageFindings(ctx, f.Journal, nil)
			if wrong != nil {
				return wrong
			}
			out.left, err = export.HTML(ctx, w, f.Journal, nil, findings, filepath.Base(name), version)
		default:
			_, err = export.WriteSelection(ctx, w, &export.Source{Journal: f.Journal})
		}
		return err
	})
}

// exported takes the outcome of a step; ok is whether the message was one.
func exported(c *tui.Ctx, m tui.OpDone) (cmd tea.Cmd, ok bool) {
	switch r := m.Value.(type) {
	case cleaned:
		if m.Err != nil {
			return c.Toast(tui.Failure, "cannot export: "+m.Err.Error()), true
		}
		return r.ask(c), true
	case written:
		if m.Err != nil {
			return c.Toast(tui.Failure, "cannot export: "+m.Err.Error()), true
		}
		return c.Toast(tui.Success, strings.TrimSuffix("wrote "+r.file+" · "+r.left, " · ")), true
	}
	return nil, false
}
