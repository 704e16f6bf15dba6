package report

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/check"
)

// foldedPlaces is how many findings of one rule a text shows that is not verbose.
const foldedPlaces = 12

// texts writes one text after the other, and at the end a line for each.
func (p *junitWriter) texts() {
	p.each(func(int) {
		p.text()
		if p.several {
			p.put("\n")
		}
	})
	if p.several {
		p.each(func(int) { p.words(passes(p.r, p.o)+" ", title(p.r.Server)+": "+p.r.Counts.String()) })
	}
}

// passes is the mark of a report.
func passes(r *check.Report, o Options) string {
	// What an interrupted check did not come to may be wrong.
	if r.Counts.AtLeast(o.FailOn) > 0 || r.Interrupted {
		return "✗"
	}
	return "✓"
}

// text writes for people: a heading for each section, below it its rules that found something, worst first, with the places.
func (p *junitWriter) text() {
	s := p.r.Server
	p.words("", title(s)+": "+countsOf(s))
	for _, sec := range p.r.Sections {
		groups := p.groups(sec.Name)
		if sec.Name == "server" && len(groups) == 0 && sec.Error == "" {
			continue // it answers
		}
		p.put("\n")
		p.words("", sec.Name+": "+sec.Title)
		if sec.Error != "" && sec.Name != check.Server().Name() { // there a finding says it
			p.words("  ✗ ", "not finished: "+sec.Error)
		}
		for _, g := range groups {
			p.group(g)
		}
		p.outcomes(sec, len(groups))
		p.figures(sec)
	}
	p.put("\n")
	p.writeResult()
}

// words writes a text below an indentation, in lines as wide as the options say. Of the text nothing is obeyed: it may be a server's.
func (p *junitWriter) words(indent, s string) {
	rest := strings.Repeat(" ", utf8.RuneCountInString(indent)) // marks are one cell wide, and several bytes long
	// In less than 20 columns nobody reads broken lines better than long ones.
	if p.o.Width <= len(indent)+20 || p.o.Wrap == nil {
		p.put(marked(indent+line(s)), "\n")
		return
	}
	for _, part := range p.o.Wrap(line(s), p.o.Width-len(rest)) {
		p.put(marked(indent+part), "\n")
		indent = rest
	}
}

// marked is a line with a mark before it where GitHub's runners would take it for an order, as they do behind blanks too: a word of a server's that
// begins a table, or a line that is broken there.
func marked(s string) string {
	if strings.HasPrefix(strings.TrimSpace(s), "::") {
		return "| " + s
	}
	return s
}

// group writes a rule and its findings: of those that count as many as foldedPlaces, unless the report is verbose.
func (p *junitWriter) group(g *group) {
	if g.worst < 0 && !p.o.Verbose {
		return // all of it is ignored; the end says how many
	}
	p.words("  "+mark(g.worst)+" ", g.rule.ID+": "+g.rule.Title+" ("+g.counts.String()+")")
	fix := g.rule.Fix
	shown := 0
	for _, i := range g.indices {
		f := &p.r.Findings[i]
		if !p.o.Verbose && (f.Ignored != "" || shown == foldedPlaces) { // of those after one that is ignored none counts
			break
		}
		shown++
		p.finding(f, g)
	}
	if left := len(g.indices) - g.counts.Ignored - shown; left > 0 {
		p.words("      ", "and "+text.Count(left, "more", "more"))
	}
	if fix != "" {
		p.words("    → ", fix)
	}
	if p.o.Verbose && g.rule.Why != "" {
		p.words("    why: ", g.rule.Why)
	}
	if g.rule.Source != "" && (p.o.Verbose || g.worst >= check.Error) {
		p.words("    see: ", g.rule.Source)
	}
}

