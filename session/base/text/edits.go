package text

import "strings"

// Edits is the Levenshtein distance in bytes.
func Edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := last
			if a[i] != b[j] {
				cost++
			}
			last = row[j+1]
			row[j+1] = min(cost, row[j]+1, last+1)
		}
	}
	return row[len(b)]
}

// Nearest is the name that a mistyped one probably stands for: at most two edits away, or with it as a part; "" where none is.
func Nearest(name string, names []string) (best string) {
	const longest = 200
	if name == "" || len(name) > longest {
		return ""
	}
	low, least := strings.ToLower(name), longest
	for _, n := range names {
		l := strings.ToLower(n)
		if len(n) > longest {
			continue
		}
		d := Edits(low, l)
		part := len(low) > 2 && len(l) > 2 && (strings.Contains(l, low) || strings.Contains(low, l))
		if (d <= 2 && d < len(l) || part) && d < least {
			best, least = n, d
		}
	}
	return best
}
