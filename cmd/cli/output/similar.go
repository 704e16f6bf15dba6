package output

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui/widget"
)

// DidYouMean asks for the names that a mistyped one is similar to, "" if there are none.
func DidYouMean(name string, names []string) string {
	if s := similar(name, names); len(s) > 0 {
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

// similar picks at most three names for a mistyped one: those that it is a part of or stands for as in a filter, those that are part of
// it, and those that are at most two edits away; the nearest first.
func similar(name string, names []string) []string {
	const longest = 200
	if name == "" || len(name) > longest {
		return nil
	}
	low := strings.ToLower(name)
	query := widget.ParseQuery(strconv.Quote(low))
	worst := widget.Initials
	if len(low) < 3 {
		worst = widget.WordStart
	}
	var out []string
	for _, n := range names {
		l := strings.ToLower(n)
		if len(n) <= longest && (query.Rank(n, "") <= worst || len(low) > 2 && (len(l) > 2 && strings.Contains(low, l) || text.Edits(low, l) <= 2)) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int {
		return text.Edits(low, strings.ToLower(a)) - text.Edits(low, strings.ToLower(b))
	})
	return out[:min(3, len(out))]
}
