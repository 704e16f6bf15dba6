package safe

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// state is what one character means for the next: what it stands on, how many
// marks that carries, and which emoji extras were already dropped from it.
type state struct {
	prev   rune // last character of the source on this line that a mark can stand on; 0 at its start
	marks  int  // combining marks on it
	excess int  // marks beyond MaxMarks, not yet reported
	linked bool // prev ended in a virama or prepended letter: the next letter joins its cell
	extra  bool // a selector or skin tone was dropped from prev
}

// base starts a new cell.
func (st *state) base(r rune) { *st = state{prev: r} }

// letter starts a new cell with r, which may take the next letter into it.
func (st *state) letter(r rune) {
	st.base(r)
	if prepends(r) {
		st.linked, st.marks = true, 1
	}
}

// flush reports the marks that were too many.
func (st *state) flush(dst []byte) []byte {
	if st.excess == 0 {
		return dst
	}
	dst = append(dst, "<+"...)
	dst = strconv.AppendInt(dst, int64(st.excess), 10)
	st.excess = 0
	return append(dst, " marks>"...)
}

// rune appends the safe form of one character that is not ASCII; rest is what
// follows it, first says that nothing precedes it on its line.
func (st *state) rune(dst []byte, r rune, rest string, first bool) []byte {
	switch {
	case r == 0x200d || r == 0x200c:
		next, _ := utf8.DecodeRuneInString(rest)
		if r == 0x200d && pictograph(st.prev) && pictograph(next) {
			st.extra = true // dropped: what joined two emoji is gone, and so is its claim on the next mark
			return dst
		}
		if joining(st.prev) && joining(next) && st.marks < MaxMarks {
			st.marks++
			return append(dst, string(r)...)
		}
	case r == 0xfe0f || r == 0xfe0e:
		if !st.extra && st.marks == 0 && (pictograph(st.prev) || keycap(st.prev)) {
			st.extra = true
			return dst
		}
	case r >= 0x1f3fb && r <= 0x1f3ff:
		if pictograph(st.prev) {
			if !st.extra {
				st.extra = true
				return dst
			}
			dst = appendPoint(st.flush(dst), r)
			st.base('>')
			return dst
		}
	}
	if hidden(r) {
		dst = appendPoint(st.flush(dst), r)
		st.base('>')
		return dst
	}
	if r >= 0x1f1e6 && r <= 0x1f1ff {
		return st.flag(dst, r, rest)
	}
	mark := stacks(r)
	if !mark && (!st.linked || !unicode.IsLetter(r)) {
		dst = append(st.flush(dst), string(r)...)
		st.letter(r)
		return dst
	}
	if mark && first {
		dst = append(dst, "◌"...)
		st.base('◌')
	}
	if st.marks >= MaxMarks {
		if mark {
			st.excess++
			return dst
		}
		// The conjunct is as long as a cell may be: its last letter starts anew.
		dst = append(st.flush(dst), "·"...)
		dst = append(dst, string(r)...)
		st.letter(r)
		return dst
	}
	st.marks++
	st.linked = linker(r) || prepends(r)
	if !mark {
		st.prev = r
	}
	return append(dst, string(r)...)
}

// flag keeps regional indicators in pairs; one alone measures one cell here and two there.
func (st *state) flag(dst []byte, r rune, rest string) []byte {
	dst = st.flush(dst)
	if st.prev == flagHalf {
		st.base('⚑')
		return append(dst, string(r)...)
	}
	next, _ := utf8.DecodeRuneInString(rest)
	if next >= 0x1f1e6 && next <= 0x1f1ff {
		st.base(flagHalf)
		return append(dst, string(r)...)
	}
	st.base('>')
	return appendPoint(dst, r)
}

// flagHalf marks, as state.prev, that half a flag was written; no character has this value.
const flagHalf rune = -1

// plain says that r, wherever it stands, is drawn as itself. It is the fast
// path: false only means that r needs the closer look.
func plain(r rune) bool {
	switch {
	case r < 0x300:
		return r >= 0xa0 && r != 0xad
	case r >= 0x370 && r < 0x483, r >= 0x1e00 && r < 0x1fff:
		return true // Greek, Cyrillic, extended Latin and Greek
	case r >= 0x2010 && r < 0x2028, r >= 0x2030 && r < 0x2060, r >= 0x2070 && r < 0x20d0, r >= 0x2100 && r < 0x2c00:
		return true // punctuation, symbols, arrows, boxes
	case r >= 0x3041 && r < 0x3099, r >= 0x309b && r < 0x3130, r >= 0x3190 && r < 0xa000, r >= 0xac00 && r < 0xd7a4:
		return true // kana, CJK, Hangul syllables
	case r >= 0x1f300 && r < 0x1f3fb, r >= 0x1f400 && r < 0x1fb00:
		return true // emoji (a flag, a skin tone are looked at)
	}
	return false
}

