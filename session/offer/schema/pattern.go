package schema

import (
	"fmt"
	"regexp"
	"strings"
)

// compilePattern compiles an ECMA-262 pattern as far as Go's linear-time syntax (RE2) has it. Look-around and
// back-references do not exist there; such a pattern is an error, and the caller reports it as unchecked.
func compilePattern(src string) (*regexp.Regexp, error) {
	if len(src) > MaxPatternBytes {
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are compiled", len(src), MaxPatternBytes)
	}
	re, err := regexp.Compile(translate(src))
	if err != nil {
		return nil, fmt.Errorf("it is not in the syntax of Go, which checks it here (%s)", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return re, nil
}

// translate rewrites the escapes that ECMA-262 and RE2 spell differently.
func translate(src string) string {
	if !strings.Contains(src, `\u`) {
		return src
	}
	var b strings.Builder
	for i := 0; i < len(src); i++ {
		rest := src[i:]
		switch {
		case len(rest) >= 6 && rest[:2] == `\u` && isHex(rest[2:6]):
			b.WriteString(`\x{` + rest[2:6] + `}`)
			i += 5
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
	return b.String()
}

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}
