package sandbox

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

const (
	maxDepth = 500 // levels of a result; JSON readers differ in what they take, and all take this
	maxStack = 30  // lines of a stack that are kept
)

// stack is a stack trace of the user's code: without the frames of the prelude, with a name for the code, cut to what
// somebody reads.
func stack(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\n")
		switch n := len(out); {
		case line == "":
		case strings.Contains(line, " at $"):
			// Nor is what the prelude called the code with.
			if n > 0 && (strings.HasSuffix(out[n-1], " at stringify (native)") || strings.HasSuffix(out[n-1], " at apply (native)")) {
				out = out[:n-1]
			}
		case n == maxStack:
			return strings.Join(append(out, "    …"), "\n")
		default:
			out = append(out, strings.ReplaceAll(text.Cut(line, 300), "<eval>", "code"))
		}
	}
	return strings.Join(out, "\n")
}

// tidy checks JSON that the engine wrote for what other JSON readers refuse: it is cut off if it nests too deep, and
// halves of surrogate pairs, which the engine writes as escapes, become text that shows them.
func tidy(s string) ([]byte, error) {
	out := make([]byte, 0, len(s))
	depth, inString := 0, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case inString && c == '\\':
			if i+5 < len(s) && s[i+1] == 'u' && (s[i+2] == 'd' || s[i+2] == 'D') && strings.IndexByte("89abcdefABCDEF", s[i+3]) >= 0 {
				out = append(out, '\\') // \ud800 becomes \\ud800
			}
			if i++; i == len(s) {
				return nil, errors.New("the result's JSON ends inside a string")
			}
			out = append(out, '\\', s[i])
			continue
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return nil, fmt.Errorf("the result nests deeper than %d levels; return a part of it", maxDepth)
			}
		case c == ']' || c == '}':
			depth--
		}
		out = append(out, c)
	}
	return out, nil
}