// Hidden says that a terminal draws nothing for r, or obeys it, or lets it reorder what is around it. Joiners between
// letters of the scripts that need them are hidden too: what they mean depends on where they stand.
func Hidden(r rune) bool { return r < ' ' || r == 0x7f || hidden(r) }

// hidden says that r draws nothing, reorders what is drawn, or is not a character
// that this program knows (nobody can say how wide an unassigned one is).
func hidden(r rune) bool {
	switch {
	case r >= 0x80 && r < 0xa0, r == 0x2028, r == 0x2029:
		return true
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xffa0:
		return true // fillers: letters without ink
	case r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r < 0xe1000:
		return true // variation selectors, tags
	case r == 0x10eeee:
		return true // stands for a cell of a picture that somebody else has drawn (kitty)
	case r >= 0xfdd0 && r < 0xfdf0, r&0xfffe == 0xfffe:
		return true // noncharacters
	case r >= 0x2060 && r < 0x2070, r >= 0xfff0 && r < 0xfffc:
		return true // invisible operators, deprecated format characters, and the unassigned among them
	}
	return !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs, unicode.Co) && !pictograph(r)
}

// stacks says that r is drawn on the character before it.
func stacks(r rune) bool {
	return unicode.Is(unicode.M, r) || r > 0x1160 && r < 0x1200 || r >= 0xd7b0 && r < 0xd800
}

// linker says that r makes the next letter join this cell (Indic_Conjunct_Break Linker, UAX 29 rule GB9c).
func linker(r rune) bool {
	switch r {
	case 0x94d, 0x9cd, 0xa4d, 0xacd, 0xb4d, 0xbcd, 0xc4d, 0xccd, 0xd4d, 0x1039, 0x17d2, 0x1a60, 0xa9c0, 0xaaf6, 0x1b44, 0x1bab,
		0x10a3f, 0x11133, 0x113d0, 0x1193e, 0x11a47, 0x11a99, 0x11f42:
		return true
	}
	return false
}

// prepends says that r takes the next letter into its cell (Grapheme_Cluster_Break
// Prepend; those of category Cf are hidden anyway).
func prepends(r rune) bool {
	switch {
	case r == 0xd4e, r == 0x111c2, r == 0x111c3, r == 0x113d1, r == 0x1193f, r == 0x11941, r == 0x11a3a, r >= 0x11a84 && r <= 0x11a89,
		r == 0x11d46, r == 0x11f02:
		return true
	}
	return false
}

// joining says that r belongs to a script that is spelled with joiners.
func joining(r rune) bool {
	switch {
	case r >= 0x600 && r < 0x780, r >= 0x8a0 && r < 0x900:
		return unicode.IsLetter(r) || unicode.Is(unicode.Mn, r)
	case r >= 0x900 && r < 0xe00, r >= 0x1000 && r < 0x10a0, r >= 0x1780 && r < 0x1800:
		return unicode.IsLetter(r) || unicode.Is(unicode.M, r) && r != 0x17b4 && r != 0x17b5
	}
	return false
}

// keycap says that an enclosing keycap may follow r.
func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// pictograph approximates Extended_Pictographic (UTS 51): what a presentation
// selector, a skin tone or an emoji joiner may follow.
func pictograph(r rune) bool {
	switch {
	case r < 0xa9:
		return false
	case r == 0xa9, r == 0xae, r == 0x203c, r == 0x2049, r == 0x2122, r == 0x2139, r == 0x24c2, r == 0x3030, r == 0x303d, r == 0x3297, r == 0x3299:
		return true
	case r >= 0x2194 && r <= 0x21aa, r >= 0x231a && r < 0x2400, r >= 0x25aa && r <= 0x25fe, r >= 0x2600 && r < 0x27c0,
		r >= 0x2934 && r <= 0x2935, r >= 0x2b05 && r <= 0x2b55:
		return true
	}
	return r >= 0x1f000 && r < 0x1f1e6 || r >= 0x1f200 && r < 0x1f3fb || r >= 0x1f400 && r < 0x1fb00
}
