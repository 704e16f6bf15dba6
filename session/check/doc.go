// Package check says whether a server is good. Sections look at what a server offers, or call it, and report findings by the rules of
// their tables; the packages below this one are the sections, and the formats of a report:
//
//   - lint, cost, contract, safety read what a server lists; contract keeps it in a file
//   - conform, fuzz, cases, bench call it
//   - live holds what a journal has against the protocol, which conform does too
//   - doctor says why a server does not connect
//   - report writes what was found; report/ignore says which findings do not count
//   - rules is what all of them judge by, as data
//
// A rule is an entry of a file there, such as rules/lint.yaml, and under its id a probe, or a place that reports it, in the section's code. Rules
// about batches are in conform (those that are tried) and live (those about frames that were seen).
package check

import "context"

// Section examines a server by the rules of one file of package rules. A value may be used for one run at a time.
type Section interface {
	// Name is one lower-case word, and what the ids of its rules begin with.
	Name() string
	// Title says in a few words what is examined.
	Title() string
	// Rules are all that Run may report, in the order in which they are explained.
	Rules() []*Rule
	// Run examines s and reports to r. An error is why it could not go on; what the server does wrong is a finding.
	Run(ctx context.Context, s *Subject, r *Recorder) error
}

// ListReader is a section that may examine nothing but what was listed before: its report says which lists were not there to be examined.
type ListReader interface{ ReadsLists() bool }

// Afterwards is a section that also looks at what the others received.
type Afterwards interface {
	Section
	// After runs once all sections have run, with the Recorder of Run.
	After(ctx context.Context, s *Subject, r *Recorder) error
}
