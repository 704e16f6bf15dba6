package filter

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/session/wire/journal"
)

const (
	seenEntries = 20_000 // newest entries whose values are offered
	seenValues  = 1000   // values that are kept of each key
	seenValue   = 200    // bytes of a value that is offered
	maxOffers   = 50
)

// Seen is the values that a journal has, for completion. The zero value has none.
type Seen struct {
	from   *journal.Journal
	upTo   uint64
	newest time.Time
	values map[string]map[string]bool // by key
}

// Update takes in what was appended to a journal since the last time, as far as it is among its newest 20,000 entries.
func (s *Seen) Update(j *journal.Journal) {
	if s.from != j {
		*s = Seen{from: j, values: map[string]map[string]bool{}}
	}
	since := s.upTo
	if last := j.First() + uint64(j.Len()) - 1; last > seenEntries {
		since = max(since, last-seenEntries)
	}
	j.Each(since, func(e *journal.Entry) bool {
		s.upTo, s.newest = e.Seq, e.Time
		s.add("server", e.Server)
		s.add("method", e.Method)
		s.add("tool", e.Tool)
		s.add("hop", e.Hop)
		s.add("trace", e.Trace)
		if e.Status == journal.Pending {
			s.add("id", strings.Trim(e.ID, `"`))
		}
		return true
	})
}

func (s *Seen) add(key, value string) {
	set := s.values[key]
	if value == "" || set[value] || len(set) >= seenValues || len(value) > seenValue || strings.IndexFunc(value, unicode.IsControl) >= 0 || !utf8.ValidString(value) {
		return
	}
	if set == nil {
		set = map[string]bool{}
		s.values[key] = set
	}
	set[value] = true
}

// of are the values of a key: those that there are, or those that were seen.
func (s *Seen) of(key string) []string {
	f := fieldOf(key)
	switch {
	case f == nil:
		return nil
	case f.values != nil:
		return f.values
	case f.key == "at" && !s.newest.IsZero():
		t := s.newest.Local()
		return []string{t.Format("15:04"), t.Format("15:04") + "..", t.Format("2006-01-02")}
	}
	out := make([]string, 0, len(s.values[f.key]))
	for v := range s.values[f.key] {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}

// Completion is what a filter can become.
type Completion struct {
	Text   string // the whole filter
	Cursor int    // the byte behind what was completed
	Label  string // the key or the value that was put in
}

// bounds are offered after < and >.
var bounds = []string{"10ms", "100ms", "1s", "10s", "1kb", "10kb", "100kb", "1mb"}

// Complete returns what the filter can become whose cursor is at a byte, best first: keys, or values behind a key.
func (s *Seen) Complete(line string, cursor int) []Completion {
	cursor = min(max(cursor, 0), len(line))
	from := tokenStart(line[:cursor])
	token := line[from:cursor]
	if len(token) > 1 && token[0] == '-' {
		token = token[1:]
	}
	from = cursor - len(token)
	to := cursor + strings.IndexAny(line[cursor:]+" ", " \t,|")
	var offers []string
	if key, value, ok := strings.Cut(token, ":"); ok {
		if i := strings.LastIndexAny(value, ",|"); i >= 0 && !strings.Contains(value[i:], `"`) {
			value = value[i+1:]
		} else {
			value = strings.TrimPrefix(value, "=")
		}
		from = cursor - len(value)
		value = strings.TrimPrefix(value, `"`)
		if !strings.HasPrefix(value, "/") { // a regular expression
			for _, v := range rankValues(s.of(key), value) {
				offers = append(offers, quote(v))
			}
		}
	} else if n := len(token) - len(strings.TrimLeft(token, "<>=")); n > 0 {
		from += n
		offers = rankValues(bounds, token[n:])
	} else if token != "-" {
		var keys []string
		for i := range fields {
			keys = append(keys, fields[i].key+":")
		}
		if token == "" {
			offers = append(keys, ">100ms", ">10kb")
		} else {
			offers = slices.DeleteFunc(keys, func(k string) bool { return !strings.HasPrefix(k, strings.ToLower(token)) })
		}
	}
	out := make([]Completion, 0, min(len(offers), maxOffers))
	for _, o := range offers[:min(len(offers), maxOffers)] {
		if c := (Completion{Text: line[:from] + o + line[to:], Cursor: from + len(o), Label: o}); c.Text != line {
			out = append(out, c)
		}
	}
	return out
}

// tokenStart is where the condition begins that a text ends in.
func tokenStart(s string) int {
	start, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case isBlank(c) && !quoted:
			start = i + 1
		}
	}
	return start
}

// rankValues returns the values that contain a text, those that begin with it first.
func rankValues(values []string, has string) []string {
	n := text.NewNeedle(has)
	if has == "" {
		return values
	}
	var out []string
	for _, v := range values {
		if at, _ := n.Index(v, 0); at >= 0 {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		i, _ := n.Index(a, 0)
		j, _ := n.Index(b, 0)
		return cmp.Compare(min(i, 1), min(j, 1))
	})
	return out
}

// quote writes a value so that the parser reads it as it is.
func quote(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\r\n\",|\\") && s[0] != '/' && s[0] != '=' {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// Term is the condition that a key has exactly this value, such as method:=tools/call, for selecting what is like an entry.
func Term(key, value string) string {
	switch key {
	case "method", "tool", "server":
		return key + ":=" + quote(value)
	}
	return key + ":" + quote(value)
}
