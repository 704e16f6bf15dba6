package kb

import (
	"strings"
)

const snippetSize = 500 // bytes

// snippet is the part of text with the most of the query's words, cut at ends of words, with … where something was left
// out.
func snippet(text string, terms []term) string {
	if len(text) <= snippetSize {
		return text
	}
	which := map[string]int{}
	for i, t := range terms {
		for _, a := range t.alts {
			which[a.text] = i
		}
	}
	type spot struct{ at, i int }
	var spots []spot
	eachTerm(text, func(t string, from, _ int) bool {
		if i, ok := which[t]; ok {
			spots = append(spots, spot{from, i})
		}
		return true
	})
	const room = snippetSize - 100 // the rest is for what stands before the first word
	best, start := -1.0, 0
	for i := range spots {
		seen := make([]bool, len(terms))
		var sum float64
		for _, s := range spots[i:] {
			if s.at > spots[i].at+room {
				break
			}
			if !seen[s.i] {
				seen[s.i] = true
				sum += terms[s.i].weight
			}
		}
		if sum > best {
			best, start = sum, spots[i].at
		}
	}
	start = max(start-100, 0)
	if start > 0 { // begin with a line, or else a word
		part := text[start:min(start+100, len(text))]
		if at := strings.IndexByte(part, '\n'); at >= 0 {
			start += at + 1
		} else if at := strings.IndexByte(part, ' '); at >= 0 {
			start += at + 1
		} else {
			start = cutBefore(text, start)
		}
	}
	end := start + cutBefore(text[start:], snippetSize)
	out := strings.TrimSpace(text[start:end])
	if start > 0 {
		out = "… " + out
	}
	if end < len(text) {
		out += " …"
	}
	return out
}
