// Package redact takes out of recorded traffic what is nobody else's business: by the names of members and headers, by JSON pointer,
// by value, by pattern, and by what usually is a secret. Equal values become equal placeholders, and messages stay valid.
package redact

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/base/mask"
	"github.com/mcphud/mcphud/session/wire/journal"
)

// Rules say what is taken out, beside what names and looks of credentials give away.
type Rules struct {
	Keys     []string // names of members, headers and parameters, in any case, with or without - and _
	Paths    []string // JSON pointers into a message, * for any name or index: /params/arguments/*/email
	Values   []string // texts, wherever they are
	Patterns []string // regular expressions
}

// Redactor replaces what rules find. It is for one goroutine: first Learn of every entry, then Change of every entry.
type Redactor struct {
	keys   map[string]int // rule by name, without case, - and _
	keyed  []pattern      // what follows these names in texts
	paths  []path
	values []value
	match  []pattern
	found  finder // values that rules by name took out, which are taken out elsewhere as well
	learns bool

	rules []*Taken
	given map[string]string // placeholders by value
	count map[string]int    // placeholders by name
	where string            // what of an entry is being changed
	walk  *walk             // where in JSON; nil for other texts
}

type path struct {
	parts []string
	rule  int
}

type value struct {
	text string
	rule int
}

type pattern struct {
	re   *regexp.Regexp
	rule int
}

// Taken is what one rule took out.
type Taken struct {
	Rule    string // such as "key password"
	N       int
	Entries int            // in so many entries
	Places  map[string]int // how often where: "/params/arguments/password", "http head", "stderr"
	seen    bool           // in the entry that is being changed
	name    string         // of its placeholders
	least   int            // bytes of what is looked for elsewhere too
}

// The rules that are always there, by index.
const (
	byName = iota
	byLook
	elsewhere
)

const (
	shortest  = 6       // bytes of a secret that is looked for elsewhere too
	shortish  = 8       // bytes of another value that a rule of the user's takes out
	longish   = 12      // bytes of one that may be a secret, or a word
	longest   = 4 << 10 // bytes of one
	maxFound  = 200_000
	maxPlaces = 100
)

// New prepares rules. Errors say which is wrong.
func New(rules Rules) (*Redactor, error) {
	r := &Redactor{keys: map[string]int{}, given: map[string]string{}, count: map[string]int{}}
	for _, name := range []string{"names of secrets", "looks of credentials", "values of the rules above, found elsewhere"} {
		r.rule(name, "secret")
	}
	for _, k := range rules.Keys {
		if normalize(k) == "" {
			return nil, fmt.Errorf("key %q has no letter or digit", k)
		}
		n := r.rule("key "+k, k)
		r.rules[n].least = shortish
		r.keys[normalize(k)] = n
		r.keyed = append(r.keyed, pattern{regexp.MustCompile(`(?i)(?:^|[^\w-])["']?` + regexp.QuoteMeta(k) + `["']?\s*[:=]\s*(\[[a-z0-9-]+-[0-9]+\]|"[^"]*"|'[^']*'|[^\s&;,"'}\]]+)`), n})
	}
	for _, p := range rules.Paths {
		if !strings.HasPrefix(p, "/") {
			return nil, fmt.Errorf("path %q is not a JSON pointer: it begins with /, such as /params/arguments/email", p)
		}
		parts := strings.Split(p[1:], "/")
		for i, s := range parts {
			parts[i] = jsonrpc.UnescapeToken(s)
		}
		r.paths = append(r.paths, path{parts, r.rule("path "+p, parts[len(parts)-1])})
		r.rules[len(r.rules)-1].least = shortish
	}
	for i, v := range rules.Values {
		if v == "" {
			return nil, errors.New("a value is empty")
		}
		r.values = append(r.values, value{v, r.rule(fmt.Sprintf("value %d", i+1), "value")}) // the report does not repeat it
	}
	for _, p := range rules.Patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, fmt.Errorf("pattern: %w", err)
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("pattern %s matches the empty text", p)
		}
		r.match = append(r.match, pattern{re, r.rule("pattern "+p, "match")})
	}
	return r, nil
}

