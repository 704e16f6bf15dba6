package output

import (
	"slices"
	"strings"

	"github.com/mcphud/mcphud/tui/widget"
)

// DidYouMean asks for the names that a mistyped one is similar to, "" if there are none.
func DidYouMean(name string, names []string) string {
	if s := widget.Similar(name, names); len(s) > 0 {
		return "did you mean " + strings.Join(s, " or ") + "? "
	}
	return ""
}

// Union is a list with those of another that it does not have.
func Union(names, more []string) []string {
	out := slices.Clone(names)
	for _, n := range more {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
