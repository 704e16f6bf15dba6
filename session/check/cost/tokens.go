package cost

import (
	"unicode"
	"unicode/utf8"
)

// features are what the estimate counts in a text: pieces of the kinds into which byte pair encodings of today split text before they
// merge bytes, and how much longer they are than a piece that is one token as a rule.
type features [numFeatures]int

const (
	words      = iota // runs of letters, cut where an upper-case letter follows a lower-case one
	long              // letters of words beyond the seventh
	longer            // and beyond the twelfth
	shouted           // letters of words in capitals beyond the second
	digits            // groups of up to three digits
	marks             // runs of punctuation
	moreMarks         // signs of them beyond the second
	breaks            // runs of white space of more than one space
	foreign           // bytes of letters beyond ASCII, of scripts with spaces
	ideographs        // letters of scripts without spaces
	symbols           // bytes of whatever else is beyond ASCII
	numFeatures
)

// weights are tokens for each feature, fitted by least squares to what o200k_base counts. TestTokens holds what they miss.
var weights = [numFeatures]float64{1.015, 0.089, 1.003, 0.167, 1.241, 1.027, 0.321, 1.988, 0.136, 0.636, 0.530}

// Tokens estimates how many tokens a model counts text as. It takes one pass, and nothing but the text.
func Tokens[T ~string | ~[]byte](text T) int {
	f := count(text)
	return f.tokens()
}

func (f *features) tokens() int {
	sum := 0.5
	for i, n := range f {
		sum += weights[i] * float64(n)
	}
	return int(sum)
}

// Classes of characters.
const (
	space = iota
	lower
	upper
	digit
	mark
	beyond
)

func class(b byte) int {
	switch {
	case b >= 'a' && b <= 'z':
		return lower
	case b >= 'A' && b <= 'Z':
		return upper
	case b >= '0' && b <= '9':
		return digit
	case b >= utf8.RuneSelf:
		return beyond
	case b <= ' ' || b == 0x7f:
		return space
	}
	return mark
}

// count counts the features of a text.
func count[T ~string | ~[]byte](text T) features {
	var f features
	for i := 0; i < len(text); {
		from := i
		switch class(text[i]) {
		case lower, upper:
			i = word(text, i, &f)
		case digit:
			for i < len(text) && class(text[i]) == digit {
				i++
			}
			f[digits] += (i - from + 2) / 3
		case space:
			for i < len(text) && class(text[i]) == space {
				i++
			}
			if i-from > 1 || text[from] != ' ' {
				f[breaks]++
			}
		case mark:
			for i < len(text) && class(text[i]) == mark {
				i++
			}
			n := i - from
			if i < len(text) && (class(text[i]) == lower || class(text[i]) == upper) {
				n-- // the word takes the last one
			}
			if n > 0 {
				f[marks]++
				f[moreMarks] += max(0, n-2)
			}
		default:
			i = other(text, i, &f)
		}
	}
	return f
}

// word counts the word at i and returns where it ends. Letters with accents are part of it.
func word[T ~string | ~[]byte](text T, i int, f *features) int {
	from, capitals := i, 0
	for i < len(text) && class(text[i]) == upper {
		i++
		capitals++
	}
	for i < len(text) {
		switch class(text[i]) {
		case lower:
			i++
			continue
		case beyond:
			if r, size := decode(text, i); unicode.Is(unicode.Latin, r) {
				f[foreign] += size
				i += size
				continue
			}
		}
		break
	}
	n := i - from
	f[words]++
	f[long] += max(0, n-7)
	f[longer] += max(0, n-12)
	f[shouted] += max(0, capitals-2)
	return i
}

// other counts the character beyond ASCII at i and returns where it ends.
func other[T ~string | ~[]byte](text T, i int, f *features) int {
	r, size := decode(text, i)
	switch {
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		f[ideographs]++
	case unicode.IsLetter(r) || unicode.IsMark(r):
		f[foreign] += size
	default:
		f[symbols] += size
	}
	return i + size
}

// decode is the character at i; a byte that is none counts as one.
func decode[T ~string | ~[]byte](text T, i int) (r rune, size int) {
	var b [utf8.UTFMax]byte
	return utf8.DecodeRune(b[:copy(b[:], text[i:])])
}
