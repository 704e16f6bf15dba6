package report

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/check"
)

// junit writes a test suite for each section. A test case is a rule, or, in sections that try one thing after the other, a rule at a
// place. It has one failure, for that is all that most readers show; its text has all findings.
func (p *junitWriter) junit() {
	// The totals stand before what they count: each suite is made twice, since to keep all of them would take the memory of the whole report.
	tests, failures, errors, took := 0, 0, 0, 0.0
	name := "mcphud check"
	p.each(func(int) {
		for _, s := range p.r.Sections {
			su := p.suite(s)
			tests, failures, errors = tests+len(su.cases), failures+su.failures, errors+su.errors
		}
		took += p.r.Millis
		if !p.several {
			name += " " + title(p.r.Server)
		}
	})
	p.put(xml.Header, `<testsuites name="`, attribute(name), `"`)
	p.putf(` tests="%d" failures="%d" errors="%d" time="%.3f">`+"\n", tests, failures, errors, took/1000)
	p.each(func(int) {
		for _, s := range p.r.Sections {
			p.writeSuite(p.suite(s))
		}
	})
	p.put("</testsuites>\n")
}

// writeSuite writes a suite. Of several servers each has its own suites, which the server's name tells apart.
func (p *junitWriter) writeSuite(su suite) {
	name := su.Name
	if p.several {
		name = p.r.Server.Name + " " + name
	}
	p.put(` <testsuite name="`, attribute(name), `" package="`, attribute(p.r.Server.Name), `"`)
	p.putf(` tests="%d" failures="%d" errors="%d" skipped="%d" time="%.3f" timestamp="%s">`+"\n",
		len(su.cases), su.failures, su.errors, su.skipped, su.Millis/1000, p.r.Began.Format("2006-01-02T15:04:05"))
	p.put("  <properties>\n")
	for _, kv := range [][2]string{
		{"title", su.Title}, {"server", title(p.r.Server)}, {"protocol", p.r.Server.Protocol}, {"transport", p.r.Server.Transport}, {"offers", countsOf(p.r.Server)},
	} {
		p.put(`   <property name="`, kv[0], `" value="`, attribute(kv[1]), "\"/>\n")
	}
	p.put("  </properties>\n")
	for _, c := range su.cases {
		p.testCase(su.Name, c)
	}
	p.put(" </testsuite>\n")
}

// suite is a section with its cases.
type suite struct {
	check.SectionReport
	cases                     []testCase
	failures, errors, skipped int // of cases; each is in one of them at most
}

// testCase is one test case: it failed where worst is severe enough.
type testCase struct {
	name    string
	millis  float64
	failure string  // the severity of the worst that counts; "" for none
	skipped string  // why; "" where it was not
	broken  string  // why it could not be tried
	indices []int32 // its findings in the report, those that count first
}

// onlyCalls reports whether everything that was found is about calls that were made: these are the test cases then, also where none of them
// went well.
func (p *junitWriter) onlyCalls(groups []*group) bool {
	for _, g := range groups {
		for _, i := range g.indices {
			if p.r.Findings[i].Place.Kind != check.OfCall {
				return false
			}
		}
	}
	return len(groups) > 0
}

// suite makes the cases of a section. Its own error is one as well, so that a run that broke off is not green.
func (p *junitWriter) suite(s check.SectionReport) suite {
	su := suite{SectionReport: s}
	add := func(c testCase) {
		switch {
		case c.broken != "":
			su.errors++
		case c.failure != "":
			su.failures++
		case c.skipped != "":
			su.skipped++
		}
		su.cases = append(su.cases, c)
	}
	if s.Error != "" {
		add(testCase{name: s.Name, broken: s.Error})
	}
	// What was tried and did not hold has no outcome: its findings stand for it.
	groups := p.groups(s.Name)
	if len(s.Outcomes) > 0 || p.onlyCalls(groups) {
		for _, o := range s.Outcomes {
			c := testCase{name: o.Rule + " " + o.Place.String(), millis: o.Millis}
			if o.Verdict == check.Skipped {
				c.skipped = strings.TrimSpace("skipped: " + o.Why)
			}
			add(c)
		}
		for _, g := range groups {
			slices.SortStableFunc(g.indices, func(a, b int32) int {
				return strings.Compare(p.r.Findings[a].Place.String(), p.r.Findings[b].Place.String())
			})
			// Stable: of one place those that count stay before those that are ignored, which is what newTestCase and testCase go by.
			for start := 0; start < len(g.indices); {
				place := p.r.Findings[g.indices[start]].Place
				end := start + 1
				for end < len(g.indices) && p.r.Findings[g.indices[end]].Place == place {
					end++
				}
				add(p.newTestCase(g.rule.ID+" "+place.String(), g.indices[start:end]))
				start = end
			}
		}
		return su
	}
	found := map[string]*group{}
	for _, g := range groups {
		found[g.rule.ID] = g
	}
	rules := p.o.Rules
	for _, g := range groups { // those that nobody listed
		if !hasRule(rules, g.rule.ID) {
			rules = append(rules[:len(rules):len(rules)], g.rule) // a copy: the array is the caller's
		}
	}
	for _, r := range rules {
		if sectionOf(r.ID) != s.Name {
			continue
		}
		c := testCase{name: r.ID + ": " + r.Title}
		if g := found[r.ID]; g != nil {
			c = p.newTestCase(c.name, g.indices)
		} else if s.Error != "" { // that nothing was found says nothing then
			c.skipped = "the section was not finished"
		}
		add(c)
	}
	return su
}