// finding writes one finding below its rule, with what differs from the rule, and at least the first line of its evidence. What comes from a server
// stands behind a mark on its line, and never begins one: see plain.
func (p *junitWriter) finding(f *check.Finding, g *group) {
	head := f.Place.String() + ": " + f.Message
	if f.Sure != check.Certain {
		head += " (" + string(f.Sure) + ")"
	}
	if f.Severity != g.worst && f.Ignored == "" {
		head = f.Severity.String() + ": " + head
	}
	if f.Ignored != "" {
		head = "ignored (" + f.Ignored + "): " + head
	}
	if !p.o.Verbose {
		head = text.Clip(head, 400)
	}
	p.words("    - ", head)
	switch {
	case f.Evidence == "":
	case p.o.Verbose:
		for _, l := range lines(f.Evidence) {
			p.put("      | ", l, "\n")
		}
	default:
		// Many a message quotes its evidence, which need not be said twice.
		if short := text.FirstLine(f.Evidence); !strings.Contains(head, line(short)) {
			p.put("      | ", text.Clip(line(short), max(p.o.Width-8, 72)), "\n")
		}
	}
	if f.Fix != "" && f.Fix != g.rule.Fix {
		p.words("      → ", f.Fix)
	}
	if p.o.Verbose && len(f.Clients) > 0 {
		p.words("      clients: ", strings.Join(f.Clients, ", "))
	}
	if f.Repro != "" {
		p.put("      $ ", line(f.Repro), "\n")
	}
}

// outcomes says what was tried and held, and that a section without outcomes found nothing; found is how many rules found something.
func (p *junitWriter) outcomes(s check.SectionReport, found int) {
	passed, skipped := 0, 0
	for _, o := range s.Outcomes {
		if o.Verdict == check.Passed {
			passed++
			continue
		}
		skipped++
		if p.o.Verbose {
			p.words("  – ", o.Rule+": "+o.Place.String()+": skipped: "+o.Why)
		}
	}
	switch {
	case skipped > 0 && passed == 0:
		p.putf("  – %d skipped\n", skipped)
	case skipped > 0:
		p.putf("  ✓ %d passed, – %d skipped\n", passed, skipped)
	case len(s.Outcomes) > 0:
		p.putf("  ✓ %d passed\n", passed)
	case found == 0 && s.Error == "":
		p.put("  ✓ no findings\n")
	}
}

// figures writes what a section measured, in columns.
func (p *junitWriter) figures(s check.SectionReport) {
	if len(s.Table) > 0 {
		p.put("\n")
		rows := make([][]string, len(s.Table))
		for i, row := range s.Table {
			for _, cell := range row {
				rows[i] = append(rows[i], line(cell))
			}
		}
		for l := range strings.Lines(p.o.Table(max(p.o.Width-2, 0), rows)) {
			p.put(marked("  " + l))
		}
	}
	for _, n := range s.Notes {
		p.words("  ", n)
	}
}

// writeResult writes the last line: whether the server passes.
func (p *junitWriter) writeResult() {
	c := p.r.Counts
	s := c.String() + ", in " + text.Duration(time.Duration(p.r.Millis*float64(time.Millisecond)))
	if p.r.Interrupted {
		s += "; interrupted, so what is missing was not examined"
	}
	p.words(passes(p.r, p.o)+" ", s)
	for _, e := range p.r.Ignores {
		switch e.State {
		case check.Unused:
			p.words("! ", "the ignore list has an entry that matches nothing: "+entry(e)+" · remove it")
		case check.Expired:
			p.words("! ", "an entry of the ignore list ended on "+e.Until+": "+entry(e)+" · mend the findings, or give it another day")
		}
	}
	b := p.r.Baseline
	if b == nil {
		return
	}
	s = text.Count(b.Known, "finding of the baseline is still there", "findings of the baseline are still there")
	s += ", " + text.Count(b.New, "is new", "are new") + ", " + text.Count(len(b.Fixed), "is fixed", "are fixed")
	p.words("", s)
	for i, k := range b.Fixed {
		if i == foldedPlaces && !p.o.Verbose {
			p.words("  ", "and "+text.Count(len(b.Fixed)-i, "more", "more"))
			break
		}
		p.words("  ✓ ", "fixed: "+k.Rule+": "+k.Place+": "+k.Message)
	}
}

// entry is how texts name an entry of an ignore list.
func entry(e check.Ignored) string {
	out := e.Rule
	if e.Place != "" {
		out += " at " + e.Place
	}
	if e.Where != "" {
		out += " (" + e.Where + ")"
	}
	return out
}
