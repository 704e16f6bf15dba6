package text

import "strings"

// Edits is how many characters to insert, delete, replace or swap with their neighbour to make b of a (optimal string alignment).
func Edits(a, b string) int {
	x, y := []rune(a), []rune(b)
	return EditsWithin(x, y, max(len(x), len(y)))
}

// EditsWithin is Edits, or limit+1 where it would be more than limit, which is known sooner: the search ends with the first row whose
// least number is above the limit: each later row's is too.
func EditsWithin(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	// Three rows of the usual matrix: a swap looks two rows back.
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}

// Nearest is the name that a mistyped one probably stands for: at most two edits away, or with it as a part; "" where none is. Case
// makes no difference. It is for "did you mean", never for choosing what to run.
func Nearest(name string, names []string) (best string) {
	// bytes: names of servers and tools are shorter, and the comparison takes the product of both lengths
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
