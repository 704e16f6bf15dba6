package widget

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/mcphud/mcphud/session/base/text"
	"github.com/mcphud/mcphud/tui/paint"
)

// Query is what somebody typed to find rows: words that must all occur, in any order, without regard to case (with
// regard to it as soon as a word has a capital). A word in "double quotes" may hold blanks, one that begins with - must
// not occur.
type Query struct {
	words []word
}

type word struct {
	text   string
	not    bool
	needle text.Needle
}

// maxWords bounds a query: a text of more words was pasted, and is looked for as it stands.
const maxWords = 32

// ParseQuery reads a query. Every text is a query.
func ParseQuery(s string) Query {
	var q Query
	whole := strings.TrimSpace(s)
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		var w word
		if len(s) > 1 && s[0] == '-' && s[1] != ' ' {
			w.not, s = true, s[1:]
		}
		end := strings.IndexByte(s, ' ')
		if s[0] == '"' {
			if i := strings.IndexByte(s[1:], '"'); i > 0 {
				w.text, s = s[1:i+1], s[i+2:]
				end = -2
			}
		}
		switch {
		case end == -1:
			w.text, s = s, ""
		case end >= 0:
			w.text, s = s[:end], s[end:]
		}
		w.needle = text.NewNeedle(w.text)
		if q.words = append(q.words, w); len(q.words) > maxWords {
			return wholeQuery(whole)
		}
	}
	return q
}

// wholeQuery looks for a text as it stands.
func wholeQuery(s string) Query { return Query{[]word{{text: s, needle: text.NewNeedle(s)}}} }

// Empty says that the query lets every row through.
func (q Query) Empty() bool { return len(q.words) == 0 }

// Match says whether a text has what the query asks for.
func (q Query) Match(text string) bool {
	for _, w := range q.words {
		if i, _ := w.find(text, 0); i >= 0 == w.not {
			return false
		}
	}
	return true
}

// Rank is how well a query fits a row; less is better.
type Rank uint8

// The ranks, best first. A query of several words has that of the one that fits worst.
const (
	Exact       Rank = iota // is the name
	Prefix                  // begins the name
	WordStart               // begins a word of the name
	Inside                  // is elsewhere in the name
	Initials                // its letters begin words of the name, or follow each other there
	Subsequence             // its letters are in the name in this order, the first of them at the start of a word
	About                   // is in what else the row says
	None                    // does not fit
)

// Rank ranks a row that has a name and says more about itself.
func (q Query) Rank(name, about string) Rank {
	worst := Exact
	for _, w := range q.words {
		r := w.rank(name, about)
		if w.not {
			if r != None {
				return None
			}
			continue
		}
		if worst = max(worst, r); worst == None {
			break
		}
	}
	return worst
}

func (w word) rank(name, about string) Rank {
	best := None
	for s, e := w.find(name, 0); s >= 0; s, e = w.find(name, s+1) {
		switch {
		case s == 0 && e == len(name):
			return Exact
		case s == 0:
			return Prefix
		case wordStart(name, s):
			return WordStart // nothing later is better
		}
		best = Inside
	}
	if best != None {
		return best
	}
	if !w.not {
		if r := w.scattered(name, nil); r != None {
			return r
		}
	}
	if i, _ := w.find(about, 0); i >= 0 {
		return About
	}
	return None
}

// wordStart is whether a word of s begins at i: behind anything but letters and digits, and inside camelCase.
func wordStart(s string, i int) bool {
	if i == 0 {
		return true
	}
	upper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	lower := func(c byte) bool { return c >= 'a' && c <= 'z' }
	was, c := s[i-1], s[i]
	if was < utf8.RuneSelf && !upper(was) && !lower(was) && (was < '0' || was > '9') {
		return true
	}
	return upper(c) && (lower(was) || upper(was) && i+1 < len(s) && lower(s[i+1]))
}

const (
	maxLetters   = 32  // of a word that is looked for letter by letter
	maxScattered = 128 // bytes of a name in which it is
)

