package safety

import (
	"encoding/base64"
	"regexp"
	"strings"
	"sync"
	uni "unicode"
	"unicode/utf8"
)

var (
	spaced  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:[A-Za-z] ){4,}[A-Za-z]\b`) })
	encoded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9+/]{24,}={0,2}`) })
)

// disguised are further readings of a text: with letters of other scripts as the Latin ones that they pass for, with words that were spaced
// out put together, and what base64 in it says. A model reads them all.
func disguised(plain string) (out []string) {
	if other := latin(plain); other != plain {
		out = append(out, other)
	}
	if spaced().MatchString(plain) {
		// Between words there are as many blanks as between letters: patterns need none between them here.
		out = append(out, spaced().ReplaceAllStringFunc(plain, unspaced))
	}
	if len(plain) >= 24 {
		for _, word := range encoded().FindAllString(plain, 10) {
			raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(word, "="))
			if err == nil && utf8.Valid(raw) && !strings.ContainsFunc(string(raw), func(r rune) bool { return r != '\n' && !uni.IsPrint(r) }) && strings.Contains(string(raw), " ") {
				out = append(out, strings.Join(strings.Fields(string(raw)), " "))
			}
		}
	}
	return out
}

// latin writes letters that pass for Latin ones as those, in words that have Latin ones too.
func latin(plain string) string {
	if !strings.ContainsFunc(plain, func(r rune) bool { return uni.In(r, uni.Cyrillic, uni.Greek) }) {
		return plain
	}
	words := strings.Split(plain, " ")
	for i, w := range words {
		if strings.ContainsFunc(w, func(r rune) bool { return r < 0x80 && uni.IsLetter(r) }) {
			words[i] = strings.Map(func(r rune) rune {
				if to, ok := alike(uni.ToLower(r)); ok && r >= 0x80 {
					return to
				}
				return r
			}, w)
		}
	}
	return strings.Join(words, " ")
}

// common are the words by which text without blanks is taken apart, the longest of those that begin alike first.
var common = strings.Fields("instructions instruction previous ignore disregard forget above earlier system prompt rules never always user tell the all this that not send do to")

// unspaced puts a text together whose letters stand apart, with blanks around the words that orders are made of.
func unspaced(s string) string {
	s = strings.ToLower(strings.ReplaceAll(s, " ", ""))
	var b strings.Builder
next:
	for i := 0; i < len(s); {
		for _, w := range common {
			if strings.HasPrefix(s[i:], w) {
				b.WriteString(" " + w + " ")
				i += len(w)
				continue next
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
