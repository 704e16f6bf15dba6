package text

import "fmt"

// Words splits a command line at blanks, honouring single quotes, double quotes and backslashes. Nothing is expanded: no variables, no
// globs, no ~. A backslash at the end of a line continues it; within double quotes it takes the special meaning from any character,
// unlike in a shell, where it stays before most. The error says that a quote or backslash is left open.
func Words(s string) ([]string, error) {
	var (
		out   []string
		word  []rune
		open  rune // the quote that is open
		began bool
		esc   bool
	)
	for _, r := range s {
		switch {
		case esc:
			if r != '\n' {
				word, began = append(word, r), true
			}
			esc = false
		case r == '\\' && open != '\'':
			esc = true
		case open != 0:
			if r == open {
				open = 0
			} else {
				word = append(word, r)
			}
		case r == '\'' || r == '"':
			open, began = r, true
		case r == ' ' || r == '\t' || r == '\n':
			if began {
				out = append(out, string(word))
				word, began = word[:0], false
			}
		default:
			word = append(word, r)
			began = true
		}
	}
	if open != 0 || esc {
		return nil, fmt.Errorf("a quote or backslash is left open in %q", s)
	}
	if began {
		out = append(out, string(word))
	}
	return out, nil
}
