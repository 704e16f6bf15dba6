// Package ignore says which findings of a check do not count: those that somebody gave a reason for, and those that were known before.
package ignore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcphud/mcphud/session/check"
)

// Name is where a project has its list, below the project's folder.
const Name = ".mcphud/check.yaml"

// Entry names findings that do not count, and says why. It holds where Rule and Place both match, up to the end of the day Until.
type Entry struct {
	Rule   string    // not "": an id, or a pattern: * is any text, ? any character
	Place  string    // a pattern, "" for all places: of a name, of KIND NAME, or of KIND NAME POINTER
	Reason string    // not "", and not check.InBaseline
	Until  time.Time // the last day that it holds, zero for ever
	Where  string    // FILE:LINE, "" for one that is in no file
}

// Severity is one rule, or several by a pattern, with another severity.
type Severity struct {
	Rule     string
	Severity check.Severity
}

// List is the file .mcphud/check.yaml of a project, or what command lines add: findings that do not count, and severities of its own.
type List struct {
	Entries    []Entry
	Severities []Severity // the last that matches holds
}

// Find is the file of the project at wd, an absolute path: below it, or below the nearest folder above it that has one, up to the root of a repository; ""
// where there is none.
func Find(wd string) string {
	for at := wd; ; at = filepath.Dir(at) {
		path := filepath.Join(at, filepath.FromSlash(Name))
		if _, err := os.Lstat(path); err == nil {
			return path
		}
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil || filepath.Dir(at) == at {
			return ""
		}
	}
}

// Apply marks what the list ignores in r, gives severities, and keeps in r what became of each entry on that day. The first entry that matches
// gives the reason. One that matches nothing is only unused where a section of its rules ran to its end. It may be called for several lists.
func (l List) Apply(r *check.Report, today time.Time) {
	day := today.Format(time.DateOnly)
	for _, e := range l.Entries {
		out := check.Ignored{Rule: e.Rule, Place: e.Place, Reason: e.Reason, Where: e.Where}
		if !e.Until.IsZero() {
			if out.Until = e.Until.Format(time.DateOnly); out.Until < day {
				out.State = check.Expired
			}
		}
		r.Ignores = append(r.Ignores, out)
	}
	first := len(r.Ignores) - len(l.Entries)
	entries := map[string][]int{} // those that may match, by rule
	for i := range r.Findings {
		f := &r.Findings[i]
		of, seen := entries[f.ID]
		if !seen {
			for j, e := range l.Entries {
				if Match(e.Rule, f.ID) {
					of = append(of, j)
				}
			}
			entries[f.ID] = of
		}
		for _, j := range of {
			if !matchPlace(l.Entries[j].Place, f.Place) {
				continue
			}
			out := &r.Ignores[first+j]
			out.Matched++
			if out.State != check.Expired && f.Ignored == "" {
				f.Ignored = out.Reason
			}
		}
	}
	ran := finishedSections(r)
	for i := first; i < len(r.Ignores); i++ {
		e := &r.Ignores[i]
		if section, _, _ := strings.Cut(e.Rule, "/"); e.State == "" && e.Matched == 0 && slices.ContainsFunc(ran, func(name string) bool { return Match(section, name) }) {
			e.State = check.Unused
		}
	}
	l.judge(r)
	r.Recount()
}

// judge gives findings the severities of the list.
func (l List) judge(r *check.Report) {
	if len(l.Severities) == 0 {
		return
	}
	for i := range r.Findings {
		for _, s := range l.Severities {
			if Match(s.Rule, r.Findings[i].ID) {
				r.Findings[i].Severity = s.Severity
			}
		}
	}
}

// finishedSections are the sections of a report that ran to their end.
func finishedSections(r *check.Report) (names []string) {
	for _, s := range r.Sections {
		if s.Error == "" {
			names = append(names, s.Name)
		}
	}
	if r.Interrupted && len(names) > 0 {
		names = names[:len(names)-1] // the last may have ended in the middle
	}
	return names
}

// matchPlace reports whether a pattern of an entry means a place.
func matchPlace(pattern string, p check.Place) bool {
	return pattern == "" || Match(pattern, p.Name) || Match(pattern, p.Kind) || Match(pattern, strings.TrimSpace(p.Kind+" "+p.Name)) || Match(pattern, p.String())
}

// Match reports whether a pattern means all of s: * is any text, also none, ? is any byte.
func Match(pattern, s string) bool {
	star, back := -1, 0 // the last star, and what it covers up to
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(pattern) && pattern[i] == '*':
			star, back = i, j
			i++
		case i < len(pattern) && (pattern[i] == '?' || pattern[i] == s[j]):
			i++
			j++
		case star >= 0:
			back++
			i, j = star+1, back
		default:
			return false
		}
	}
	return strings.Trim(pattern[i:], "*") == ""
}