// rule adds a rule, and gives its index.
func (r *Redactor) rule(what, name string) int {
	var b strings.Builder
	for _, c := range strings.ToLower(name) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' {
			b.WriteRune(c)
		}
	}
	r.rules = append(r.rules, &Taken{Rule: what, Places: map[string]int{}, name: cmp.Or(b.String(), "value"), least: shortest})
	return len(r.rules) - 1
}

// normalize returns a name as names are compared: lower case, without - _ and blanks.
func normalize(name string) string {
	return strings.ToLower(strings.Map(func(c rune) rune {
		if c == '-' || c == '_' || c == ' ' {
			return -1
		}
		return c
	}, name))
}

// Learn remembers what rules by name and path take out of an entry, so that Change finds it everywhere.
func (r *Redactor) Learn(e journal.Entry, body []byte) {
	r.learns = true
	if e.Kind <= journal.Notification || e.Kind == journal.Span {
		_, _ = r.json(body, 0)
	} else {
		r.text(string(body), e.Kind == journal.HTTP)
	}
}

// Change is the entry without what the rules find.
func (r *Redactor) Change(e journal.Entry, body []byte) (journal.Entry, []byte) {
	r.learns = false
	for _, t := range r.rules {
		t.seen = false
	}
	frame := e.Kind <= journal.Notification
	switch {
	case len(body) == 0:
	case frame || e.Kind == journal.Span:
		r.where = ""
		if out, err := r.json(body, 0); err == nil {
			body = out
			break
		}
		r.where = e.Kind.String()
		body = []byte(r.text(string(body), false))
	default:
		if r.where = e.Kind.String(); e.Kind == journal.HTTP {
			r.where = "http head"
		}
		body = []byte(r.text(string(body), e.Kind == journal.HTTP))
	}
	r.where = "note"
	e.Note = r.text(e.Note, false)
	r.where = "server"
	e.Server = r.replaceAll(e.Server)
	r.where = "id"
	if id, ok := jsonrpc.String([]byte(e.ID)); ok {
		if clean := r.replaceAll(id); clean != id {
			e.ID = string(jsonrpc.Quote(clean))
		}
	}
	e.Tool = "" // whoever opens the file reads it from the request
	if frame && e.Kind != journal.Request && e.Kind != journal.Notification {
		e.Method = ""
	}
	return e, body
}

// Report says what was taken out, by rule; rules that found nothing are among it, but for those that are always there.
func (r *Redactor) Report() []Taken {
	var out []Taken
	for i, t := range r.rules {
		if t.N > 0 || i > elsewhere {
			out = append(out, *t)
		}
	}
	return out
}

// Where lists the most frequent places of a rule: "/params/token (3), stderr (1)".
func (t *Taken) Where(most int) string {
	names := slices.SortedFunc(maps.Keys(t.Places), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.Places[b], t.Places[a]), cmp.Compare(a, b))
	})
	var out []string
	for i, name := range names {
		if i == most {
			out = append(out, fmt.Sprintf("and %d more places", len(names)-i))
			break
		}
		out = append(out, fmt.Sprintf("%s (%d)", name, t.Places[name]))
	}
	return strings.Join(out, ", ")
}

var placeholder = regexp.MustCompile(`^\[[a-z0-9-]+-[0-9]+\]$`)

