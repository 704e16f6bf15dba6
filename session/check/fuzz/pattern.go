package fuzz

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// Bounds of a text that matches a pattern.
const (
	maxPattern = 4 << 10 // bytes of a pattern that is looked into
	maxMatch   = 4 << 10 // characters of what matches
)

// matchingText is a text that matches a pattern, as far as it can be told without look-around; ok is false where there is none to be had.
func matchingText(rng *rand.Rand, pattern string) (text string, ok bool) {
	if len(pattern) > maxPattern {
		return "", false
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	m := matcher{rng: rng, left: maxMatch}
	m.write(re)
	return m.b.String(), m.left >= 0
}

// matcher writes one text that a pattern matches. Anchors write nothing, and nothing is written beside them.
type matcher struct {
	rng  *rand.Rand
	b    strings.Builder
	left int // what may still be written; below 0 it is too much
}

func (m *matcher) write(re *syntax.Regexp) {
	if m.left < 0 {
		return
	}
	m.left--
	switch re.Op {
	case syntax.OpLiteral:
		m.left -= len(re.Rune)
		for _, r := range re.Rune {
			m.b.WriteRune(r)
		}
	case syntax.OpCharClass:
		m.b.WriteRune(m.from(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		m.b.WriteByte('a')
	case syntax.OpCapture, syntax.OpConcat:
		for _, s := range re.Sub {
			m.write(s)
		}
	case syntax.OpAlternate:
		m.write(re.Sub[m.rng.IntN(len(re.Sub))])
	case syntax.OpStar:
		m.repeat(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		m.repeat(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		m.repeat(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		m.repeat(re.Sub[0], re.Min, re.Max)
	}
}

// repeat writes the least number, or one or two more. most is -1 for any.
func (m *matcher) repeat(re *syntax.Regexp, least, most int) {
	n := least + m.rng.IntN(3)
	if most >= 0 {
		n = min(n, most)
	}
	for range n {
		if m.left < 0 {
			return
		}
		m.write(re)
	}
}

// from is a character of a class, given as pairs of bounds; one that can be read where there is one.
func (m *matcher) from(class []rune) rune {
	if len(class) < 2 {
		return 'a'
	}
	var readable []rune
	for i := 0; i+1 < len(class); i += 2 {
		if lo, hi := max(class[i], '!'), min(class[i+1], '~'); lo <= hi {
			readable = append(readable, lo, hi)
		}
	}
	if len(readable) == 0 {
		return class[0]
	}
	i := m.rng.IntN(len(readable)/2) * 2
	return readable[i] + rune(m.rng.IntN(int(readable[i+1]-readable[i])+1))
}
