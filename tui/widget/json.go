package widget

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// JSON shows an [Index] as a tree that folds, one value a row, as it was sent: members in their order, numbers digit by
// digit, strings with their escapes. The zero value shows nothing.
type JSON struct {
	theme *paint.Theme
	w, h  int
	focus bool
	ix    *Index
	folds folds
	span
	query Query
	out   []string
	fresh bool
}

// SetTheme sets the styles to draw with.
func (j *JSON) SetTheme(t *paint.Theme) {
	if j.theme != t {
		j.theme, j.fresh = t, false
	}
}

// SetSize sets width and height in cells.
func (j *JSON) SetSize(w, h int) {
	if j.w != w || j.h != h {
		j.w, j.h, j.fresh = max(w, 0), max(h, 0), false
		j.page = j.h
		j.clamp()
	}
}

// SetFocus says whether the tree has the keyboard.
func (j *JSON) SetFocus(on bool) {
	if j.focus != on {
		j.focus, j.fresh = on, false
	}
}

// openRows is how many rows a tree may have before it opens folded.
const openRows = 500

// SetIndex shows a tree from its root: wholly unfolded where it is small, else its first levels.
func (j *JSON) SetIndex(ix *Index) {
	j.ix, j.span, j.fresh = ix, span{page: j.h}, false
	if ix == nil {
		return
	}
	depth := 1 << 30
	if ix.n > openRows {
		depth = 2
	}
	j.folds.reset(ix, depth)
	if depth == 2 && j.folds.len() > openRows {
		j.folds.reset(ix, 1)
	}
	j.count()
}

// Index returns what is shown.
func (j *JSON) Index() *Index { return j.ix }

func (j *JSON) count() {
	j.n = j.folds.len()
	if j.ix.err != nil {
		j.n++ // the row that says why the tree ends
	}
	j.fresh = false
	j.clamp()
}

// FoldTo folds everything at depth or deeper (0 leaves the root's row, a large
// number unfolds all). The cursor stays on its value or what hides it.
func (j *JSON) FoldTo(depth int) {
	if j.ix == nil || j.ix.n == 0 {
		return
	}
	at := j.Selected()
	j.folds.reset(j.ix, depth)
	j.count()
	j.cur = j.folds.row(max(at, 0))
	j.clamp()
}

// Selected returns the value under the cursor, -1 if there is none.
func (j *JSON) Selected() int {
	if j.ix == nil || j.cur >= j.folds.len() {
		return -1
	}
	return j.folds.node(j.cur)
}

// Select moves the cursor to a value and unfolds what hides it.
func (j *JSON) Select(node int) {
	if j.ix == nil || node < 0 || node >= j.ix.n {
		return
	}
	j.folds.reveal(node)
	j.count()
	j.cur = j.folds.row(node)
	if j.cur < j.top || j.cur >= j.top+j.page {
		j.top = j.cur - j.page/3
	}
	j.clamp()
}

// Show moves the cursor to the value that holds an offset of the text, as [Find] returns it.
func (j *JSON) Show(start int) {
	if j.ix != nil && start >= 0 {
		j.Select(j.ix.At(start))
	}
}

// SetQuery marks every occurrence of text on screen; empty marks none.
func (j *JSON) SetQuery(text string) {
	j.query, j.fresh = Query{}, false
	if text != "" {
		j.query = wholeQuery(text)
	}
}

// Toggle folds or unfolds the value under the cursor; false if it holds nothing.
func (j *JSON) Toggle() bool {
	c := j.under()
	if c < 0 {
		return false
	}
	j.folds.toggle(c)
	j.count()
	return true
}

// Leaf is whether the value under the cursor is a string.
func (j *JSON) Leaf() bool {
	v := j.Value()
	return len(v) > 0 && v[0] == '"'
}

// under returns the container under the cursor, -1 if there is none or it is empty.
func (j *JSON) under() int {
	node := j.Selected()
	if node < 0 {
		return -1
	}
	if c := j.ix.find(node); c >= 0 && int(j.ix.cont(c).node) == node && j.ix.cont(c).last > j.ix.cont(c).node {
		return c
	}
	return -1
}

// Key moves the cursor and folds: left folds or goes to the parent, right unfolds or goes to the first child, space and
// enter toggle, - and + fold and unfold everything. It reports whether the key means something here.
func (j *JSON) Key(k string) bool {
	if j.ix == nil || j.ix.n == 0 {
		return false
	}
	c := j.under()
	switch k {
	case "left", "h":
		if c >= 0 && !j.folds.isFolded(c) {
			return j.Toggle()
		}
		if node := j.Selected(); node >= 0 {
			if p := j.ix.Parent(node); p >= 0 {
				j.Select(p)
			}
		}
		return true
	case "right", "l":
		if c >= 0 && j.folds.isFolded(c) {
			return j.Toggle()
		}
		if c >= 0 {
			j.key("down")
			j.fresh = false
		}
		return true
	case "space", "enter":
		return j.Toggle()
	case "-":
		j.FoldTo(1)
		return true
	case "+", "=":
		j.FoldTo(1 << 30)
		return true
	}
	if !j.key(k) {
		return false
	}
	j.fresh = false
	return true
}

