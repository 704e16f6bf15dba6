package mask

import (
	"regexp"
	"strings"
	"sync/atomic"
)

// rules are what somebody hides besides what this package finds.
type rules struct {
	names    *regexp.Regexp // a whole name, nil for none
	members  *regexp.Regexp // a name and the value behind it, in a text
	patterns []*regexp.Regexp
}

// extra belongs to the process, as standard output does: one of many calls that was not given it would write a secret out.
var extra atomic.Pointer[rules]

// Extend makes everything in this process also hide the values of what has these names (* stands for anything, case does not matter), and what the
// patterns match in a text. It replaces what was given before.
func Extend(names []string, patterns []*regexp.Regexp) {
	if len(names) == 0 && len(patterns) == 0 {
		extra.Store(nil)
		return
	}
	r := &rules{patterns: patterns}
	var all []string
	for _, n := range names {
		all = append(all, strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(n)), `\*`, `[\w.-]*`))
	}
	if len(all) > 0 {
		any := strings.Join(all, "|")
		r.names = regexp.MustCompile(`(?i)^(?:` + any + `)$`)
		r.members = regexp.MustCompile(`(?i)((?:^|[^\w.-])["']?(?:` + any + `)["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|[^\s"',;&}\]]+)`)
	}
	extra.Store(r)
}

// Extra hides in a text what [Extend] says and nothing else: for what is otherwise kept as it was sent.
func Extra(text []byte) []byte {
	r := extra.Load()
	if r == nil {
		return text
	}
	return []byte(r.text(string(text)))
}

// matchesName reports whether somebody hides what has that name, which may be that of a flag.
func (r *rules) matchesName(name string) bool {
	return r != nil && r.names != nil && (r.names.MatchString(name) || r.names.MatchString(strings.TrimLeft(name, "-")))
}

// text hides what the rules find.
func (r *rules) text(s string) string {
	if r == nil || s == "" {
		return s
	}
	if r.members != nil {
		s = r.members.ReplaceAllStringFunc(s, func(m string) string {
			parts := r.members.FindStringSubmatch(m)
			if q := parts[2][0]; q == '"' || q == '\'' {
				return parts[1] + string(q) + Hidden + string(q)
			}
			if strings.Contains(parts[1], `"`) { // a number of JSON, which stays JSON
				return parts[1] + `"` + Hidden + `"`
			}
			return parts[1] + Hidden
		})
	}
	for _, p := range r.patterns {
		s = p.ReplaceAllLiteralString(s, Hidden)
	}
	return s
}
