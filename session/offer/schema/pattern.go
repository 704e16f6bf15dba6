package schema

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// compilePattern compiles an ECMA-262 pattern as far as Go's linear-time syntax (RE2) has it. Look-around and
// back-references do not exist there; such a pattern is an error, and the caller reports it as unchecked.
func compilePattern(src string) (*regexp.Regexp, error) {
	if len(src) > MaxPatternBytes {
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are compiled", len(src), MaxPatternBytes)
	}
	text, err := translate(src)
	if err != nil {
		return nil, err
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("it is not in the syntax of Go, which checks it here (%s)", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

// compiled is what came of compiling a pattern.
type compiled struct {
	re  *regexp.Regexp
	err error
}

// pattern is compilePattern, once for each pattern of the schema. It may be called from several goroutines.
func (s *Schema) pattern(src string) (*regexp.Regexp, error) {
	got, ok := s.patterns.Load(src)
	if !ok {
		re, err := compilePattern(src)
		got, _ = s.patterns.LoadOrStore(src, compiled{re, err})
	}
	c := got.(compiled)
	return c.re, c.err
}

// translate rewrites the escapes that ECMA-262 and RE2 spell differently. ECMA-262 writes a character beyond U+FFFF as two
// escapes, the halves of a surrogate pair (https://262.ecma-international.org/15.0/#sec-patterns); RE2
// matches whole characters, so that a half alone, as in a range of halves, would never match and is an error.
func translate(src string) (string, error) {
	if !strings.Contains(src, `\u`) {
		return src, nil
	}
	var b strings.Builder
	for i := 0; i < len(src); i++ {
		rest := src[i:]
		switch {
		case len(rest) >= 6 && rest[:2] == `\u` && isHex(rest[2:6]):
			r := escaped(rest)
			if i += 5; utf16.IsSurrogate(r) {
				if r = utf16.DecodeRune(r, escaped(rest[6:])); r == utf8.RuneError {
					return "", fmt.Errorf("it has half of a surrogate pair, %s, which matches no character", rest[:6])
				}
				i += 6
			}
			fmt.Fprintf(&b, `\x{%04x}`, r)
		case strings.HasPrefix(rest, `\u{`):
			b.WriteString(`\x{`)
			i += 2
		case rest[0] == '\\' && len(rest) > 1:
			b.WriteString(rest[:2])
			i++
		default:
			b.WriteByte(rest[0])
		}
	}
	return b.String(), nil
}

// escaped is the code unit of the escape that s begins with, 0 where it does not.
func escaped(s string) rune {
	if len(s) < 6 || s[:2] != `\u` || !isHex(s[2:6]) {
		return 0
	}
	n, _ := strconv.ParseUint(s[2:6], 16, 16) // four digits
	return rune(n)
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
