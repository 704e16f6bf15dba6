package mask

import (
	"regexp"
	"strings"
	"sync"
)

// masked is a value that was hidden before, with the brackets that the text has behind it.
var masked = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:\*\*\*|\[[a-z0-9-]+-[0-9]+\])[)\]}.]*$`) })

// Assigned is a text with others in the place of the values of what is called like a secret in it: password=value, "password": "value", and
// API_KEY: value where value is one word with a digit, for in prose much comes after a colon.
// Brackets behind a value that is not quoted may be the text's: password=value) has them in it.
func Assigned(s string, other func(value string, quoted bool) string) string {
	if !strings.ContainsAny(s, "=:") {
		return s
	}
	var b strings.Builder
	at := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '=' && s[i] != ':' {
			continue
		}
		start, end, ok := valueAfter(s, at, i)
		if !ok {
			continue
		}
		b.WriteString(s[at:start])
		b.WriteString(other(s[start:end], s[start-1] == '"' || s[start-1] == '\''))
		at, i = end, end-1
	}
	if at == 0 {
		return s
	}
	return b.String() + s[at:]
}

// valueAfter is where the value of a secret is whose name, no earlier than from, ends at i with = or a colon.
func valueAfter(s string, from, i int) (start, end int, ok bool) {
	last, quoted := i, i > from && (s[i-1] == '"' || s[i-1] == '\'')
	if quoted {
		last--
	}
	first := last
	for first > from && last-first < 100 && nameByte(s[first-1]) {
		first--
	}
	if !Secret(s[first:last]) {
		return 0, 0, false
	}
	rest := s[i+1:]
	if s[i] == '=' {
		rest = strings.TrimLeft(rest, "=")
	}
	if quoted || s[i] == ':' {
		rest = strings.TrimLeft(rest, " \t")
	}
	start = len(s) - len(rest)
	if rest == "" || rest[0] == '[' && s[i] == ':' { // a list, or a placeholder
		return 0, 0, false
	}
	if q := rest[0]; q == '"' || q == '\'' {
		n := strings.IndexAny(rest[1:], string(q)+"\r\n") // a quote that is not closed does not hide the lines below
		if n < 0 {
			n = len(rest) - 1
		}
		if s[i] == ':' && !quoted && calledSo(s[first:last], rest[1:1+n]) {
			return 0, 0, false
		}
		return start + 1, start + 1 + n, n > 0
	}
	ends := " \t\r\n\f\v&;,\"'<>"
	if s[i] == ':' {
		ends += "}])" // of Go's map[password:value]; what is assigned may have brackets in it
	}
	n := strings.IndexAny(rest, ends)
	if n < 0 {
		n = len(rest)
	}
	switch word := strings.ToLower(rest[:n]); {
	case n == 0 || word == "[" || masked().MatchString(word) || word == "bearer" || word == "basic" || word == "token": // what follows these is found by its look
		return 0, 0, false
	case s[i] == ':' && (n < 6 || !strings.ContainsAny(word, "0123456789") || strings.HasPrefix(word, "//")):
		return 0, 0, false
	}
	return start, start + n, true
}

// calledSo reports whether what is quoted after a name and a colon is a name itself, of which the text tells something: Missing API key:
// 'TAVILY_API_KEY', Unrecognized key: "limit". Of a password a word may be all.
func calledSo(name, value string) bool {
	lower, upper, digit, line := false, false, false, false
	for i := range len(value) {
		switch c := value[i]; {
		case c >= 'a' && c <= 'z':
			lower = true
		case c >= 'A' && c <= 'Z':
			upper = true
		case c >= '0' && c <= '9' && i > 0:
			digit = true
		case c == '_' && i > 0:
			line = true
		default:
			return false
		}
	}
	if upper && line {
		return !lower
	}
	name = strings.ToLower(name)
	return lower != upper && !digit && !strings.Contains(name, "pass") && !strings.Contains(name, "pwd") && !strings.Contains(name, "secret")
}

// nameByte reports whether c may be in the name of a variable or member.
func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}
