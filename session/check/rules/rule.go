// Package rules holds what a server is judged by, as data: one YAML file for each section of a check, one for the rules that recorded traffic is
// held to, and one with the parts of the specification. What finds a rule's cases is code of its section, under the rule's id.
//
// A file is read when its rules are first asked for, and once. Rules are shared, and nobody changes them.
package rules

import (
	"fmt"
	"slices"
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
	i := slices.Index(severities, string(text))
	if i < 0 {
		return fmt.Errorf("%q is not a severity: %s are", text, strings.Join(severities, ", "))
	}
	*s = Severity(i)
	return nil
}

// Party is who breaks a rule about messages.
type Party string

// Sender and Receiver are either side, as the message was sent.
const (
	Client   Party = "client"
	Server   Party = "server"
	Sender   Party = "sender"
	Receiver Party = "receiver"
)

// Rule is one thing that is judged. Ids are stable: they are in ignore lists and baselines.
type Rule struct {
	ID       string   `json:"id"` // SECTION/NAME, lower case with hyphens; NAME alone of rules about recorded traffic
	Severity Severity `json:"severity"`
	Title    string   `json:"title"`  // what is wrong, as a short sentence without a subject: "has no description"
	Why      string   `json:"why"`    // what it costs, and whom; "" where only clients break the rule
	Fix      string   `json:"fix"`    // what the author of the server does
	Source   string   `json:"source"` // URL of the specification's section, or of the document that says so; "" for none
	Read     string   `json:"read"`   // the day the source was read, YYYY-MM-DD
	Clients  []string `json:"clients"`

	Spec      string `json:"spec"`      // the part of the specification that says so, see [Rule.Link]; "" where it is another document
	Since     string `json:"since"`     // revision that has the rule first, "" for all before Until
	Until     string `json:"until"`     // revision that has it last, "" for all after Since
	By        Party  `json:"by"`        // who breaks it; "" where the rule is not about messages
	Transport string `json:"transport"` // "http", "stdio" or "sse": the only one that it is about; "" for all
	Class     string `json:"class"`     // of rules about changes, what they mean for those who use the server; "" of others

	ClientsOnly bool `json:"clients-only"` // it is about Clients alone, and nothing is found where none of them matters
	OptIn       bool `json:"opt-in"`       // they refuse it in a mode that their user has to choose: a finding for those who name them
	Tolerated   bool `json:"tolerated"`    // they get on with it, worse, and refuse nothing
}

// Section is the name of the section that the rule belongs to.
func (r *Rule) Section() string {
	name, _, _ := strings.Cut(r.ID, "/")
	return name
}

// Name is the id without its section.
func (r *Rule) Name() string { return r.ID[strings.Index(r.ID, "/")+1:] }

// In reports whether a revision of the specification has the rule; one that nobody knows, "", has those that all have.
func (r *Rule) In(revision string) bool {
	if revision == "" {
		return r.Since == "" && r.Until == ""
	}
	return (r.Since == "" || revision >= r.Since) && (r.Until == "" || revision <= r.Until)
}
