package widget

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// Similar picks at most three names for a mistyped one: those that it is a part of or stands for as in a filter, those that are part of
// it, and those that are at most two edits away; the nearest first.
func Similar(name string, names []string) []string {
	const longest = 200
	if name == "" || len(name) > longest {
		return nil
	}
	low := strings.ToLower(name)
	query := ParseQuery(strconv.Quote(low))
	worst := Initials
	if len(low) < 3 {
		worst = WordStart
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
