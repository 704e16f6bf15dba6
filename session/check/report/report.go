// Package report writes what a check found, for people, scripts and CI. All formats write while they go: what a report needs in memory
// does not grow with the text that is made of it. The package ignore below says which findings do not count.
package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
)

// Formats.
const (
	Text     = "text"
	JSON     = "json"
	JUnit    = "junit"
	SARIF    = "sarif"
	Markdown = "markdown"
)

// Formats returns the names of the formats, as --report takes them.
func Formats() []string { return []string{Text, JSON, JUnit, SARIF, Markdown} }

// Never as [Options.FailOn] means that no finding fails.
const Never = check.Error + 1

// Options say what a report shows, and how wide its text may be.
type Options struct {
	// Rules are those of all sections that ran, in order: JUnit and SARIF have those too that found nothing.
	Rules []*check.Rule
	// FailOn is from which severity on a finding is a failure for JUnit, and a cross for people.
	FailOn check.Severity
	// Verbose adds evidence, reasons and sources to text, and leaves nothing out of it.
	Verbose bool
	// Width breaks lines of text by Wrap; 0 does not.
	Width int
	Wrap  func(text string, width int) []string
	// Table sets rows in columns that fit the width. Text needs it where a section has a table.
	Table func(width int, rows [][]string) string
	// Artifact is where SARIF says that findings are: a file of the repository, as a service shows it.
	Artifact Artifact
}

// Write writes r in a format. The error is that the format is not known, before anything is written, or the first of w. r is only read.
func Write(w io.Writer, format string, r *check.Report, o Options) error {
	return write(w, format, []Of{{r, o}}, false)
}

// Of is the report of one of several servers, and what it is written with.
type Of struct {
	Report  *check.Report
	Options Options
}

// WriteAll writes the reports of several servers as one: as JSON an object with version and reports, as SARIF a run for each. It is of that shape
// also where all is one report. Errors are those of Write.
func WriteAll(w io.Writer, format string, all []Of) error { return write(w, format, all, true) }

func write(w io.Writer, format string, all []Of, several bool) error {
	p := &junitWriter{Writer: bufio.NewWriterSize(w, 64<<10), all: all, several: several}
	p.each = func(f func(i int)) {
		for i, of := range all {
			p.r, p.o = of.Report, of.Options
			f(i)
		}
	}
	switch format {
	case Text:
		p.texts()
	case JSON:
		p.jsons()
	case JUnit:
		p.junit()
	case SARIF:
		p.sarif()
	case Markdown:
		p.markdowns()
	default:
		return fmt.Errorf("%q is not a format of reports: %s are", format, strings.Join(Formats(), ", "))
	}
	return p.Flush() // with the first error of any write
}

// junitWriter is reports that are being written: those of all, at a time one of them.
type junitWriter struct {
	*bufio.Writer
	encoder
	all     []Of
	several bool              // also where it is one
	each    func(func(i int)) // makes one after the other r and o
	r       *check.Report
	o       Options
}

// put writes texts as they are: what is from a server goes through plain, line, code, attribute or content before.
func (p *junitWriter) put(texts ...string) {
	for _, s := range texts {
		_, _ = p.WriteString(s) // Flush has the error
	}
}

func (p *junitWriter) putf(format string, args ...any) { _, _ = fmt.Fprintf(p, format, args...) } // Flush has the error

// group is the findings of one rule.
type group struct {
	rule    *check.Rule
	worst   check.Severity // of those that count; -1 where none does
	counts  check.Counts
	indices []int32 // into the report's findings: those that count first, worst first
}

// groups are the findings of a section, or of all for "", by rule, worst first.
func (p *junitWriter) groups(section string) []*group {
	at := map[string]*group{}
	var out []*group
	for i, f := range p.r.Findings {
		if section != "" && sectionOf(f.ID) != section {
			continue
		}
		g := at[f.ID]
		if g == nil {
			g = &group{rule: ruleOf(f), worst: -1}
			at[f.ID] = g
			out = append(out, g)
		}
		g.counts.Count(f)
		if f.Ignored == "" {
			g.worst = max(g.worst, f.Severity)
		}
		g.indices = append(g.indices, int32(i))
	}
	slices.SortStableFunc(out, func(a, b *group) int {
		return cmp.Compare(b.worst, a.worst)
	})
	for _, g := range out {
		slices.SortStableFunc(g.indices, func(a, b int32) int {
			x, y := &p.r.Findings[a], &p.r.Findings[b] // of two that are ignored the lengths of their reasons mean nothing
			return cmp.Or(cmp.Compare(len(x.Ignored), len(y.Ignored))*ignoredLast(x, y), cmp.Compare(y.Severity, x.Severity), strings.Compare(x.Place.String(), y.Place.String()))
		})
	}
	return out
}

// ignoredLast is 1 where one of two findings counts and the other does not.
func ignoredLast(x, y *check.Finding) int {
	if (x.Ignored == "") != (y.Ignored == "") {
		return 1
	}
	return 0
}

// sectionOf is the section that an id of a rule begins with.
func sectionOf(id string) string {
	name, _, _ := strings.Cut(id, "/")
	return name
}

// ruleOf is a finding's rule; of one that was read from a file what it says itself.
func ruleOf(f check.Finding) *check.Rule {
	if f.Rule != nil {
		return f.Rule
	}
	return &check.Rule{ID: f.ID, Severity: f.Severity, Title: f.Message, Fix: f.Fix}
}

// title is how a report names its server.
func title(s check.ServerReport) string {
	out := s.Name
	if s.Title != "" && s.Title != s.Name {
		out += " (" + s.Title + ")"
	}
	if s.Version != "" {
		out += " " + s.Version
	}
	return out
}

// countsOf are the numbers of what a server has, those that are not 0.
func countsOf(s check.ServerReport) string {
	var out []string
	for _, n := range []struct {
		n         int
		one, many string
	}{{s.Tools, "tool", "tools"}, {s.Prompts, "prompt", "prompts"}, {s.Resources, "resource", "resources"}, {s.Templates, "template", "templates"}} {
		if n.n > 0 {
			out = append(out, text.Count(n.n, n.one, n.many))
		}
	}
	if s.Protocol == "" && out == nil { // no handshake, so that nobody knows what it has
		return "not connected"
	}
	if out == nil {
		return "no tools, prompts or resources"
	}
	return strings.Join(out, ", ")
}

// mark is how texts show a severity.
func mark(s check.Severity) string {
	switch {
	case s >= check.Error:
		return "✗"
	case s == check.Warning:
		return "!"
	case s < check.Info: // nothing that counts
		return "–"
	}
	return "·"
}
