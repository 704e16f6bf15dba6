// Package live finds the violations of the protocol that a journal shows: what was wrong, in which frame, who did it, the
// section of the specification of that revision, and what to change.
//
// The rules are live.yaml of package rules, and probes.go has what finds each. A Checker keeps a small state for each connection and holds
// no bodies, so that a journal of any size can be checked while it still grows.
//
// Where a comment names a section, such as 2025-11-25/basic/lifecycle#initialization, it is a path below [rules.Site].
package live

import (
	"fmt"

	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// The revisions of the protocol, oldest first. Modern is the first without a handshake.
const (
	rev2024   = "2024-11-05"
	rev2503   = "2025-03-26" // the first with Streamable HTTP, and the only one with batches
	rev2506   = "2025-06-18"
	rev2511   = "2025-11-25" // the only one whose schema has tasks; later they are an extension
	revModern = "2026-07-28" // each request says its version and capabilities in _meta
)

// Severities are all of them, the worst first.
func Severities() []rules.Severity { return []rules.Severity{rules.Error, rules.Warning, rules.Info} }

// Word is what texts and files about recorded traffic call a severity: "error", "warning" or "note".
func Word(s rules.Severity) string {
	if s == rules.Info {
		return "note"
	}
	return s.String()
}

// ParseSeverity is the severity of a word as Word has it; "info", which is what the rules say, is not one.
func ParseSeverity(word string) (rules.Severity, error) {
	for _, s := range Severities() {
		if Word(s) == word {
			return s, nil
		}
	}
	return 0, fmt.Errorf("unknown severity %q: error, warning or note", word)
}

// blamedParty is who a party is for a frame that went this way: client or server.
func blamedParty(p rules.Party, d journal.Dir) rules.Party {
	out := d == journal.Out
	switch {
	case p == rules.Sender && out, p == rules.Receiver && !out:
		return rules.Client
	case p == rules.Sender, p == rules.Receiver:
		return rules.Server
	}
	return p // named by the rule: which way the frame went does not matter
}
