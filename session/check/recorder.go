package check

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcphud/mcphud/session/base/text"
)

// Progress is what a section tells while it runs: how much of its work is done, and what it measured so far.
type Progress struct {
	Section     string
	Done, Total int    // Total is 0 where it is not known
	What        string // that is looked at now
	Plots       []Plot // of what is measured now
}

// Plot is what a section measured, one value after the other.
type Plot struct {
	Name   string
	Values []float64
	Last   string // the last value, for people
}

// Figures are what a section measured, beside its findings.
type Figures struct {
	Value any        // as JSON
	Table [][]string // for people, the first row is the heading; nil for none
	Notes []string   // lines below the table
}

// Recorder takes what a section finds. Its methods are safe for concurrent use.
type Recorder struct {
	section string
	rules   map[string]*Rule
	watch   Watch

	mu       sync.Mutex
	findings []Finding
	outcomes []Outcome
	figures  *Figures
}

// Watch is told what happens while a check goes on. Any of its functions may be nil; they are called from several goroutines, one at a
// time for each section, and must not block. End is called again for a section that is Afterwards.
type Watch struct {
	Begin    func(section string)
	Progress func(Progress)
	Found    func(Finding)
	End      func(SectionReport)
}

// NewRecorder returns the recorder for one run of a section. It takes findings of the section's rules only.
func NewRecorder(s Section, w Watch) *Recorder {
	r := &Recorder{section: s.Name(), rules: map[string]*Rule{}, watch: w}
	for _, rule := range s.Rules() {
		r.rules[rule.ID] = rule
	}
	return r
}

// Add reports a finding of the rule with that id, which has to be in the section's table. Empty fields of f are filled from the rule.
func (r *Recorder) Add(id string, f Finding) {
	rule := r.rule(id)
	if f.Rule == nil { // a severity that the caller chose comes with Rule set
		f.Severity = rule.Severity
	}
	f.Rule, f.ID = rule, id
	f.Fix = cmp.Or(f.Fix, rule.Fix)
	f.Sure = cmp.Or(f.Sure, Certain)
	if f.Clients == nil {
		f.Clients = rule.Clients
	}
	f.Evidence = text.Clip(f.Evidence, MaxEvidence)
	f.Fingerprint = f.fingerprint()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.findings = append(r.findings, f)
	if r.watch.Found != nil {
		r.watch.Found(f)
	}
}

// AddSeverity is Add with another severity than the rule's.
func (r *Recorder) AddSeverity(severity Severity, id string, f Finding) {
	f.Severity, f.Rule = severity, r.rule(id)
	r.Add(id, f)
}

// rule is the rule with an id; one that is not in the section's table is a bug of the section: it panics.
func (r *Recorder) rule(id string) *Rule {
	rule, ok := r.rules[id]
	if !ok {
		panic(fmt.Sprintf("check: section %s has no rule %q", r.section, id))
	}
	return rule
}

// AddPassed says that a rule was tried at a place and holds there. Sections that try one thing after the other say so of each; others do not.
func (r *Recorder) AddPassed(id string, p Place, took time.Duration) {
	r.outcome(Outcome{Rule: id, Place: p, Verdict: Passed, Millis: millis(took)})
}

// AddSkipped says that a rule was not tried at a place, and why.
func (r *Recorder) AddSkipped(id string, p Place, why string) {
	r.outcome(Outcome{Rule: id, Place: p, Verdict: Skipped, Why: why})
}

func (r *Recorder) outcome(o Outcome) {
	r.rule(o.Rule)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.outcomes = append(r.outcomes, o)
}

// Step says how far the section is. total is 0 where that is not known.
func (r *Recorder) Step(done, total int, what string) {
	r.Progress(Progress{Done: done, Total: total, What: what})
}

// Progress says how far the section is, and what it measured so far. The name of the section is filled in.
func (r *Recorder) Progress(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.Section = r.section; r.watch.Progress != nil {
		r.watch.Progress(p)
	}
}

// Figures keeps what the section measured.
func (r *Recorder) Figures(f Figures) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.figures = &f
}

// hasStdoutFinding reports whether a section said that there is something else than messages on standard output.
func (r *Recorder) hasStdoutFinding() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.findings, func(f Finding) bool { return f.ID == "conform/stdout-clean" || f.ID == "conform/stdout-noise" })
}
