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
	// Five letters in a row, each by itself.
	spacedLetters = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:[A-Za-z] ){4,}[A-Za-z]\b`) })
	// The standard alphabet, not that of URLs; 24 characters are 18 bytes.
	base64Words = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9+/]{24,}={0,2}`) })
)

// decodings returns other readings of a text, all of which a model understands: look-alike letters as Latin ones, letters that were spaced out as
// words, and base64 decoded. They are not combined, and none has the text itself. Of base64 the first ten words count that are readable text with
// a blank in it: anything else is data.
func decodings(plain string) (out []string) {
	if other := toLatin(plain); other != plain {
		out = append(out, other)
	}
	if spacedLetters().MatchString(plain) {
		// Between words there are as many blanks as between letters: patterns need none between them here.
		out = append(out, spacedLetters().ReplaceAllStringFunc(plain, withoutSpaces))
	}
	if len(plain) >= 24 {
		for _, word := range base64Words().FindAllString(plain, 10) {
			raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(word, "="))
			if err == nil && utf8.Valid(raw) && !strings.ContainsFunc(string(raw), func(r rune) bool { return r != '\n' && !uni.IsPrint(r) }) && strings.Contains(string(raw), " ") {
				out = append(out, strings.Join(strings.Fields(string(raw)), " "))
			}
		}
	}
	return out
}

// toLatin replaces letters that look like Latin ones by those, in words that have Latin ones too: a word of one script is a word of a language.
func toLatin(plain string) string {
	if !strings.ContainsFunc(plain, func(r rune) bool { return uni.In(r, uni.Cyrillic, uni.Greek) }) {
		return plain
	}
	words := strings.Split(plain, " ")
	for i, w := range words {
		if strings.ContainsFunc(w, func(r rune) bool { return r < 0x80 && uni.IsLetter(r) }) {
			words[i] = strings.Map(func(r rune) rune {
				if to, ok := lookAlike(uni.ToLower(r)); ok && r >= 0x80 {
					return to
				}
				return r
			}, w)
		}
	}
	return strings.Join(words, " ")
}

// common are the words that text without blanks is split at; of those with one prefix the longest comes first.
var common = strings.Fields("instructions instruction previous ignore disregard forget above earlier system prompt rules never always user tell the all this that not send do to")

// withoutSpaces joins letters that were spaced out, with blanks around the words that orders are made of.
func withoutSpaces(s string) string {
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
