package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/safe"
)

// explainedSetting is a setting as JSON, without secrets.
type explainedSetting struct {
	Name string `json:"name"`
	Flag string `json:"flag,omitempty"` // with its dashes
	Env  string `json:"env,omitempty"`
	Key  string `json:"key,omitempty"` // in the file
	origin
	Overridden []origin `json:"overridden,omitempty"` // given and not used, highest precedence first
	Problem    string   `json:"problem,omitempty"`    // why the value is invalid
}

// settingsFile is the file of settings as JSON.
type settingsFile struct {
	Path  string `json:"path"`
	Found bool   `json:"found"`
}

// MarshalJSON is the resolution without secrets.
func (r *resolution) MarshalJSON() ([]byte, error) {
	v := struct {
		File     *settingsFile      `json:"file,omitempty"`
		Settings []explainedSetting `json:"settings"`
		Warnings []config.Warning   `json:"warnings"`
		Problems []string           `json:"problems"` // for which the whole file is not used
	}{Settings: []explainedSetting{}, Warnings: append([]config.Warning{}, r.warnings...), Problems: r.problems()}
	if r.file != "" {
		v.File = &settingsFile{r.file, r.found}
	}
	for _, s := range r.values {
		v.Settings = append(v.Settings, s.explained())
	}
	return json.Marshal(v)
}

// problems are the errors that are not about one value.
func (r *resolution) problems() []string {
	all := []string{}
	for _, err := range []error{r.fileErr, r.conflict} {
		if err != nil {
			all = append(all, mask.Text(err.Error()))
		}
	}
	return all
}

func (v *resolved) explained() explainedSetting {
	e := explainedSetting{Name: v.flag, Env: v.env, Key: v.key, origin: v.from}
	if v.isFlag {
		e.Flag = "--" + v.flag
	}
	e.Value = v.shown(v.value)
	for _, o := range v.overridden {
		o.Value = v.shown(o.Value)
		e.Overridden = append(e.Overridden, o)
	}
	if v.problem != nil {
		e.Problem = errors.Unwrap(v.problem).Error()
	}
	return e
}

// label is the setting as it is written on a command line, in the environment or in a file.
func (e explainedSetting) label() string {
	switch {
	case e.Flag != "":
		return e.Flag
	case e.Env != "":
		return e.Env
	}
	return e.Key
}

// explained writes the whole explanation as text. width is the terminal's, 0 for none; paths below home begin with a tilde.
func (t *textOutput) explained(e *explained, width int, home string) {
	first := true
	for _, part := range []struct {
		title string
		r     *resolution
	}{{"agent", e.Agent}, {"router", e.Router}, {"mcphud", e.General}, {"all servers", e.Servers}} {
		if part.r == nil {
			continue
		}
		if !first {
			t.block("")
		}
		first = false
		t.block(part.title)
		t.settings(part.r, width, home)
	}
	if e.Files == nil {
		return
	}
	t.block("\nserver configs, in order of precedence")
	var none []string // dialects whose files are not there, in order
	missing := map[string][]string{}
	for _, f := range e.Files {
		state := "not there"
		switch {
		case !f.Found && !e.absent && len(f.Problems) == 0:
			if missing[f.Dialect] == nil {
				none = append(none, f.Dialect)
			}
			missing[f.Dialect] = append(missing[f.Dialect], tilde(f.Path, home))
			continue
		case !f.Found:
		case f.Err != nil:
			state = "cannot be read"
		case f.Servers == 1:
			state = "1 server"
		default:
			state = fmt.Sprintf("%d servers", f.Servers)
		}
		t.row([]int{14, 14}, state, f.Dialect, tilde(f.Path, home))
		for _, w := range f.Problems {
			t.remark(width, 14, within(w))
		}
	}
	for _, dialect := range none {
		files := missing[dialect][0]
		if n := len(missing[dialect]) - 1; n > 0 {
			files += fmt.Sprintf(" and %d more", n)
		}
		t.row([]int{14, 14}, "not there", dialect, files)
	}
	if none != nil {
		t.block("  --all lists them")
	}
}

// within is a warning without the file's name, which stands above it.
func within(w config.Warning) string {
	if w.Line == 0 {
		return w.Message
	}
	return fmt.Sprintf("line %d: %s", w.Line, w.Message)
}

// Column widths with which most lines, sources included, fit 80 columns.
const widestName, widestValue = 21, 16

func (t *textOutput) settings(r *resolution, width int, home string) {
	var all []explainedSetting
	name, value := len("file"), 0
	for i := range r.values {
		e := r.values[i].explained()
		all = append(all, e)
		name, value = max(name, min(widestName, len(e.label()))), max(value, min(widestValue, ansi.StringWidth(e.Value)))
	}
	widths := []int{name, value}
	if r.file != "" {
		state := ""
		if !r.found {
			state = ", not found"
		}
		t.row(widths[:1], "file", tilde(r.file, home)+state)
	}
	for _, w := range r.warnings {
		t.remark(width, name, within(w))
	}
	for _, e := range all {
		t.row(widths, e.label(), tilde(e.Value, home), tilde(e.origin.String(), home))
		if e.Problem != "" {
			t.remark(width, name, e.Problem)
		}
		for _, o := range e.Overridden {
			t.row(widths, "  overridden", tilde(o.Value, home), tilde(o.String(), home))
		}
	}
	for _, p := range r.problems() {
		t.remark(width, name, p)
	}
}

// row writes cells in columns; after one that is wider than its column it continues on the next line, so that nothing is cut.
func (t *textOutput) row(widths []int, cells ...string) {
	line, column := " ", 1
	for i, cell := range cells {
		if cell = safe.Line(cell, 0); cell == "" && i > 0 {
			cell = "-"
		}
		if have := ansi.StringWidth(line); have >= column && i > 0 {
			t.b.WriteString(line + "\n")
			line = strings.Repeat(" ", column)
		} else {
			line += strings.Repeat(" ", column-have)
		}
		line += " " + cell
		if i < len(widths) {
			column += widths[i] + 2
		}
	}
	t.b.WriteString(line + "\n")
}

// remark writes a problem below the column at indent, wrapped between words.
func (t *textOutput) remark(width, column int, s string) {
	s = "! " + safe.Line(s, 0)
	if width > column+20 {
		s = ansi.Wrap(s, width-column-4, "/")
	}
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			line = "  " + strings.TrimSpace(line)
		}
		t.b.WriteString(strings.Repeat(" ", column+4) + line + "\n")
	}
}

// tilde abbreviates the home folder in a path.
func tilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && len(home) > 1 {
		return "~/" + rest
	}
	return path
}
