package check

import (
	"fmt"
	"strings"
)

// Severity is how much a finding matters.
type Severity int8

// From least to most.
const (
	Info    Severity = iota // worth knowing
	Warning                 // works, and will hurt somebody
	Error                   // a fault: somebody's client, or the specification, refuses it
)

var severities = []string{"info", "warning", "error"}

func (s Severity) String() string { return severities[s] }

// MarshalText makes it a word in JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads such a word.
func (s *Severity) UnmarshalText(text []byte) error {
	for i, name := range severities {
		if name == string(text) {
			*s = Severity(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not a severity: %s are", text, strings.Join(severities, ", "))
}

// Confidence is how sure a finding is.
type Confidence string

// The empty one is Certain.
const (
	Certain  Confidence = "certain"  // seen
	Likely   Confidence = "likely"   // a person would agree most of the time
	Possible Confidence = "possible" // worth a look
)

// Rule is one entry of a section's table. Ids are stable: they are in ignore lists and baselines.
type Rule struct {
	ID       string // SECTION/NAME, lower case with hyphens
	Severity Severity
	Title    string // what is wrong, as a short sentence without a subject: "has no description"
	Why      string // what it costs, and whom
	Fix      string // what the author of the server does
	Source   string // URL of the specification's section, or of the document that says so
	Read     string // the day the source was read, YYYY-MM-DD
	Clients  []string
}

// Section is the name of the section that the rule belongs to.
func (r *Rule) Section() string {
	name, _, _ := strings.Cut(r.ID, "/")
	return name
}
