package check

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/base/failure"
	"github.com/mcphud/mcphud/session/base/text"
)

// Version is that of the report's JSON. It grows when a member changes its meaning or goes.
const Version = 1

// Report is the outcome of a check of one server. As JSON it is report/report.schema.json.
type Report struct {
	Version int          `json:"version"`
	Tool    Tool         `json:"tool"`
	Server  ServerReport `json:"server"`
	Began   time.Time    `json:"began"`
	Millis  float64      `json:"took_ms"`
	// Interrupted is true where the check was stopped before all of its sections had run.
	Interrupted bool            `json:"interrupted,omitempty"`
	Sections    []SectionReport `json:"sections"`
	Counts      Counts          `json:"counts"`
	Ignores     []Ignored       `json:"ignores,omitempty"`  // the entries of the ignore list
	Baseline    *Baseline       `json:"baseline,omitempty"` // what was compared with it; nil for none
	Findings    []Finding       `json:"findings"`           // stays the last: reports are written while they are encoded
}

// Interrupted is [SectionReport.Error] of a section that was stopped.
const Interrupted = "interrupted"

// InBaseline is [Finding.Ignored] of what a baseline has.
const InBaseline = "baseline"

// Ignored is one entry of an ignore list, and what became of it.
type Ignored struct {
	Rule    string `json:"rule"`
	Place   string `json:"place,omitempty"`
	Reason  string `json:"reason"`
	Until   string `json:"until,omitempty"` // YYYY-MM-DD, the last day
	Where   string `json:"where,omitempty"` // FILE:LINE
	Matched int    `json:"matched"`         // findings
	// State is "" where the entry does something, "unused" where it matches nothing, though its section ran, "expired" after its day.
	State string `json:"state,omitempty"`
}

// States of an entry of an ignore list.
const (
	Unused  = "unused"
	Expired = "expired"
)

// Baseline is how the findings compare with those that were known.
type Baseline struct {
	File  string  `json:"file"`
	Known int     `json:"known"` // findings that are still there
	New   int     `json:"new"`
	Fixed []Known `json:"fixed"` // of sections that ran
}

// Known is what a baseline keeps of a finding: enough to recognise it and to show that it is fixed.
type Known struct {
	Fingerprint string   `json:"fingerprint"`
	Rule        string   `json:"rule"`
	Severity    Severity `json:"severity"`
	Place       string   `json:"place"`
	Message     string   `json:"message"`
}

// Tool is the program that made a report, as SARIF has it too.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// ServerReport is what a report says of the server: its names, its version, how it was reached, and how much it lists.
type ServerReport struct {
	Name      string `json:"name"` // our name for it
	Title     string `json:"title,omitempty"`
	Version   string `json:"version,omitempty"`
	Protocol  string `json:"protocol,omitempty"`
	Transport string `json:"transport,omitempty"`
	Tools     int    `json:"tools"`
	Prompts   int    `json:"prompts"`
	Resources int    `json:"resources"`
	Templates int    `json:"templates"`
}

// SectionReport is the run of one section: its figures and outcomes, or why it could not be finished. Findings are in the Report.
type SectionReport struct {
	Name    string          `json:"name"`
	Title   string          `json:"title"`
	Millis  float64         `json:"took_ms"`
	Error   string          `json:"error,omitempty"` // why it could not go on
	Figures json.RawMessage `json:"figures,omitempty"`
	Counts  Counts          `json:"counts"`
	// Outcomes are of sections that try one thing after the other: what held and what was left out. What did not hold is a finding.
	Outcomes []Outcome `json:"outcomes,omitempty"`

	Table [][]string `json:"-"` // the figures, for people
	Notes []string   `json:"-"`

	failed error
}

// Own is why a section could not do on this machine what it was asked for, such as write a file, which says nothing about the server; nil where
// each could.
func (r *Report) Own() error {
	for _, s := range r.Sections {
		if failure.KindOf(s.failed) == failure.Usage {
			return s.failed
		}
	}
	return nil
}

// Verdict is how the trial of a rule at a place ended, where it did not end in a finding.
type Verdict string

// Verdicts.
const (
	Passed  Verdict = "passed"
	Skipped Verdict = "skipped"
)

// Outcome is one trial of a rule that found nothing.
type Outcome struct {
	Rule    string  `json:"rule"`
	Place   Place   `json:"place"`
	Verdict Verdict `json:"verdict"`
	Millis  float64 `json:"took_ms,omitempty"`
	Why     string  `json:"why,omitempty"` // it was skipped
}

// Counts are findings by severity. Those that are ignored are in Ignored only.
type Counts struct {
	Error   int `json:"error"`
	Warning int `json:"warning"`
	Info    int `json:"info"`
	Ignored int `json:"ignored"`
}

// Count adds a finding.
func (c *Counts) Count(f Finding) {
	switch {
	case f.Ignored != "":
		c.Ignored++
	case f.Severity == Error:
		c.Error++
	case f.Severity == Warning:
		c.Warning++
	default:
		c.Info++
	}
}

// String is how many findings there are, without those of which there are none: "2 errors, 1 warning".
func (c Counts) String() string {
	var out []string
	for _, n := range []struct {
		n         int
		one, many string
	}{{c.Error, "error", "errors"}, {c.Warning, "warning", "warnings"}, {c.Info, "info", "info"}, {c.Ignored, "ignored", "ignored"}} {
		if n.n > 0 {
			out = append(out, text.Count(n.n, n.one, n.many))
		}
	}
	return cmp.Or(strings.Join(out, ", "), "no findings")
}

// AtLeast is how many findings count that are as severe as s, or more.
func (c Counts) AtLeast(s Severity) int {
	n := c.Error
	if s <= Warning {
		n += c.Warning
	}
	if s <= Info {
		n += c.Info
	}
	return n
}

// Recount counts the findings anew, after some were ignored.
func (r *Report) Recount() {
	r.Counts = Counts{}
	at := map[string]*Counts{}
	for i := range r.Sections {
		r.Sections[i].Counts = Counts{}
		at[r.Sections[i].Name] = &r.Sections[i].Counts
	}
	for _, f := range r.Findings {
		r.Counts.Count(f)
		if c := at[f.Rule.Section()]; c != nil {
			c.Count(f)
		}
	}
}
