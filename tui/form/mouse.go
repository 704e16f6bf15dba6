package form

import "strconv"

// Click focuses the row at a cell of the form and does what the cell shows: folds a group, toggles a boolean, opens a
// list, puts the cursor into a text. It reports whether there was a row.
func (f *Form) Click(x, y int) bool {
	f.Lines()
	if y < 0 || y >= len(f.lines) {
		return false
	}
	if f.raw != nil {
		return f.clickRaw(x, y)
	}
	if len(f.rows) == 0 {
		return false
	}
	line := y + f.top
	i := f.rowAt(line)
	if i >= len(f.rows) {
		return false
	}
	offset := line - f.heights[i]
	f.fresh = false
	if i == f.cur && f.pop != nil {
		return f.clickPopup(offset)
	}
	f.pop, f.rename = nil, nil
	ptr := f.rows[i].key()
	f.settleInput()
	if i != f.cur {
		f.leave()
	}
	f.ready()
	f.focusKey(ptr)
	r := f.row()
	first := offset == 0
	switch {
	case r == nil:
		return false
	case r.textual():
		f.clickText(r, x, offset)
	case first && (r.kind == rowGroup || r.kind == rowRest):
		f.fold(f.cur, !r.open)
	case first && r.kind == rowAdd:
		f.addTo(f.cur)
	case first && r.selectable() && x >= f.valueX(r):
		f.openSelect("")
	case first && r.isBoolean() && x >= f.valueX(r):
		w, _ := (&drawer{f: f, t: f.theme, w: f.w}).widths(r)
		return f.clickBoolean(r, x-f.valueX(r), w)
	case first && r.kind == rowField && x >= f.valueX(r) && x < f.valueX(r)+3:
		return f.act(r, "space", keySpace)
	}
	return true
}

// valueX is the cell at which a row's value begins.
func (f *Form) valueX(r *row) int {
	return 2 + min(r.depth*2, f.w/3) + f.nameWidth(f.w) + 1
}

func (f *Form) clickText(r *row, x, offset int) {
	in := f.edit()
	if offset < min(in.count(), maxTextRows) && x >= f.valueX(r) {
		in.click(x-f.valueX(r)-1, offset)
	}
}

// clickPopup takes the choice on a line of the focused row.
func (f *Form) clickPopup(offset int) bool {
	p := f.pop
	first := 1 + f.textRows()
	if p.filterable && len(p.choices) > popRows || !p.filter.empty() {
		first++
	}
	if i := p.top + offset - first; offset >= first && i < len(p.shown) && offset-first < popRows {
		p.at = i
		return f.accept()
	}
	f.pop = nil
	return true
}

// textRows is how many lines below its first the text of the focused row has.
func (f *Form) textRows() int {
	if f.input == nil {
		return 0
	}
	n := f.input.count()
	if n > maxTextRows {
		return maxTextRows
	}
	return n - 1
}

func (f *Form) clickRaw(x, y int) bool {
	t := f.raw.text
	gutter := len(strconv.Itoa(t.count())) + 2
	f.fresh = false
	return t.click(max(x-gutter, 0), y)
}

// Wheel scrolls by lines without moving the focus.
func (f *Form) Wheel(by int) {
	f.Lines()
	f.fresh, f.manual = false, true
	if f.raw != nil {
		f.raw.text.vertical(by)
		return
	}
	f.top += by
}
