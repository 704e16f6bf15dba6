package report

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// commands match where an order to a CI system begins that may stand anywhere in a line: "##[" of GitHub's runners, "##vso[" of Azure Pipelines,
// "##teamcity[" of the server of that name.
// https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands
var commands = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`##([A-Za-z]*)\[`) })

// plain is s as text that neither moves what is around it nor hides: control characters, and those that nobody sees, as <U+202E>. Line
// feeds stay. A CI system obeys lines that begin with "::" or have one of commands in them, so no line is made of s alone, and the latter are
// taken apart.
func plain(s string) string {
	if strings.IndexFunc(s, isInvisible) < 0 && utf8.ValidString(s) && !strings.Contains(s, "##") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "<%02X>", s[i])
		case r == '\t':
			b.WriteString("  ")
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case isInvisible(r):
			fmt.Fprintf(&b, "<%U>", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return commands().ReplaceAllString(b.String(), "## $1[")
}

// isInvisible reports whether plain writes r as its number: what moves the cursor or the lines, changes the direction, or is not seen.
func isInvisible(r rune) bool {
	switch {
	case r == '\n':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029:
		return true
	case r == 0x200c, r == 0x200d: // they spell Persian and Hindi
		return false
	// Variation selectors and tags, and the fillers of Hangul, which are letters to Unicode and blanks to people.
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r < 0xe1000, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return true
	}
	return r > 0x7f && unicode.Is(unicode.Cf, r)
}

// line is plain in one line.
func line(s string) string {
	return strings.Join(strings.FieldsFunc(plain(s), func(r rune) bool { return r == '\n' }), " ")
}

// lines are the lines of plain text, without empty ones at its end; at least one.
func lines(s string) []string { return strings.Split(strings.TrimRight(plain(s), "\n"), "\n") }
