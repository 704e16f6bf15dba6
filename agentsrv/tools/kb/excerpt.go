package kb

import (
	"slices"
	"strings"

	"github.com/mcphud/mcphud/session/base/text"
)

// excerpt is the part of a passage, at most snippetSize bytes, that has most of the words of a query: from its beginning on if they
// are there.
func excerpt(content string, terms []term) string {
	type place struct{ at, word int }
	var places []place
	at := 0
	words(content, func(w string, _ bool) bool {
		at += strings.Index(content[at:], w)
		w = strings.ToLower(w)
		for i, t := range terms {
			if sameStem(w, t.word) || slices.ContainsFunc(t.similar, func(n string) bool { return sameStem(w, n) }) {
				places = append(places, place{at, i})
			}
		}
		at += len(w)
		return true
	})
	best, most := 0, 0
	for i, from := range places {
		var seen [maxWords]bool
		n := 0
		for _, p := range places[i:] {
			if p.at-from.at > snippetSize*3/4 {
				break
			}
			if !seen[p.word] {
				seen[p.word] = true
				n++
			}
		}
		if n > most {
			best, most = from.at, n
		}
	}
	if best < snippetSize/2 {
		return text.Cut(content, snippetSize)
	}
	return text.Cut("…"+content[cutBefore(content, best-snippetSize/8):], snippetSize)
}

// sameStem reports whether two words differ in at most their last three letters: about what the Porter stemmer of the index takes for one word.
func sameStem(a, b string) bool {
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	return same >= 3 && same >= max(len(a), len(b))-3 || a == b
}
