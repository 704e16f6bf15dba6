// Package safe is the one boundary between what a server says and the terminal. Every string that another party
// controls (names, descriptions, content, errors, stderr, URIs) passes [Text] or [Line] before it is drawn.
//
// What could act on a terminal, or hide something from its reader, is shown instead of obeyed:
//
//   - C0 controls and DEL in caret form (ESC is ^[, BEL is ^G), so that CSI,
//     OSC, DCS and APC sequences appear as the text they are;
//   - C1 controls, bidi controls, zero-width characters, fillers, tag
//     characters, stray variation selectors, noncharacters, line and paragraph
//     separators as their code point, <U+202E>;
//   - bytes that are not UTF-8 as <9B>;
//   - more than [MaxMarks] combining marks on one cell as <+96 marks>, and a
//     mark with nothing before it on a dotted circle.
//
// Terminals disagree about the width of emoji sequences (a family of three is two cells where graphemes are counted and
// six where code points are). So an emoji loses its presentation selector, its first skin tone and the joiners between
// it and the next emoji: what is left is Unicode's own fallback, which measures the same everywhere. The joiners that
// Persian and the Indic scripts spell words with are kept.
package safe

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcphud/mcphud/session/base/text"
)

const (
	// MaxMarks is how many combining marks one cell may carry. Vietnamese needs two, Hebrew and Tibetan four or five.
	MaxMarks = 6
	// MaxLine is how many bytes of a string [Line] looks at: measuring a 1 MB line costs 40 ms.
	MaxLine = 4 << 10
	// Tab is the distance of tab stops in cells.
	Tab = 4
)

// Text returns s with everything that could act on the terminal made visible. Line feeds stay (the carriage return of a
// CRLF pair is dropped) and tabs are expanded. Printable ASCII is returned as it came, without allocating. Text of Text
// is Text.
func Text(s string) string {
	i := clean(s, true)
	if i == len(s) {
		return s
	}
	return string(appendText(make([]byte, 0, len(s)+len(s)/8+16), s, i, true))
}

// Line returns s as a single safe line of at most max cells (no limit when max is 0), cut with "…" where it is longer.
// Line feeds show as ⏎. Only the first [MaxLine] bytes are looked at.
func Line(s string, max int) string {
	cut := false
	if len(s) > MaxLine {
		s, cut = text.Cut(s, MaxLine), true
	}
	ascii := true
	if i := clean(s, false); i < len(s) {
		s = string(appendText(make([]byte, 0, len(s)+len(s)/8+16), s, i, false))
		ascii = false
	}
	if cut {
		s += "…"
	}
	if max <= 0 || len(s) <= max {
		return s
	}
	if ascii && !cut && isASCII(s) {
		return s[:max-1] + "…"
	}
	return ansi.Truncate(s, max, "…")
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// clean returns the index of the first byte that needs a closer look than
// "this is a character that stands for itself", or len(s).
func clean(s string, multi bool) int {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && (c != '\n' || !multi) || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !plain(r) || r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(s)
}

// appendText appends the safe form of s to dst; s[:from] is known to be clean.
func appendText(dst []byte, s string, from int, multi bool) []byte {
	dst = append(dst, s[:from]...)
	line := strings.LastIndexByte(s[:from], '\n') + 1 // of dst: start of the current line
	stop := line                                      // of dst: the last tab stop or line start
	var st state
	if from > line {
		st.prev, _ = utf8.DecodeLastRuneInString(s[:from])
	}
	for i := from; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '\n' && multi:
				dst = append(st.flush(dst), c)
				line = len(dst)
				stop = line
				st = state{}
				continue
			case c == '\n':
				dst = append(st.flush(dst), "⏎"...)
			case c == '\r' && multi && i < len(s) && s[i] == '\n':
				continue
			case c == '\t':
				dst = st.flush(dst)
				n := Tab - ansi.StringWidth(string(dst[stop:]))%Tab
				dst = append(dst, "        "[:n]...)
				stop = len(dst)
			case c < 0x20:
				dst = append(st.flush(dst), '^', c+'@')
			case c == 0x7f:
				dst = append(st.flush(dst), "^?"...)
			default:
				dst = append(st.flush(dst), c)
			}
			st.base(rune(c))
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(st.flush(dst), '<', hexDigits[c>>4], hexDigits[c&15], '>')
			st.base('>')
			i++
			continue
		}
		i += n
		dst = st.rune(dst, r, s[i:], len(dst) == line)
	}
	return st.flush(dst)
}

const hexDigits = "0123456789ABCDEF"

// appendPoint appends the visible form of a code point, <U+202E>.
func appendPoint(dst []byte, r rune) []byte {
	dst = append(dst, "<U+"...)
	for shift := 20; shift >= 0; shift -= 4 {
		if shift < 16 || r>>shift != 0 {
			dst = append(dst, hexDigits[r>>shift&15])
		}
	}
	return append(dst, '>')
}