// hasRule reports whether rules have one with that id.
func hasRule(rules []*check.Rule, id string) bool {
	for _, r := range rules {
		if r.ID == id {
			return true
		}
	}
	return false
}

// newTestCase is the case of findings: a failure where one of them counts and is severe enough, skipped where all are ignored.
func (p *junitWriter) newTestCase(name string, indices []int32) testCase {
	c := testCase{name: name, indices: indices}
	ignored := 0
	for _, i := range indices {
		f := &p.r.Findings[i]
		switch {
		case f.Ignored != "":
			ignored++
			c.skipped = "ignored: " + f.Ignored
		case f.Severity >= p.o.FailOn && c.failure == "":
			c.failure = f.Severity.String()
		}
	}
	if ignored < len(indices) {
		c.skipped = ""
	}
	return c
}

// testCase writes a case of a section. Readers group by classname, whose part before the last dot they take for a package: the server.
func (p *junitWriter) testCase(section string, c testCase) {
	p.put(`  <testcase name="`, attribute(c.name), `" classname="`, attribute(p.r.Server.Name+"."+section), `"`)
	p.putf(` time="%.3f"`, c.millis/1000)
	switch {
	case c.broken != "":
		p.put(`><error type="not-finished" message="`, attribute(c.broken), "\"/></testcase>\n")
	case c.failure != "":
		first := p.r.Findings[c.indices[0]]
		message := first.Place.String() + ": " + first.Message
		more := -1 // the first is in the message
		for _, i := range c.indices {
			if p.r.Findings[i].Ignored == "" {
				more++
			}
		}
		if more > 0 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
		p.put(`><failure type="`, c.failure, `" message="`, attribute(message), `">`)
		p.details(c.indices)
		p.put("</failure></testcase>\n")
	case c.skipped != "":
		p.put(`><skipped message="`, attribute(c.skipped), `"/>`)
		if len(c.indices) > 0 {
			p.put("<system-out>")
			p.details(c.indices)
			p.put("</system-out>")
		}
		p.put("</testcase>\n")
	case len(c.indices) > 0: // less severe than what fails
		p.put("><system-out>")
		p.details(c.indices)
		p.put("</system-out></testcase>\n")
	default:
		p.put("/>\n")
	}
}

// details is the text of findings. No line of it begins with what a server says: see plain.
func (p *junitWriter) details(indices []int32) {
	for _, i := range indices {
		f := &p.r.Findings[i]
		p.content(f.Severity.String() + ": " + line(f.Place.String()+": "+f.Message) + "\n")
		if f.Ignored != "" {
			p.content("  ignored: " + line(f.Ignored) + "\n")
		}
		if f.Evidence != "" {
			p.content("  evidence: " + strings.Join(lines(f.Evidence), "\n    | ") + "\n") // blanks alone do not keep "::" from being obeyed
		}
		if f.Fix != "" {
			p.content("  fix: " + line(f.Fix) + "\n")
		}
		if len(f.Clients) > 0 {
			p.content("  clients: " + strings.Join(f.Clients, ", ") + "\n")
		}
		if f.Repro != "" {
			p.content("  reproduce: " + line(f.Repro) + "\n")
		}
	}
}

// content writes text between tags. Lines end as they are: EscapeText would write &#xA;, which people who read the file see.
func (p *junitWriter) content(s string) {
	for l := range strings.SplitAfterSeq(plain(s), "\n") {
		rest, ended := strings.CutSuffix(l, "\n")
		_ = xml.EscapeText(p, []byte(rest)) // Flush has the error
		if ended {
			p.put("\n")
		}
	}
}

// attribute is s in one line, for between double quotes.
func attribute(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(line(s))) // a Builder takes all
	return b.String()
}
