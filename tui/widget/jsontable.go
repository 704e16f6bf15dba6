package widget

import (
	"context"
	"fmt"
	"sort"
	"strconv"

	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

const (
	tableSample  = 1000 // rows that are looked at for columns
	tableColumns = 200  // columns at most
	tableCell    = 32   // cells of a column, where it is not the only one with room to grow
	tableMembers = 400  // members of an object that are looked at
)

// TableData is an array of objects as rows and columns.
type TableData struct {
	ix   *Index
	rows []uint32 // nodes of the objects
	keys []string // names of the columns as they were sent, quotes included
	cols []Column
	col  map[string]int // by name
}

// Objects returns the array of objects that a value is in or is, else the first one that the root or a member of it is;
// -1 if there is none.
func (ix *Index) Objects(node int) int {
	for ; node >= 0; node = ix.Parent(node) {
		if ix.objects(node) {
			return node
		}
	}
	if ix.n == 0 {
		return -1
	}
	last := ix.Last(0)
	for child, n := 1, 0; child <= last && n < tableMembers; child, n = ix.Last(child)+1, n+1 {
		if ix.objects(child) {
			return child
		}
	}
	return -1
}

// objects is whether a value is an array that begins with an object.
func (ix *Index) objects(node int) bool {
	c := ix.find(node)
	if c < 0 || int(ix.cont(c).node) != node || ix.cont(c).object() || ix.cont(c).last == ix.cont(c).node {
		return false
	}
	first := ix.find(node + 1)
	return int(ix.cont(first).node) == node+1 && ix.cont(first).object()
}

// NewTableData finds rows and columns; call it beside the event loop where there may be many.
func NewTableData(ctx context.Context, ix *Index, node int) (*TableData, error) {
	t := &TableData{ix: ix, col: map[string]int{}}
	last := ix.Last(node)
	for child := node + 1; child <= last; child = ix.Last(child) + 1 {
		if len(t.rows)%tableSample == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.rows = append(t.rows, uint32(child))
	}
	text := map[int]bool{}
	n := min(len(t.rows), tableSample)
	for k := range n {
		i := k * (len(t.rows) - 1) / max(n-1, 1) // from the first to the last
		t.members(i, func(key string, child int) {
			c, ok := t.col[key]
			if !ok {
				if len(t.keys) == tableColumns {
					return
				}
				c = len(t.keys)
				name := safe.Line(Unquote([]byte(key)), tableCell)
				t.col[key], t.keys = c, append(t.keys, key)
				t.cols = append(t.cols, Column{Title: name, Width: min(max(paint.Width(name), 3), tableCell)})
			}
			value := ix.Value(child)
			if value[0] != '-' && (value[0] < '0' || value[0] > '9') && value[0] != 'n' {
				text[c] = true
			}
			t.cols[c].Width = max(t.cols[c].Width, min(paint.Width(cellText(value)), tableCell))
		})
	}
	for i := range t.cols {
		t.cols[i].Right = !text[i]
	}
	return t, nil
}

// members calls f with the members of row i.
func (t *TableData) members(i int, f func(key string, child int)) {
	node := int(t.rows[i])
	c := t.ix.find(node)
	if c < 0 || int(t.ix.cont(c).node) != node || !t.ix.cont(c).object() {
		return
	}
	last := int(t.ix.cont(c).last)
	for child, n := node+1, 0; child <= last && n < tableMembers; child, n = t.ix.Last(child)+1, n+1 {
		f(string(t.ix.Key(child)), child)
	}
}

// cellText is a value as it stands in a cell: strings without their quotes.
func cellText(value []byte) string {
	const most = 4 * tableCell * 8 // a column that grows can be as wide as the screen
	if value[0] == '"' && len(value) <= most {
		return safe.Line(Unquote(value), 0)
	}
	if value[0] == '"' {
		value = value[1:]
	}
	return clip(value[:min(len(value), most)])
}

// JSONTable shows a [TableData]: only visible cells are read. The zero value shows nothing.
type JSONTable struct {
	Table
	data  *TableData
	first int // leftmost column beside the row's number
	query Query
	row   int // whose cells are known
	cell  map[int]int
}

// SetData shows a table from its beginning; nil shows nothing.
func (t *JSONTable) SetData(d *TableData) {
	t.data, t.first, t.row = d, 0, -1
	t.Table.SetCells(jsonCells{t})
	t.Select(0)
	t.columns()
}

// SetQuery marks every occurrence of text on screen; empty marks none.
func (t *JSONTable) SetQuery(text string) {
	t.query = Query{}
	if text != "" {
		t.query = wholeQuery(text)
	}
	t.fresh = false
}

// columns shows the columns from the first visible one on, behind the number of the row.
func (t *JSONTable) columns() {
	if t.data == nil {
		t.SetColumns(nil)
		return
	}
	cols := []Column{{Title: "#", Width: len(strconv.Itoa(len(t.data.rows))), Right: true}}
	for _, c := range t.data.cols[min(t.first, len(t.data.cols)):] {
		if c.Width == tableCell {
			c.Grow = 1
		}
		cols = append(cols, c)
	}
	t.SetColumns(cols)
}

// Key moves the cursor; left and right scroll by columns.
func (t *JSONTable) Key(k string) bool {
	if t.data == nil {
		return false
	}
	switch k {
	case "left", "h":
		t.scrollTo(t.first - 1)
		return true
	case "right", "l":
		if t.first+len(t.widths)-1 < len(t.data.cols) {
			t.scrollTo(t.first + 1)
		}
		return true
	}
	return t.Table.Key(k)
}

func (t *JSONTable) scrollTo(first int) {
	t.first = max(min(first, len(t.data.cols)-1), 0)
	t.columns()
}

// Position says which columns are shown where not all are: "columns 3-7 of 12".
func (t *JSONTable) Position() string {
	if t.data == nil || len(t.widths) == 0 || t.first == 0 && len(t.widths) > len(t.data.cols) {
		return ""
	}
	return fmt.Sprintf("columns %d-%d of %d", t.first+1, t.first+len(t.widths)-1, len(t.data.cols))
}

// Row returns the value under the cursor, -1 if there is none.
func (t *JSONTable) Row() int {
	if i := t.Selected(); t.data != nil && i >= 0 {
		return int(t.data.rows[i])
	}
	return -1
}

// Reveal moves the cursor to the row that a value is in.
func (t *JSONTable) Reveal(node int) {
	if t.data == nil || len(t.data.rows) == 0 || node < int(t.data.rows[0]) {
		return
	}
	t.Select(sort.Search(len(t.data.rows), func(i int) bool { return int(t.data.rows[i]) > node }) - 1)
}

// Show moves the cursor to the row, and scrolls to the column, that hold an offset of the text, as [Find] returns it.
func (t *JSONTable) Show(start int) {
	if t.data == nil {
		return
	}
	node := t.data.ix.At(start)
	t.Reveal(node)
	row := t.Selected()
	if row < 0 {
		return
	}
	t.data.members(row, func(key string, child int) {
		c, ok := t.data.col[key]
		if ok && child <= node && node <= t.data.ix.Last(child) && (c < t.first || c >= t.first+len(t.widths)-1) {
			t.scrollTo(c)
		}
	})
}

// jsonCells are the visible cells of a JSONTable.
type jsonCells struct{ t *JSONTable }

func (s jsonCells) Len() int {
	if s.t.data == nil {
		return 0
	}
	return len(s.t.data.rows)
}

func (s jsonCells) Cell(i, c int) string {
	t, th := s.t, s.t.theme
	if th == nil {
		return ""
	}
	if c == 0 {
		return th.Muted.S(strconv.Itoa(i))
	}
	if t.row != i {
		t.row = i
		if t.cell == nil {
			t.cell = map[int]int{}
		}
		clear(t.cell)
		t.data.members(i, func(key string, child int) {
			if c, ok := t.data.col[key]; ok {
				t.cell[c] = child
			}
		})
	}
	child, ok := t.cell[t.first+c-1]
	if !ok {
		return th.Muted.S("·")
	}
	value := t.data.ix.Value(child)
	return t.query.Highlight(cellText(value), scalarStyle(th, value), th.Match)
}

// scalarStyle is the colour of a JSON value.
func scalarStyle(th *paint.Theme, value []byte) paint.Style {
	switch value[0] {
	case '"':
		return th.String
	case 't', 'f':
		return th.Bool
	case 'n':
		return th.Null
	case '{', '[':
		return th.Muted
	}
	return th.Number
}
