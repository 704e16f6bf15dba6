package widget

import (
	"strings"

	"github.com/mcphud/mcphud/tui/paint"
)

// PaintJSON colours a line of JSON. It needs no state from the lines before, since no JSON token spans lines, and it
// takes what is cut or is not JSON as it comes.
func PaintJSON(th *paint.Theme, line string, dst []Span) []Span {
	for i := 0; i < len(line); {
		start := i
		var st paint.Style
		switch c := line[i]; {
		case c == '"':
			i = stringEnd(line, i)
			st = th.String
			if rest := strings.TrimLeft(line[i:], " \t"); rest != "" && rest[0] == ':' {
				st = th.Key
			}
		case c == '-' || c >= '0' && c <= '9':
			for i++; i < len(line) && isNumber(line[i]); {
				i++
			}
			st = th.Number
		case c >= 'a' && c <= 'z':
			for i++; i < len(line) && line[i] >= 'a' && line[i] <= 'z'; {
				i++
			}
			switch line[start:i] {
			case "true", "false":
				st = th.Bool
			case "null":
				st = th.Null
			default:
				continue
			}
		case strings.IndexByte("{}[]:,", c) >= 0:
			i++
			st = th.Punct
		default:
			i++
			continue
		}
		dst = append(dst, Span{start, i, st})
	}
	return dst
}

// stringEnd returns the index after the JSON string that begins at i, or the
// length of the line if it does not end on it.
func stringEnd(line string, i int) int {
	for i++; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}

func isNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}
