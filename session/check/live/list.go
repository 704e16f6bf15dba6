package live

import (
	"context"
	"slices"
	"sync"

	"github.com/mcphud/mcphud/session/check/rules"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// maxListed is how many findings of one rule are kept; all are counted.
const maxListed = 500

// Group has the findings of one rule. Count is of all of them, of which the first maxListed are kept.
type Group struct {
	Rule     *rules.Rule
	Count    int
	Findings []Finding // the first of them, see maxListed
}

// Report is a snapshot of a List.
type Report struct {
	Groups    []Group              // the worst first, and as in the table
	Frames    int                  // messages that were checked
	Unchecked int                  // of these, how many were not validated by the schema: too large, or too many of different shapes
	Count     [rules.Error + 1]int // findings by severity
	Last      uint64               // Seq of the newest entry that was checked
}

// Total returns the number of findings of all severities, also of those that are not kept.
func (r *Report) Total() int {
	return r.Count[rules.Info] + r.Count[rules.Warning] + r.Count[rules.Error]
}

// List is the findings of a journal, which may still grow. It is safe for concurrent use.
type List struct {
	only    string     // the server that is looked at, "" for all
	mu      sync.Mutex // guards what follows
	checker *Checker
	seen    uint64 // Seq of the newest entry that was looked at, of any server
	kept    map[*rules.Rule]*Group
}

// NewList returns a list about all servers of a journal. It has read nothing yet: see Update.
func NewList() *List {
	l := &List{kept: map[*rules.Rule]*Group{}}
	l.checker = NewChecker(func(f Finding) {
		g := l.kept[f.Rule]
		if g == nil {
			g = &Group{Rule: f.Rule}
			l.kept[f.Rule] = g
		}
		if g.Count++; len(g.Findings) < maxListed {
			g.Findings = append(g.Findings, f)
		}
	})
	return l
}

// NewListOf returns an empty list about one server only, in a journal that has others too.
func NewListOf(server string) *List {
	l := NewList()
	l.only = server
	return l
}

// Update checks what came since, until ctx ends. A body that is not kept any more counts as not validated.
func (l *List) Update(ctx context.Context, j *journal.Journal) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	j.Each(l.seen, func(e *journal.Entry) bool {
		if ctx.Err() != nil {
			return false
		}
		if l.seen = e.Seq; l.only != "" && e.Server != l.only {
			return true
		}
		var body []byte
		if Wants(e) {
			body, _ = j.Body(e.Seq)
		}
		l.checker.Add(e, body)
		return true
	})
	return ctx.Err()
}

// Finish tells that nothing more will come: requests without an answer are findings now.
func (l *List) Finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.checker.Finish()
}

// Report returns a snapshot, which later calls of Update do not change.
func (l *List) Report() Report {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := Report{Frames: l.checker.Frames, Unchecked: l.checker.Unchecked, Last: l.seen}
	for _, s := range Severities() {
		for _, rule := range rules.Of("live") {
			g := l.kept[rule]
			if g == nil || g.Rule.Severity != s {
				continue
			}
			c := *g
			c.Findings = slices.Clone(g.Findings)
			slices.SortStableFunc(c.Findings, func(a, b Finding) int { return int(int64(a.Seq) - int64(b.Seq)) })
			r.Groups = append(r.Groups, c)
			r.Count[s] += g.Count
		}
	}
	return r
}
