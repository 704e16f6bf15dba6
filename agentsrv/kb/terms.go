package kb

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const maxTerm = 40 // bytes; longer words are hashes and encodings, which nobody types

// eachTerm calls f for every term of s, with the bytes of s that it stands for, until f returns false. Terms are folded
// (case, accents), reduced to their stem, and never hold anything but letters and digits, so that no text of a user is
// syntax for FTS5. Names written as readFile or read_file yield their parts and the whole; each ideograph is one term.
func eachTerm(s string, f func(term string, from, to int) bool) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case ideograph(r):
			if !f(s[i:i+n], i, i+n) {
				return
			}
			i += n
		case letter(r):
			end := wordEnd(s, i)
			if !word(s, i, end, f) {
				return
			}
			i = end
		default:
			i += n
		}
	}
}

// wordEnd is where the word that starts at i ends: at the first byte that is neither letter, digit nor an underscore
// between such.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == '_' && i+1 < len(s) {
			if next, _ := utf8.DecodeRuneInString(s[i+1:]); !letter(next) || ideograph(next) {
				return i
			}
		} else if !letter(r) && !unicode.Is(unicode.Mn, r) || ideograph(r) {
			return i
		}
		i += n
	}
	return i
}

// word yields the terms of s[from:to].
func word(s string, from, to int, f func(string, int, int) bool) bool {
	parts, start := 0, from
	var before rune
	for i, r := range s[from:to] {
		at := from + i
		switch {
		case r == '_':
			if at > start && !emit(s, start, at, f) {
				return false
			}
			start = at + 1
			parts++
		case unicode.IsUpper(r) && unicode.IsLower(before) && at > start:
			if !emit(s, start, at, f) {
				return false
			}
			start = at
			parts++
		}
		before = r
	}
	if start < to && parts > 0 && !emit(s, start, to, f) {
		return false
	}
	return emit(s, from, to, f)
}

func emit(s string, from, to int, f func(string, int, int) bool) bool {
	t := fold(s[from:to])
	if t == "" || len(t) > maxTerm {
		return true
	}
	return f(stem(t), from, to)
}

// fold is w in lower case without accents and underscores. Words of ASCII, nearly all, cost no allocation if they are in
// lower case already.
func fold(w string) string {
	plain := true
	for i := range len(w) {
		if c := w[i]; c >= utf8.RuneSelf || c == '_' || 'A' <= c && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return w
	}
	var b strings.Builder
	b.Grow(len(w))
	for _, r := range norm.NFKD.String(w) {
		if letter(r) && utf8.ValidRune(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func letter(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

func ideograph(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// stem takes the endings of English off a folded word, so that "validating", "validates" and "validation" are one term.
// It is coarser than Porter's algorithm: all that matters is that text and queries go through the same.
func stem(w string) string {
	if len(w) < 4 {
		return w
	}
	for i := range len(w) {
		if c := w[i]; c < 'a' || c > 'z' {
			return w
		}
	}
	switch {
	case strings.HasSuffix(w, "ies"):
		w = w[:len(w)-3] + "y"
	case hasAny(w, "sses", "xes", "ches", "shes", "zes"):
		w = w[:len(w)-2]
	case strings.HasSuffix(w, "s") && !hasAny(w, "ss", "us", "is"):
		w = w[:len(w)-1]
	}
	long := false // an ending that verbs in -ate take came off
	switch {
	case strings.HasSuffix(w, "ing") && vowel(w[:len(w)-3]):
		w, long = w[:len(w)-3], true
	case strings.HasSuffix(w, "ied"):
		w = w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "ed") && !strings.HasSuffix(w, "eed") && vowel(w[:len(w)-2]):
		w, long = w[:len(w)-2], true
	case strings.HasSuffix(w, "tion") && len(w) > 6:
		w, long = w[:len(w)-3], true
	case strings.HasSuffix(w, "ly") && len(w) > 5:
		w = w[:len(w)-2]
	}
	if strings.HasSuffix(w, "e") && len(w) > 3 {
		w, long = w[:len(w)-1], true
	}
	if long && strings.HasSuffix(w, "at") && len(w) > 5 {
		return w[:len(w)-2]
	}
	if n := len(w); n > 3 && w[n-1] == w[n-2] {
		w = w[:n-1]
	}
	return w
}

func hasAny(w string, ends ...string) bool {
	for _, e := range ends {
		if strings.HasSuffix(w, e) {
			return true
		}
	}
	return false
}

// vowel tells whether what is left of a word is a word: three letters or more with a vowel among them.
func vowel(w string) bool { return len(w) > 2 && strings.ContainsAny(w, "aeiouy") }

// common are the words that say nothing about what a text is about.
var common = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a about after all also am an and any are as at be because been before being but by can could did do
		does doing don done for from get gets got had has have having how i if in into is isn it its just let like ll made make makes
		may me might much must my need no nor not now of off on one only onto or other our out over own please re same say says should so some such
		tell than that the their them then there these they thing this those through to too up us use used using ve very want wants was way we were what when
		where which while who whose why will with without work works would you your`) {
		m[stem(w)] = true
	}
	return m
}()
