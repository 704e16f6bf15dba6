package widget

import (
	"iter"
	"slices"

	"github.com/mcphud/mcphud/tui/paint"
)

// Rows is what a [List] shows. Row is asked for visible rows only: a million rows cost as much as forty.
type Rows interface {
	Len() int
	// Row returns row i as one safe, styled line of at most w cells.
	Row(i, w int) string
}

// List is a virtualised list with a cursor and an optional filter. The zero
// value is an empty list; give it a theme, a size and rows.
type List struct {
	theme   *paint.Theme
	w, h    int
	focus   bool
	rows    Rows
	pick    []int32 // filtered rows in order; nil without a filter
	picking bool
	span
	lines []string
	fresh bool
}

// SetTheme sets the styles to draw with.
func (l *List) SetTheme(t *paint.Theme) {
	if l.theme != t {
		l.theme, l.fresh = t, false
	}
}

// SetSize sets width and height in cells.
func (l *List) SetSize(w, h int) {
	if l.w != w || l.h != h {
		l.w, l.h, l.fresh = max(w, 0), max(h, 0), false
		l.page = l.h
		l.clamp()
	}
}

// SetFocus says whether the list has the keyboard.
func (l *List) SetFocus(on bool) {
	if l.focus != on {
		l.focus, l.fresh = on, false
	}
}

// SetRows sets what is listed, or says that it changed. A filter stays only as
// long as its indices exist: after a change, set it again.
func (l *List) SetRows(r Rows) {
	l.rows, l.fresh = r, false
	if l.picking {
		n := 0
		if r != nil {
			n = r.Len()
		}
		l.pick = slices.DeleteFunc(slices.Clone(l.pick), func(i int32) bool { return int(i) >= n })
	}
	l.count()
}

// SetFilter lists only the rows in pick, in its order. The cursor stays on its row, or at its place where the row is gone.
func (l *List) SetFilter(pick []int32) {
	at := l.Selected()
	l.pick, l.picking, l.fresh = pick, true, false
	l.count()
	l.Select(at)
}

// ClearFilter lists all rows again; the cursor stays on its row.
func (l *List) ClearFilter() {
	at := l.Selected()
	l.pick, l.picking, l.fresh = nil, false, false
	l.count()
	l.Select(at)
}

// Filtered says whether a filter is set.
func (l *List) Filtered() bool { return l.picking }

func (l *List) count() {
	switch {
	case l.picking:
		l.n = len(l.pick)
	case l.rows == nil:
		l.n = 0
	default:
		l.n = l.rows.Len()
	}
	l.clamp()
}

// Len returns how many rows are listed, after the filter.
func (l *List) Len() int { return l.n }

// Selected returns the index of the row under the cursor among all rows, -1 if no row is listed.
func (l *List) Selected() int {
	if l.n == 0 {
		return -1
	}
	return l.index(l.cur)
}

// Listed are the indices of the rows listed, in their order: under a filter the best first.
func (l *List) Listed() iter.Seq[int] {
	return func(yield func(int) bool) {
		for pos := range l.n {
			if !yield(l.index(pos)) {
				return
			}
		}
	}
}

func (l *List) index(pos int) int {
	if l.picking {
		return int(l.pick[pos])
	}
	return pos
}

// Select moves the cursor to row i; under a filter that hides it the cursor stays at its place.
func (l *List) Select(i int) {
	if l.picking {
		if i = slices.Index(l.pick, int32(max(i, 0))); i < 0 {
			i = l.cur
		}
	}
	l.cur, l.fresh = i, false
	l.clamp()
}

// First moves the cursor to the first row listed.
func (l *List) First() {
	l.cur, l.fresh = 0, false
	l.clamp()
}

// Key moves the cursor; it reports whether the key means something here.
func (l *List) Key(k string) bool {
	if !l.key(k) {
		return false
	}
	l.fresh = false
	return true
}

// Mouse selects, opens and scrolls.
func (l *List) Mouse(m Mouse) Hit {
	hit := l.mouse(m, l.h)
	if hit != HitNone {
		l.fresh = false
	}
	return hit
}

// Scroll returns the first visible row and the number of rows listed.
func (l *List) Scroll() (pos, total int) { return l.top, l.n }

// Lines returns the visible rows, at most as many as the list is high. The slice is the list's own until the next call.
func (l *List) Lines() []string {
	if l.fresh {
		return l.lines
	}
	l.lines, l.fresh = l.lines[:0], true
	for pos := l.top; pos < min(l.top+l.h, l.n); pos++ {
		row := l.rows.Row(l.index(pos), l.w)
		if pos == l.cur && l.theme != nil {
			row = l.theme.SelectRow(row, l.w, l.focus)
		} else {
			row = paint.Cut(row, l.w)
		}
		l.lines = append(l.lines, row)
	}
	return l.lines
}
