package widget

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcphud/mcphud/tui/paint"
)

// Query is what somebody typed to filter rows: words that must all occur, in any order, without regard to case (with
// regard to it as soon as a word has a capital). A word in "double quotes" may hold blanks, one that begins with - must
// not occur.
type Query struct {
	words []word
}

type word struct {
	text string
	not  bool
	fold bool
}

// ParseQuery reads a query. Every text is a query.
func ParseQuery(s string) Query {
	var q Query
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
		w.fold = strings.IndexFunc(w.text, unicode.IsUpper) < 0
		q.words = append(q.words, w)
	}
	return q
}

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

// find returns the range of the first occurrence of w in s[from:], or -1.
func (w word) find(s string, from int) (start, end int) {
	if !w.fold {
		if i := strings.Index(s[from:], w.text); i >= 0 {
			return from + i, from + i + len(w.text)
		}
		return -1, -1
	}
	return foldIndex(s, w.text, from)
}

// foldIndex finds sub, which has no capitals, in s[from:] without regard to case.
func foldIndex(s, sub string, from int) (start, end int) {
	if sub == "" {
		return -1, -1
	}
	c := sub[0]
	if c >= utf8.RuneSelf {
		return foldIndexRunes(s, sub, from)
	}
	upper := c
	if c >= 'a' && c <= 'z' {
		upper = c - 'a' + 'A'
	}
	for i := from; i < len(s); i++ {
		if s[i] != c && s[i] != upper {
			continue
		}
		if n := foldPrefix(s[i:], sub); n > 0 {
			return i, i + n
		}
	}
	return -1, -1
}

func foldIndexRunes(s, sub string, from int) (start, end int) {
	for i := from; i < len(s); {
		if n := foldPrefix(s[i:], sub); n > 0 {
			return i, i + n
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return -1, -1
}

// foldPrefix returns how many bytes of s match sub, 0 if it does not begin so.
func foldPrefix(s, sub string) int {
	i := 0
	for _, r := range sub {
		if i >= len(s) {
			return 0
		}
		c, n := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, n = utf8.DecodeRuneInString(s[i:])
			c = unicode.ToLower(c)
		} else if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != r {
			return 0
		}
		i += n
	}
	return i
}

// Filter returns the rows of 0..n-1 whose text matches, or those of among (the rows of a wider query) where it is not
// nil. It looks at ctx now and then, so that it can run beside the screen; above some 2,000 rows it should.
func (q Query) Filter(ctx context.Context, n int, among []int32, text func(i int) string) ([]int32, error) {
	if among != nil {
		n = len(among)
	}
	out := make([]int32, 0, min(n, 1024))
	for k := range n {
		if k&1023 == 1023 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		i := int32(k)
		if among != nil {
			i = among[k]
		}
		if q.Match(text(int(i))) {
			out = append(out, i)
		}
	}
	return out, nil
}

// Highlight returns plain, safe text in base, with every occurrence of the query's words in match.
func (q Query) Highlight(text string, base, match paint.Style) string {
	var b []byte
	done := 0
	for at := 0; at < len(text); {
		start, end := -1, -1
		for _, w := range q.words {
			if w.not {
				continue
			}
			if s, e := w.find(text, at); s >= 0 && (start < 0 || s < start || s == start && e > end) {
				start, end = s, e
			}
		}
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
