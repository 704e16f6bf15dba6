package conform

import (
	"path"
	"slices"
	"sync"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/rules"
)

// The revisions that trials tell apart. Revisions are dates and compare as text.
const (
	rev2503 = "2025-03-26"
	rev2506 = "2025-06-18"
	rev2511 = "2025-11-25"
	modern  = "2026-07-28" // the first without a handshake
	absurd  = "1900-01-01" // no revision
)

// The connections of trials.
const (
	shared = false // that of all rules of its era
	alone  = true  // one of its own, on which nothing was said
)

// trial is what tries a rule.
//
// try returns nil where the rule holds, newViolation(…) or violatedAs(…) where it does not, skip(…) where it cannot be tried, and
// inconclusiveSkip(…) where it was, and nothing was learned. Any other error but a silence counts as a violation of severity Error: the
// connection ended on what was tried. A trial may rest on that: the rule's revision and transport are the probe's, and a shared connection
// has just answered a good request. It must leave a shared connection as it was, or set the probe's unusable.
type trial struct {
	name  string // the rule's id in conform.yaml, without the section
	alone bool   // shared or alone
	try   func(*probe) error
}

// rule is one thing that is tried: what conform.yaml says of it, and its trial.
type rule struct {
	*check.Rule
	trial
}

// trials has one for each rule that is tried.
func trials() []trial {
	return slices.Concat(messages, handshake, perRequest, features, lists, streamable, outdated, sessions, mirrored, pipes, tasks)
}

// tables are all rules that are tried, in the order of conform.yaml: it goes from what others rest on to what may disturb a server.
var tables = sync.OnceValue(func() (all []rule) {
	of := map[string]trial{}
	for _, t := range trials() {
		of[t.name] = t
	}
	for _, r := range rules.Of(Name) {
		if t, ok := of[r.Name()]; ok {
			all = append(all, rule{r, t})
		}
	}
	return all
})

// known are the rules of the section: what is tried, what is looked for in all that the server sends, and those of conform.yaml without a trial,
// which stand for several of these or for what the official suite says. Rules of live.yaml are copied, with an id in this section.
var known = sync.OnceValue(func() (all []*check.Rule) {
	for _, r := range tables() {
		all = append(all, r.Rule)
	}
	tried := len(all)
	for _, r := range rules.Of("live") {
		if isObserved(r) {
			own := *r
			own.ID = Name + "/" + r.ID
			all = append(all, &own)
		}
	}
	for _, r := range rules.Of(Name) {
		if !slices.Contains(all[:tried], r) {
			all = append(all, r)
		}
	}
	return all
})

// sdkHabits is the rule that stands for those that an author who takes an SDK cannot keep: they say nothing of this server.
const sdkHabits = "sdk-habits"

// isSDKHabit reports whether a rule, by its name, is one of those: what the SDKs answer before the author's code is asked.
func isSDKHabit(id string) bool {
	switch id {
	case "parse-error", "invalid-request", "invalid-params", "cursor-refused", "unknown-tool", "log-level-invalid":
		return true
	}
	return false
}

// isSelected reports whether a rule is tried: its name matches, or it is a habit and sdk-habits matches.
func isSelected(globs []string, id string) bool {
	return matches(globs, id) || isSDKHabit(id) && matches(globs, sdkHabits)
}

// matches reports whether a rule was asked for: by its whole id, or by what follows the section.
func matches(globs []string, id string) bool {
	if len(globs) == 0 {
		return true
	}
	return slices.ContainsFunc(globs, func(g string) bool {
		short, _ := path.Match(g, id)
		long, _ := path.Match(g, Name+"/"+id)
		return short || long
	})
}
