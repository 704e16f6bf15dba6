package safe

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Quote writes an argument so that a POSIX shell reads it back unchanged.
func Quote(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@%+,", r))
	}) < 0 {
		return s
	}
	if strings.IndexFunc(s, Hidden) >= 0 || !utf8.ValidString(s) {
		return escapedQuote(s)
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// escapedQuote writes what a terminal would obey or not show as $'\x1b': a command is copied to be pasted, and an escape
// sequence in a tool's name could end the paste and go on with a line that runs. Quotes and backslashes are written as
// numbers too: a shell that does not know $'…' then reads one harmless word.
func escapedQuote(s string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i, n := 0, 0; i < len(s); i += n {
		r, size := utf8.DecodeRuneInString(s[i:])
		n = size
		switch {
		case r == '\'' || r == '\\' || Hidden(r) || r == utf8.RuneError && n == 1:
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		default:
			b.WriteString(s[i : i+n])
		}
	}
	return b.String() + "'"
}