// scattered looks for the letters of a word one by one, and marks in at (if there is one) the bytes of s that it found.
func (w word) scattered(s string, at []bool) Rank {
	if len(w.text) < 2 || len(w.text) > maxLetters || len(s) < len(w.text) {
		return None
	}
	s = s[:min(len(s), maxScattered)]
	var loose [maxLetters]uint8 // the letters from the left, each as soon as it comes
	k := 0
	for i := 0; i < len(s) && k < len(w.text); i++ {
		if w.same(s[i], w.text[k]) && (k > 0 || wordStart(s, i)) {
			loose[k] = uint8(i)
			k++
		}
	}
	if k < len(w.text) {
		return None
	}
	// ends[k][i] is whether the first k+1 letters can end at i, each at the start of a word or behind the one before it.
	var ends [maxLetters][maxScattered]bool
	for k := range len(w.text) {
		any, left := false, k == 0 // left: the letters before can end left of i
		for i := range len(s) {
			if w.same(s[i], w.text[k]) && (left && wordStart(s, i) || k > 0 && i > 0 && ends[k-1][i-1]) {
				ends[k][i], any = true, true
			}
			left = left || ends[max(k-1, 0)][i] && k > 0
		}
		if !any {
			mark(at, loose[:len(w.text)])
			return Subsequence
		}
	}
	if at != nil {
		i := len(s)
		for k := len(w.text) - 1; k >= 0; k-- {
			near := i < len(s) && i > 0 && ends[k][i-1]
			for i--; !near && !ends[k][i]; i-- {
			}
			at[i] = true
		}
	}
	return Initials
}

func mark(at []bool, found []uint8) {
	if at != nil {
		for _, i := range found {
			at[i] = true
		}
	}
}

// same compares a byte of a text with one of the word.
func (w word) same(c, want byte) bool {
	if w.needle.Fold() && c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c == want && c < utf8.RuneSelf
}

// find returns the range of the first occurrence of w in s[from:], or -1.
func (w word) find(s string, from int) (start, end int) { return w.needle.Index(s, from) }

// Filter returns the rows of 0..n-1 that the query fits, best first and otherwise in their order. Where a name fits better
// those of rank Subsequence are left out: they would only be in the way. text gives a row's name
// and what else it says. It looks at ctx now and then, so that it can run beside the screen; above some 2,000 rows it should.
func (q Query) Filter(ctx context.Context, n int, text func(i int) (name, about string)) ([]int32, error) {
	var found [None][]int32
	total := 0
	for i := range n {
		if i&255 == 255 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		if r := q.Rank(text(i)); r != None {
			found[r] = append(found[r], int32(i))
			total++
		}
	}
	out := make([]int32, 0, total)
	for r, rows := range found {
		if Rank(r) == Subsequence && len(out) > 0 {
			continue
		}
		out = append(out, rows...)
	}
	return out, nil
}

// Highlight returns plain, safe text in base, with every occurrence of the query's words in match.
func (q Query) Highlight(text string, base, match paint.Style) string {
	var b []byte
	done := 0
	for at := 0; at < len(text); {
		start, end := q.next(text, at)
		if start < 0 {
			break
		}
		if start > done {
			b = base.Append(b, text[done:start])
		}
		b = match.Append(b, text[start:end])
		done, at = end, end
	}
	if done == 0 {
		return base.S(text)
	}
	if done < len(text) {
		b = base.Append(b, text[done:])
	}
	return string(b)
}

// next is the first and, of those that begin there, the longest occurrence of a word in text[at:].
func (q Query) next(text string, at int) (start, end int) {
	start, end = -1, -1
	for _, w := range q.words {
		if w.not {
			continue
		}
		if s, e := w.find(text, at); s >= 0 && (start < 0 || s < start || s == start && e > end) {
			start, end = s, e
		}
	}
	return start, end
}

// HighlightName is Highlight for a name, in which the letters of a word may be apart.
func (q Query) HighlightName(name string, base, match paint.Style) string {
	var at []bool
	for _, w := range q.words {
		if i, _ := w.find(name, 0); i >= 0 || w.not {
			continue
		}
		if at == nil {
			at = make([]bool, len(name))
		}
		w.scattered(name, at)
	}
	if at == nil {
		return q.Highlight(name, base, match)
	}
	for i := 0; i < len(name); {
		s, e := q.next(name, i)
		if s < 0 {
			break
		}
		for k := s; k < e; k++ {
			at[k] = true
		}
		i = e
	}
	var b []byte
	for i := 0; i < len(name); {
		k := i
		for k < len(name) && at[k] == at[i] {
			k++
		}
		st := base
		if at[i] {
			st = match
		}
		b = st.Append(b, name[i:k])
		i = k
	}
	return string(b)
}

// Excerpt is text from shortly before the first occurrence of a word of the query on, if that lies beyond the first w
// bytes; else text as it is.
func (q Query) Excerpt(text string, w int) string {
	start, end := q.next(text, 0)
	if start < 0 || end <= w {
		return text
	}
	from := max(start-w/4, 0)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	return "…" + text[from:]
}
