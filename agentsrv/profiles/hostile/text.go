package hostile

import (
	"fmt"
	"strings"
)

// quote is a JSON string that keeps bytes which are not UTF-8, since sending them is the point of some payloads. The
// result parses wherever the bytes of strings are not looked at.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// text is a result with one text.
func text(s string) string { return `{"content":[{"type":"text","text":` + quote(s) + `}]}` }

// complete adds what the modern revision wants of every result, and of lists.
func complete(result string, modern, list bool) []byte {
	if !modern {
		return []byte(result)
	}
	more := `{"resultType":"complete",`
	if list {
		more += `"ttlMs":0,"cacheScope":"private",`
	}
	return []byte(more + strings.TrimPrefix(result, "{"))
}

// nest is opening and closing, depth times around a core.
func nest(opening, core, closing string, depth int) string {
	return strings.Repeat(opening, depth) + core + strings.Repeat(closing, depth)
}
