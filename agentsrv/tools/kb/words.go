package kb

import (
	"strings"
	"unicode"
)

// maxWord is how many bytes of a word are looked up; longer ones are hashes and encodings, which nobody types.
const maxWord = 40

// words calls f for the words of s until it returns false. A word is what FTS5's tokenizer unicode61 takes for one, and
// holds no syntax of its query language. Each ideograph is a word, since text in them has no spaces, and a name written
// as readFile is its parts; whole tells whether a word stands in s as it is.
func words(s string, f func(w string, whole bool) bool) {
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return !isLetter(r) && !unicode.Is(unicode.Mn, r) }) {
		from := 0
		var before rune
		for i, r := range w {
			if i > from && (unicode.IsUpper(r) && unicode.IsLower(before) || isIdeograph(r) || isIdeograph(before)) {
				if !f(w[from:i], false) {
					return
				}
				from = i
			}
			before = r
		}
		if !f(w[from:], from == 0) {
			return
		}
	}
}

// partsOf is the words of s that unicode61 does not find in it, separated by spaces: parts of names, and ideographs.
func partsOf(s string) string {
	var b strings.Builder
	words(s, func(w string, whole bool) bool {
		if !whole {
			b.WriteString(w)
			b.WriteByte(' ')
		}
		return true
	})
	return b.String()
}

func isLetter(r rune) bool {
	return r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

func isIdeograph(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