// Mouse selects, scrolls, and folds on a double click or a click on the triangle.
func (j *JSON) Mouse(m Mouse) Hit {
	hit := j.mouse(m, j.h)
	if hit == HitNone {
		return hit
	}
	j.fresh = false
	if hit == HitScroll {
		return hit
	}
	if node := j.Selected(); node >= 0 && (hit == HitOpen || m.X/2 == j.indent(node)) && j.Toggle() {
		return HitOpen
	}
	return hit
}

// Scroll returns the first visible row and the number of rows.
func (j *JSON) Scroll() (pos, total int) { return j.top, j.n }

// Path returns the place of the value under the cursor for jq, unsafe text.
func (j *JSON) Path() string { return j.at((*Index).Path) }

// Pointer returns its place as a JSON pointer (RFC 6901), unsafe text.
func (j *JSON) Pointer() string { return j.at((*Index).Pointer) }

func (j *JSON) at(f func(*Index, int) string) string {
	if node := j.Selected(); node >= 0 {
		return f(j.ix, node)
	}
	return ""
}

// Value returns the value under the cursor as it was sent.
func (j *JSON) Value() []byte {
	if node := j.Selected(); node >= 0 {
		return j.ix.Value(node)
	}
	return nil
}

// Lines returns the visible rows. The slice is the tree's own until the next call.
func (j *JSON) Lines() []string {
	if j.fresh {
		return j.out
	}
	j.out, j.fresh = j.out[:0], true
	if j.theme == nil || j.ix == nil {
		return j.out
	}
	for row := j.top; row < min(j.top+j.h, j.n); row++ {
		var s string
		if row == j.folds.len() {
			s = j.theme.Warn.S("⚠ the tree ends here: " + safe.Line(j.ix.err.Error(), 0))
		} else {
			s = j.row(j.folds.node(row))
		}
		if row == j.cur {
			s = j.theme.SelectRow(s, j.w, j.focus)
		} else {
			s = paint.Cut(s, j.w)
		}
		j.out = append(j.out, s)
	}
	return j.out
}

// indent is how many steps a value is drawn to the right: at most what leaves
// half of the width, with the depth as a number beyond.
func (j *JSON) indent(node int) int { return min(j.ix.Depth(node), j.w/4) }

func (j *JSON) row(node int) string {
	th := j.theme
	indent := j.indent(node)
	b := make([]byte, 0, j.w*2+64)
	b = append(b, paint.Blanks(2*indent)...)
	if d := j.ix.Depth(node); d > indent {
		b = th.Muted.Append(b, "·"+strconv.Itoa(d)+" ")
	}
	c := j.ix.find(node)
	holds := c >= 0 && int(j.ix.cont(c).node) == node
	switch {
	case !holds || j.ix.cont(c).last == j.ix.cont(c).node:
		b = append(b, "  "...)
	case j.folds.isFolded(c):
		b = th.Accent.Append(b, "▸ ")
	default:
		b = th.Muted.Append(b, "▾ ")
	}
	if p := j.ix.parent(node); p >= 0 && !j.ix.cont(p).object() {
		b = th.Muted.Append(b, strconv.Itoa(j.ix.ordinal(node, p)))
		b = th.Punct.Append(b, ": ")
	} else if key := j.ix.Key(node); key != nil {
		b = append(b, j.query.Highlight(clip(key), th.Key, th.Match)...)
		b = th.Punct.Append(b, ": ")
	}
	if holds {
		return string(j.brackets(b, c))
	}
	value := j.ix.Value(node)
	return string(append(b, j.query.Highlight(clip(value), scalarStyle(th, value), th.Match)...))
}

// brackets appends what stands for an object or array: its size, and what is in it while it is folded.
func (j *JSON) brackets(b []byte, c int) []byte {
	ct, th := j.ix.cont(c), j.theme
	open, end := "[", "]"
	if ct.object() {
		open, end = "{", "}"
	}
	if ct.last == ct.node {
		return th.Punct.Append(b, open+end)
	}
	b = th.Punct.Append(b, open)
	b = th.Muted.Append(b, strconv.Itoa(j.ix.count(c)))
	b = th.Punct.Append(b, end)
	if j.folds.isFolded(c) {
		start := j.ix.start(int(ct.node))
		text := j.ix.data[start:min(j.ix.end(c), start+4*j.w+64)]
		b = append(b, ' ')
		b = th.Muted.Append(b, strings.Join(strings.Fields(clip(bytes.ToValidUTF8(text, nil))), " "))
	}
	return b
}

// clip makes the beginning of a JSON text safe: more than a row never shows.
func clip(raw []byte) string {
	return safe.Line(string(raw[:min(len(raw), safe.MaxLine+1)]), 0)
}
