package text

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Needle is a text that is looked for in others: without regard to case, and with regard to it as soon as it has a capital.
// The empty needle is nowhere.
type Needle struct {
	text         string
	fold         bool
	lower, upper byte // the first byte in both cases, if it is ASCII
}

// NewNeedle returns the needle that finds a text. The smart case of editors: "err" finds Error and ERR, "Err" finds Err alone.
func NewNeedle(s string) Needle {
	n := Needle{text: s, fold: strings.IndexFunc(s, unicode.IsUpper) < 0}
	if s != "" {
		n.lower, n.upper = s[0], s[0]
		if n.lower >= 'a' && n.lower <= 'z' {
			n.upper -= 'a' - 'A'
		}
	}
	return n
}

// Text is what the needle was made from.
func (n Needle) Text() string { return n.text }

// Fold is whether case makes no difference.
func (n Needle) Fold() bool { return n.fold }

// Index is the range in bytes of the first occurrence in s[from:], or -1. The range may be longer or shorter than the needle, since
// letters have capitals of other lengths. It is for short texts, and IndexBytes for long ones.
func (n Needle) Index(s string, from int) (start, end int) {
	switch {
	case n.text == "":
		return -1, -1
	case !n.fold:
		if i := strings.Index(s[from:], n.text); i >= 0 {
			return from + i, from + i + len(n.text)
		}
		return -1, -1
	case n.lower >= utf8.RuneSelf:
		return indexRunes(s, n.text, from)
	}
	for i := from; i < len(s); i++ {
		if c := s[i]; c != n.lower && c != n.upper {
			continue
		}
		if m := foldPrefix(s[i:], n.text); m > 0 {
			return i, i + m
		}
	}
	return -1, -1
}

// IndexBytes is Index in a long text.
func (n Needle) IndexBytes(s []byte, from int) (start, end int) {
	switch {
	case n.text == "":
		return -1, -1
	case !n.fold:
		if i := bytes.Index(s[from:], []byte(n.text)); i >= 0 {
			return from + i, from + i + len(n.text)
		}
		return -1, -1
	case n.lower >= utf8.RuneSelf:
		return indexRunes(s, n.text, from)
	}
	// Where each case of the first byte comes next; each is looked for again only once it was passed, so rare letters cost
	// one scan.
	nextLower, nextUpper := -1, -1
	if n.lower == n.upper {
		nextUpper = len(s)
	}
	for i := from; i < len(s); i++ {
		if nextLower < i {
			nextLower = indexFrom(s, n.lower, i)
		}
		if nextUpper < i {
			nextUpper = indexFrom(s, n.upper, i)
		}
		if i = min(nextLower, nextUpper); i >= len(s) {
			break
		}
		if m := foldPrefix(s[i:], n.text); m > 0 {
			return i, i + m
		}
	}
	return -1, -1
}

// HasPrefix is whether s begins with the needle.
func (n Needle) HasPrefix(s string) bool {
	if !n.fold {
		return strings.HasPrefix(s, n.text)
	}
	return n.text == "" || foldPrefix(s, n.text) > 0
}

// indexFrom is the index of c in data at or after from, and the length of data where it is not there.
func indexFrom(data []byte, c byte, from int) int {
	if i := bytes.IndexByte(data[from:], c); i >= 0 {
		return from + i
	}
	return len(data)
}

// indexRunes looks for sub at each character. It is for needles that do not begin with ASCII, for which no byte can be looked for.
func indexRunes[T string | []byte](s T, sub string, from int) (start, end int) {
	for i := from; i < len(s); {
		if n := foldPrefix(s[i:], sub); n > 0 {
			return i, i + n
		}
		_, n := decode(s, i)
		i += n
	}
	return -1, -1
}

// foldPrefix returns how many bytes of s match sub, which has no capitals; 0 if s does not begin so. Bytes of ASCII are compared
// without decoding: nearly all are.
func foldPrefix[T string | []byte](s T, sub string) int {
	i := 0
	for k := 0; k < len(sub); {
		if i >= len(s) {
			return 0
		}
		if c := s[i]; c < utf8.RuneSelf && sub[k] < utf8.RuneSelf {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			if c != sub[k] {
				return 0
			}
			i++
			k++
			continue
		}
		// Letters whose small ones are of another length, such as the Kelvin sign for k, are compared as characters.
		want, n := utf8.DecodeRuneInString(sub[k:])
		c, m := decode(s, i)
		if unicode.ToLower(c) != want {
			return 0
		}
		i += m
		k += n
	}
	return i
}

// decode is the character at s[i].
func decode[T string | []byte](s T, i int) (rune, int) {
	var b [utf8.UTFMax]byte
	return utf8.DecodeRune(b[:copy(b[:], s[i:])])
}