// placeholderFor returns the placeholder of a value that a rule found: the same for the same value, so that readers see where it comes back.
func (r *Redactor) placeholderFor(rule int, v string) string {
	if v == "" || v == mask.Hidden || placeholder.MatchString(v) {
		return v
	}
	t := r.rules[rule]
	p, ok := r.given[v]
	if !ok {
		r.count[t.name]++
		p = fmt.Sprintf("[%s-%d]", t.name, r.count[t.name])
		if len(r.given) < maxFound {
			r.given[strings.Clone(v)] = p
		}
	}
	if r.learns {
		if len(v) >= t.least && len(v) <= longest && len(r.found.values) < maxFound {
			r.found.add(v)
		}
		return v
	}
	t.N++
	if !t.seen {
		t.seen = true
		t.Entries++
	}
	place := r.where
	if r.walk != nil {
		place = r.walk.pointer()
	}
	if _, known := t.Places[place]; !known && len(t.Places) >= maxPlaces {
		place = "elsewhere"
	}
	t.Places[place]++
	return p
}

// replaceAll returns a text with placeholders for what rules by value and by look find.
func (r *Redactor) replaceAll(s string) string {
	if r.learns || s == "" {
		return s
	}
	for _, v := range r.values {
		if strings.Contains(s, v.text) {
			var b strings.Builder
			for rest := s; ; {
				before, after, ok := strings.Cut(rest, v.text)
				b.WriteString(before)
				if !ok {
					break
				}
				b.WriteString(r.placeholderFor(v.rule, v.text))
				rest = after
			}
			s = b.String()
		}
	}
	s = r.found.replace(s, func(v string) string { return r.placeholderFor(elsewhere, v) })
	for _, p := range r.match {
		s = p.re.ReplaceAllStringFunc(s, func(v string) string { return r.placeholderFor(p.rule, v) })
	}
	if masked := mask.Text(s); masked != s {
		s = r.restorePlaceholders(s, masked)
	}
	return s
}

// restorePlaceholders returns masked, which mask.Text made of s, with placeholders for what that hid.
func (r *Redactor) restorePlaceholders(s, masked string) string {
	parts := strings.Split(masked, mask.Hidden)
	rest, ok := strings.CutPrefix(s, parts[0])
	if !ok {
		return masked
	}
	b := []byte(parts[0])
	for _, part := range parts[1:] {
		i := len(rest)
		if part != "" {
			if i = strings.Index(rest, part); i < 0 {
				return masked
			}
		}
		b = append(append(b, r.placeholderFor(byLook, rest[:i])...), part...)
		rest = rest[min(i+len(part), len(rest)):]
	}
	return string(b)
}

// text is a text that is not JSON without what rules find: "name: value" lines of an HTTP head, name=value anywhere.
func (r *Redactor) text(s string, head bool) string {
	if head {
		lines := strings.Split(s, "\n")
		for i, l := range lines {
			name, v, ok := strings.Cut(l, ": ")
			if rule, named := r.keys[normalize(name)]; i > 0 && ok && named {
				was := r.where
				r.where += " " + name
				lines[i] = name + ": " + r.placeholderFor(rule, strings.TrimRight(v, "\r"))
				r.where = was
			}
		}
		s = strings.Join(lines, "\n")
	}
	if !strings.ContainsAny(s, ":=") {
		return r.replaceAll(s)
	}
	for _, k := range r.keyed {
		s = replaceGroup(k.re, s, func(v string) string { return r.placeholderFor(k.rule, strings.Trim(v, `"'`)) })
	}
	return r.replaceAll(mask.Assigned(s, func(v string, quoted bool) string {
		secret := v
		if !quoted {
			secret = strings.TrimRight(v, ")]}") // it is found elsewhere too, without what may be the text's
		}
		return r.placeholderFor(byName, secret) + v[len(secret):]
	}))
}

// replaceGroup replaces what the first group of an expression matches.
func replaceGroup(re *regexp.Regexp, s string, f func(string) string) string {
	found := re.FindAllStringSubmatchIndex(s, -1)
	if found == nil {
		return s
	}
	var b bytes.Buffer
	at := 0
	for _, m := range found {
		b.WriteString(s[at:m[2]])
		b.WriteString(f(s[m[2]:m[3]]))
		at = m[3]
	}
	b.WriteString(s[at:])
	return b.String()
}
