package conform

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/mcphud/mcphud/session/check"
	"github.com/mcphud/mcphud/session/check/live"
)

// The revisions that rules begin or end with. Revisions are dates and compare as text.
const (
	rev2503 = "2025-03-26"
	rev2506 = "2025-06-18"
	rev2511 = "2025-11-25"
	modern  = "2026-07-28" // the first without a handshake
	absurd  = "1900-01-01" // no revision
)

// carrier is what a rule needs messages to travel by.
type carrier uint8

const (
	anything carrier = iota
	overHTTP
	overPipes
	overSSE
)

func (c carrier) String() string { return [...]string{"", "Streamable HTTP", "stdio", "HTTP+SSE"}[c] }

// rule is one thing that is tried.
type rule struct {
	check.Rule         // ID without the section; Source and Read are filled in
	first, last string // revisions that have it; "" for all
	spec        [2]string
	on          carrier
	alone       bool // needs a connection of its own, on which nothing was said
	try         func(*probe) error
}

// in reports whether the rule holds in a revision.
func (r *rule) in(revision string) bool {
	return (r.first == "" || revision >= r.first) && (r.last == "" || revision <= r.last)
}

// section is where the specification says so, in the text of a revision.
func (r *rule) section(revision string) string {
	at := r.spec[0]
	if revision >= modern {
		at = r.spec[1]
	}
	if at == "" || strings.HasPrefix(at, live.Site) {
		return at
	}
	if name, ok := strings.CutPrefix(at, "basic#"); ok && revision < rev2503 { // it had a page of its own then
		at = strings.TrimSuffix("basic/messages#"+name, "#messages")
	}
	return live.Site + revision + "/" + at
}

// revisions are those that are spoken, the newest first.
var revisions = [...]string{modern, rev2511, rev2506, rev2503, "2024-11-05"}

// read is when the specification was read.
const read = "2026-11-23"

// tables are all rules that are tried.
func tables() []rule {
	return slices.Concat(messages, handshake, perRequest, features, lists, streamable, outdated, sessions, mirrored, pipes, tasks)
}

// known are the rules of the section: what is tried, what is looked for in all that the server sends, and the official suite.
var known = sync.OnceValue(func() []*check.Rule {
	var all []*check.Rule
	for _, r := range tables() {
		c := r.Rule
		c.ID, c.Read = Name+"/"+c.ID, read
		for _, v := range revisions {
			if s := r.section(v); r.in(v) && s != "" {
				c.Source = s
				break
			}
		}
		all = append(all, &c)
	}
	for _, r := range live.Rules() {
		if !observed(r) {
			continue
		}
		all = append(all, &check.Rule{
			ID: Name + "/" + r.ID, Severity: severity(r.Severity), Title: r.Title, Why: r.Why, Fix: r.Fix,
			Source: r.Section(""), Read: read,
		})
	}
	all = append(all, &check.Rule{
		ID: Name + "/" + sdkHabits, Severity: check.Info, Title: "answers wrong requests as its SDK does", Why: "clients cannot tell their own fault from one of the server; most servers of an SDK do the same",
		Fix: "use a newer SDK, or tell those who make it; each is shown by itself where it is asked for by name", Source: live.Site + modern + "/basic#error-codes", Read: read,
	})
	return append(all, suiteRules()...)
})

// sdkHabits is the rule that stands for those that an author who takes an SDK cannot keep: they say nothing of this server.
const sdkHabits = "sdk-habits"

// habit reports whether a rule is one of those.
func habit(id string) bool {
	switch id {
	case "parse-error", "invalid-request", "invalid-params", "cursor-refused", "unknown-tool", "log-level-invalid":
		return true
	}
	return false
}

// asked reports whether a rule is tried: it was asked for, or stands behind the one that was.
func asked(globs []string, id string) bool {
	return matches(globs, id) || habit(id) && matches(globs, sdkHabits)
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
