package config

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/cmd/cli"
	"github.com/mcphud/mcphud/cmd/cli/output"
	"github.com/mcphud/mcphud/cmd/cli/settings"
	"github.com/mcphud/mcphud/session/config"
	"github.com/mcphud/mcphud/tui/safe"
)

// printExplained writes the whole explanation as text. width is the terminal's, 0 for none; paths below home begin with a tilde.
func printExplained(t *output.Text, e *explained, width int, home string) {
	first := true
	for _, part := range []struct {
		title string
		r     *settings.Resolution
	}{{"agent", e.Agent}, {"router", e.Router}, {"mcphud", e.General}, {"all servers", e.Servers}} {
		if part.r == nil {
			continue
		}
		if !first {
			t.Block("")
		}
		first = false
		t.Block(part.title)
		printSettings(t, part.r, width, home)
	}
	if e.Files == nil {
		return
	}
	t.Block("\nserver configs, in order of precedence")
	var none []string // dialects whose files are not there, in order
	missing := map[string][]string{}
	for _, f := range e.Files {
		state := "not there"
		switch {
		case !f.Found && !e.absent && len(f.Problems) == 0:
			if missing[f.Dialect] == nil {
				none = append(none, f.Dialect)
			}
			missing[f.Dialect] = append(missing[f.Dialect], cli.Tilde(f.Path, home))
			continue
		case !f.Found:
		case f.Err != nil:
			state = "cannot be read"
		case f.Servers == 1:
			state = "1 server"
		default:
			state = fmt.Sprintf("%d servers", f.Servers)
		}
		printRow(t, []int{14, 14}, state, f.Dialect, cli.Tilde(f.Path, home))
		for _, w := range f.Problems {
			printRemark(t, width, 14, within(w))
		}
	}
	for _, dialect := range none {
		files := missing[dialect][0]
		if n := len(missing[dialect]) - 1; n > 0 {
			files += fmt.Sprintf(" and %d more", n)
		}
		printRow(t, []int{14, 14}, "not there", dialect, files)
	}
	if none != nil {
		t.Block("  --all lists them")
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

func printSettings(t *output.Text, r *settings.Resolution, width int, home string) {
	var all []settings.ExplainedSetting
	name, value := len("file"), 0
	for i := range r.Values {
		e := r.Values[i].Explain()
		all = append(all, e)
		name, value = max(name, min(widestName, len(e.Label()))), max(value, min(widestValue, ansi.StringWidth(e.Value)))
	}
	widths := []int{name, value}
	if r.File != "" {
		state := ""
		if !r.Found {
			state = ", not found"
		}
		printRow(t, widths[:1], "file", cli.Tilde(r.File, home)+state)
	}
	for _, w := range r.Warnings {
		printRemark(t, width, name, within(w))
	}
	for _, e := range all {
		printRow(t, widths, e.Label(), cli.Tilde(e.Value, home), cli.Tilde(e.Origin.String(), home))
		if e.Problem != "" {
			printRemark(t, width, name, e.Problem)
		}
		for _, o := range e.Overridden {
			printRow(t, widths, "  overridden", cli.Tilde(o.Value, home), cli.Tilde(o.String(), home))
		}
	}
	for _, p := range r.Problems() {
		printRemark(t, width, name, p)
	}
}

// printRow writes cells in columns; after one that is wider than its column it continues on the next line, so that nothing is cut.
func printRow(t *output.Text, widths []int, cells ...string) {
	line, column := " ", 1
	for i, cell := range cells {
		if cell = safe.Line(cell, 0); cell == "" && i > 0 {
			cell = "-"
		}
		if have := ansi.StringWidth(line); have >= column && i > 0 {
			t.B.WriteString(line + "\n")
			line = strings.Repeat(" ", column)
		} else {
			line += strings.Repeat(" ", column-have)
		}
		line += " " + cell
		if i < len(widths) {
			column += widths[i] + 2
		}
	}
	t.B.WriteString(line + "\n")
}

// printRemark writes a problem below the column at indent, wrapped between words.
func printRemark(t *output.Text, width, column int, s string) {
	s = "! " + safe.Line(s, 0)
	if width > column+20 {
		s = ansi.Wrap(s, width-column-4, "/")
	}
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			line = "  " + strings.TrimSpace(line)
		}
		t.B.WriteString(strings.Repeat(" ", column+4) + line + "\n")
	}
}
