package widget

import (
	"strings"

	"github.com/mcphud/mcphud/tui/paint"
)

// Column is one column of a [Table].
type Column struct {
	Title string // safe text
	// Width in cells. Where Grow is not zero it is the least width, and the column takes its share of what is left
	// over. Columns that do not fit are left out, the last ones first.
	Width int
	Grow  int
	Right bool // flush right, for numbers
}

// Cells is what a [Table] shows; Cell is asked for visible rows only.
type Cells interface {
	Len() int
	// Cell returns column c of row i as a safe, styled line. The table fits it.
	Cell(i, c int) string
}

// Table is a virtualised table: a [List] with columns and a header. The zero value is an empty table.
type Table struct {
	List
	cols   []Column
	widths []int
	cells  Cells
	header string
	head   *paint.Theme // what the header was drawn for
	out    []string
	h      int
}

// SetColumns sets the columns.
func (t *Table) SetColumns(cols []Column) {
	t.cols = cols
	t.layout()
}

// SetSize sets width and height in cells, the header included.
func (t *Table) SetSize(w, h int) {
	t.h = h
	if t.w != w || t.widths == nil {
		t.List.SetSize(w, max(h-1, 0))
		t.layout()
		return
	}
	t.List.SetSize(w, max(h-1, 0))
}

// SetCells sets what is shown, or says that it changed.
func (t *Table) SetCells(c Cells) {
	t.cells = c
	t.SetRows(tableRows{t})
}

// layout shares the width among the columns, one blank between two.
func (t *Table) layout() {
	t.widths, t.header, t.fresh = t.widths[:0], "", false
	left, grow := t.w, 0
	for i, c := range t.cols {
		need := c.Width
		if i > 0 {
			need++
		}
		if need > left && i > 0 {
			break
		}
		left -= min(need, left)
		grow += c.Grow
		t.widths = append(t.widths, min(c.Width, t.w))
	}
	for i := range t.widths {
		if g := t.cols[i].Grow; g > 0 && left > 0 {
			share := left * g / grow
			t.widths[i] += share
			left -= share
			grow -= g
		}
	}
}

type tableRows struct{ t *Table }

func (r tableRows) Len() int {
	if r.t.cells == nil {
		return 0
	}
	return r.t.cells.Len()
}

func (r tableRows) Row(i, _ int) string {
	return r.t.row(func(c int) string { return r.t.cells.Cell(i, c) })
}

func (t *Table) row(cell func(c int) string) string {
	var b strings.Builder
	for c, w := range t.widths {
		if c > 0 {
			b.WriteByte(' ')
		}
		s := cell(c)
		if t.cols[c].Right {
			s = paint.Cut(s, w)
			b.WriteString(paint.Blanks(w - paint.Width(s)))
			b.WriteString(s)
			continue
		}
		b.WriteString(paint.Fit(s, w))
	}
	return b.String()
}

// Line is [List.Line] with the header counted.
func (t *Table) Line() int {
	if n := t.List.Line(); n > 0 {
		return n + 1
	}
	return 0
}

// Mouse is [List.Mouse] with the header counted.
func (t *Table) Mouse(m Mouse) Hit {
	m.Y--
	return t.List.Mouse(m)
}

// Lines returns the header and the visible rows.
func (t *Table) Lines() []string {
	if t.h <= 0 {
		return nil
	}
	if t.header == "" || t.head != t.theme {
		t.head = t.theme
		t.header = t.row(func(c int) string {
			if t.theme == nil {
				return t.cols[c].Title
			}
			return t.theme.Muted.S(t.cols[c].Title)
		})
	}
	t.out = append(append(t.out[:0], t.header), t.List.Lines()...)
	return t.out
}
