package entity

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/mcphud/mcphud/session/base/text"
)

// fold makes names comparable: lower case, no accents, words apart by one space, nothing else but letters and digits.
func fold(s string) string {
	var b strings.Builder
	gap := false
	for _, r := range norm.NFKD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if gap && b.Len() > 0 {
				b.WriteByte(' ')
			}
			gap = false
			b.WriteRune(unicode.ToLower(r))
		default:
			gap = true
		}
	}
	return b.String()
}

// trigrams of a folded text, each word framed by blanks so that its beginning and end count.
func trigrams(folded string) map[string]bool {
	grams := map[string]bool{}
	for word := range strings.SplitSeq(folded, " ") {
		if word == "" {
			continue
		}
		r := []rune(" " + word + " ")
		for i := 0; i+3 <= len(r); i++ {
			grams[string(r[i:i+3])] = true
		}
	}
	return grams
}

// filler are words that say nothing about an entity.
var filler = map[string]bool{
	"the": true, "and": true, "for": true, "with": true, "from": true, "that": true, "this": true, "which": true, "who": true,
	"what": true, "where": true, "are": true, "was": true, "has": true, "have": true, "our": true, "all": true, "any": true, "into": true,
}

// words of a text, each once, in order, without filler and words below three letters.
func words(text string) []string {
	var all []string
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(fold(text)) {
		if len([]rune(w)) < 3 || filler[w] || seen[w] {
			continue
		}
		seen[w] = true
		all = append(all, w)
	}
	return all
}

// texts are all strings within a JSON value, keys too.
func texts(raw json.RawMessage) string {
	var b strings.Builder
	d := json.NewDecoder(bytes.NewReader(raw))
	for {
		t, err := d.Token()
		if err == io.EOF || err != nil {
			return b.String()
		}
		if s, ok := t.(string); ok {
			b.WriteString(s)
			b.WriteByte(' ')
		}
	}
}

// similarity of two folded names, 0 to 1: the best of shared trigrams, of edit distance, and, a little less, of how much
// of the query the name contains.
func similarity(query, name string) float64 {
	q, n := trigrams(query), trigrams(name)
	if len(q) == 0 || len(n) == 0 {
		return 0
	}
	common := 0
	for g := range q {
		if n[g] {
			common++
		}
	}
	dice := 2 * float64(common) / float64(len(q)+len(n))
	inside := 0.9 * float64(common) / float64(len(q))
	a, b := []rune(query), []rune(name)
	if len(a) > maxCompared {
		a = a[:maxCompared]
	}
	if len(b) > maxCompared {
		b = b[:maxCompared]
	}
	edits := 1 - float64(text.EditsWithin(a, b, maxCompared))/float64(max(len(a), len(b)))
	return max(dice, inside, edits)
}

// maxCompared bounds the square that an edit distance costs.
const maxCompared = 80
