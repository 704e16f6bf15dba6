// Package live finds the violations of the protocol that a journal shows: what was wrong, in which frame, who did it, the
// section of the specification of that revision, and what to change.
//
// The rules are one table (rules.go). A Checker keeps a small state for each connection and holds no bodies, so that a
// journal of any size can be checked while it still grows.
package live

import (
	"fmt"
	"slices"

	"github.com/mcphud/mcphud/session/wire/journal"
)

// The revisions of the protocol, oldest first. Modern is the first without a handshake.
const (
	rev2024   = "2024-11-05"
	rev2503   = "2025-03-26"
	rev2506   = "2025-06-18"
	rev2511   = "2025-11-25"
	revModern = "2026-07-28"
)

var revisions = []string{rev2024, rev2503, rev2506, rev2511, revModern}

// Severity is how bad a violation is.
type Severity uint8

// Note is what is allowed and likely a mistake, or deprecated; Warning breaks a SHOULD, or what two sides will not
// understand in the same way; Error breaks a MUST.
const (
	Note Severity = iota + 1
	Warning
	Error
)

// Severities are all of them, the worst first.
func Severities() []Severity { return []Severity{Error, Warning, Note} }

// String is "error", "warning" or "note".
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return "note"
}

// ParseSeverity is the severity of that name.
func ParseSeverity(name string) (Severity, error) {
	for _, s := range Severities() {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown severity %q: error, warning or note", name)
}

// Party is who broke a rule. Sender and Receiver are either side, as the frame was sent.
type Party uint8

// The parties.
const (
	Client Party = iota + 1
	Server
	Sender
	Receiver
)

// String is "client", "server", "sender" or "receiver".
func (p Party) String() string { return [...]string{"", "client", "server", "sender", "receiver"}[p] }

// of is the side that a party is for a frame that went this way.
func (p Party) of(d journal.Dir) Party {
	out := d == journal.Out
	switch {
	case p == Sender && out, p == Receiver && !out:
		return Client
	case p == Sender, p == Receiver:
		return Server
	}
	return p
}

// when says for which entries a rule is checked.
type when uint16

const (
	onRequest when = 1 << iota
	onNotification
	onResult
	onError
	onBad
	onPost   // the head of an HTTP request, once the message in it is known
	onStatus // the head of an HTTP response
	onEnd    // a request that has no answer at the end of its connection
	onAnswer = onResult | onError
	onCall   = onRequest | onNotification
	onFrame  = onCall | onAnswer
)

// Rule is something that the specification demands.
type Rule struct {
	ID       string
	Severity Severity
	By       Party
	Title    string // what is wrong
	Why      string // what it costs, and whom; "" where only clients can break the rule
	Fix      string // what to change
	First    string // revision that has the rule first, "" for all
	Last     string // revision that has it last, "" for all that follow
	spec     section
	on       when
	// check returns the evidence, "" where nothing is wrong. An entry of an unknown revision is checked as well, see
	// frame.rev; check may set frame.at to the Seq of another entry that is to blame.
	check func(f *frame) string
}

// Site is where the specification is published.
const Site = "https://modelcontextprotocol.io/specification/"

// in reports whether a revision has the rule; one that nobody knows has those that all have.
func (r *Rule) in(revision string) bool {
	if revision == "" {
		return r.First == "" && r.Last == ""
	}
	return (r.First == "" || revision >= r.First) && (r.Last == "" || revision <= r.Last)
}

// Revisions are those that have the rule.
func (r *Rule) Revisions() []string {
	return slices.DeleteFunc(slices.Clone(revisions), func(rev string) bool { return !r.in(rev) })
}

// Section is the URL of the part of the specification, in the text of that revision; of an unknown one in the newest that
// has the rule.
func (r *Rule) Section(revision string) string {
	own := r.Revisions()
	if !slices.Contains(own, revision) {
		revision = own[len(own)-1]
	}
	return Site + revision + "/" + r.spec[slices.Index(revisions, revision)]
}

// Rules are all rules, in the order of the table.
func Rules() []*Rule {
	all := make([]*Rule, len(table))
	for i := range table {
		all[i] = &table[i]
	}
	return all
}

// Find is the rule with an id, nil if there is none.
func Find(id string) *Rule {
	for i := range table {
		if table[i].ID == id {
			return &table[i]
		}
	}
	return nil
}
