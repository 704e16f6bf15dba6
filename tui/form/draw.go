package form

import (
	"strconv"
	"strings"

	"github.com/mcphud/mcphud/session/offer/schema"
	"github.com/mcphud/mcphud/tui/paint"
	"github.com/mcphud/mcphud/tui/safe"
)

// Lines returns the form as at most h lines of at most w cells, safe and
// styled. They are the same slice until something changes.
func (f *Form) Lines() []string {
	f.ready()
	if f.fresh {
		return f.lines
	}
	f.fresh, f.cursor = true, false
	f.lines = f.lines[:0:0]
	if f.w < 4 || f.h < 1 {
		return f.lines
	}
	if f.raw != nil {
		f.drawRaw()
		return f.lines
	}
	d := drawer{f: f, t: f.theme, w: f.w}
	if len(f.rows) == 0 {
		f.lines = append(f.lines, paint.Cut(f.theme.Muted.S("  takes no arguments"), f.w))
		f.footer(&d)
		return f.lines
	}
	focused := d.row(f.cur, true)
	f.measure(len(focused))
	h := f.h
	if f.notice() != "" && h > 4 {
		h--
	}
	f.scrollTo(len(focused), h)
	for i := f.rowAt(f.top); i < len(f.rows) && len(f.lines) < h; i++ {
		lines := focused
		if i != f.cur {
			lines = d.row(i, false)
		} else {
			d.cy += f.heights[i]
		}
		for j, l := range lines {
			if y := f.heights[i] + j; y >= f.top && len(f.lines) < h {
				f.lines = append(f.lines, paint.Cut(l, f.w))
			}
		}
	}
	if y := d.cy - f.top; d.cursor && f.focus && y >= 0 && y < h {
		f.cx, f.cy, f.cursor = min(d.cx, f.w-1), y, true
	}
	f.footer(&d)
	return f.lines
}

// notice is what the form as a whole has to say, "" if nothing.
func (f *Form) notice() string {
	switch {
	case len(f.sch.Notes()) > 0:
		return f.sch.Notes()[0]
	case f.unchecked != "":
		return f.unchecked
	}
	return ""
}

func (f *Form) footer(d *drawer) {
	if n := f.notice(); n != "" && len(f.lines) < f.h {
		for len(f.lines) < f.h-1 {
			f.lines = append(f.lines, "")
		}
		f.lines = append(f.lines, paint.Cut(d.t.Warn.S("! note: ")+d.t.Muted.S(safe.Line(n, 4*f.w)), f.w))
	}
}

// Cursor returns the cell of the text cursor; ok is false when there is none.
func (f *Form) Cursor() (x, y int, ok bool) {
	f.Lines()
	return f.cx, f.cy, f.cursor && f.focus
}

// Scroll returns the first visible line and the number of lines, for a scroll bar.
func (f *Form) Scroll() (pos, total int) {
	f.Lines()
	if f.raw != nil {
		return f.raw.text.in.Scroll()
	}
	if len(f.heights) == 0 {
		return 0, 0
	}
	return f.top, f.heights[len(f.heights)-1]
}

// measure sums the heights of rows up.
func (f *Form) measure(focused int) {
	if cap(f.heights) < len(f.rows)+1 {
		f.heights = make([]int, 0, len(f.rows)+64)
	}
	f.heights = f.heights[:0]
	y := 0
	for i := range f.rows {
		f.heights = append(f.heights, y)
		if i == f.cur {
			y += focused
		} else {
			y += f.rows[i].height()
		}
	}
	f.heights = append(f.heights, y)
}

// rowAt returns the row that covers a line.
func (f *Form) rowAt(y int) int {
	lo, hi := 0, len(f.rows)
	for lo < hi {
		mid := (lo + hi) / 2
		if f.heights[mid+1] <= y {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// scrollTo brings the focused row into view, unless the wheel took it out.
func (f *Form) scrollTo(height, h int) {
	total := f.heights[len(f.rows)]
	y := f.heights[f.cur]
	if !f.manual {
		end := y + height
		if r := &f.rows[f.cur]; r.open { // what opening it showed is seen, as far as there is room
			last := f.cur
			for last+1 < len(f.rows) && f.rows[last+1].depth > r.depth && f.heights[last+2]-y <= h {
				last++
			}
			end = max(end, f.heights[last+1])
		}
		if end > f.top+h {
			f.top = end - h
		}
		if y < f.top {
			f.top = y
		}
	}
	f.top = max(min(f.top, total-h), 0)
}

// height is how many lines an unfocused row takes.
func (r *row) height() int { return 1 + min(r.problems, 1) }

// wide is the width from which types stand beside values, not below.
const wide = 64

// drawer draws rows.
type drawer struct {
	f      *Form
	t      *paint.Theme
	w      int
	cx, cy int // cursor, cy within the row
	cursor bool
}

func (d *drawer) row(i int, focused bool) []string {
	r := &d.f.rows[i]
	focused = focused && d.f.focus
	indent := min(r.depth*2, d.w/3)
	mark := "  "
	if focused {
		mark = d.t.Accent.S("› ")
	}
	lead := mark + paint.Blanks(indent)
	if r.bare() {
		return d.extra(r, lead, 2+indent, focused)
	}
	nameW := d.f.nameWidth(d.w)
	label := d.label(r, focused)
	x := d.f.valueX(r)
	valueW, typeW := d.widths(r)
	value, more := d.value(r, focused, x, valueW)
	line := lead + paint.Fit(label, nameW) + " " + paint.Fit(value, valueW)
	if typeW > 0 {
		line += " " + d.t.Muted.S(d.brief(r, typeW-1))
	}
	out := append([]string{line}, more...)
	pad, room := d.below(r)
	if i == d.f.cur {
		out = d.detail(out, r, pad, room)
	} else {
		out = d.problems(out, r, pad, room, 1)
	}
	return out
}

// widths are the cells of a row's value and of its type.
func (d *drawer) widths(r *row) (value, kind int) {
	kind = d.typeWidth()
	if r.undeclared() {
		kind = max(kind, min(19, d.w/3))
	}
	x := d.f.valueX(r)
	value = max(d.w-x-kind-1, 4)
	if r.textual() && r.val.IsSet() && paint.Width(safe.Line(limit(r.val.Text(), 4*d.w), 0))+3 > value {
		return max(d.w-x-1, 4), 0 // what was typed goes before what is known of the field
	}
	if r.isBoolean() && r.choicesWidth() > value {
		return max(d.w-x-1, 4), 0 // the choices say what it is
	}
	return value, kind
}

// nameWidth is the cells of the column of names.
func (f *Form) nameWidth(w int) int { return max(min(w*2/5, f.nameW), min(w/4, 12), 8) }

// below is how far the lines below a row are indented, and the cells that they have.
func (d *drawer) below(r *row) (pad string, room int) {
	pad = paint.Blanks(4 + min(r.depth*2, d.w/3))
	return pad, max(d.w-len(pad), 8)
}

// typeWidth is the room for types at the right, 0 where there is none: what they take, while values have half of the rest.
func (d *drawer) typeWidth() int {
	if d.w < wide {
		return 0
	}
	f := d.f
	if f.types.build != f.builds || f.types.w != d.w {
		f.types = calm{build: f.builds, w: d.w}
		for i := range f.rows[:min(len(f.rows), maxMeasured)] {
			if r := &f.rows[i]; !r.bare() {
				f.types.lines = max(f.types.lines, paint.Width(d.summary(r))+1)
			}
		}
	}
	return min(f.types.lines, max(d.w/3, (d.w-f.nameWidth(d.w))/2), 56)
}

func (d *drawer) extra(r *row, lead string, x int, focused bool) []string {
	if r.kind == rowMore {
		return []string{lead + d.t.Warn.S("… "+strconv.Itoa(r.lost)+" more: edit them as raw JSON (ctrl+r)")}
	}
	st := d.t.Muted
	if focused {
		st = d.t.Accent
	}
	if r.kind == rowRest {
		mark := "▸ "
		if r.open {
			mark = "▾ "
		}
		return []string{lead + st.S(mark+r.restLabel()) + d.t.Muted.S(r.restNames())}
	}
	text := "+ " + r.name
	if n := d.f.rename; n != nil && n.isNew && n.ptr == r.ptr && d.f.row() == r {
		return d.keyInput(lead, x)
	}
	if len(d.f.rows) == 1 {
		return []string{lead + st.S(text) + d.t.Muted.S("  needs no arguments; this adds one all the same")}
	}
	return []string{lead + st.S(text)}
}

// keyInput is the line in which a map's key is typed.
func (d *drawer) keyInput(lead string, x int) []string {
	n := d.f.rename
	w := max(d.w-x-12, 4)
	shown, cx, _ := n.text.draw(d.t, w, 1)
	d.cx, d.cy, d.cursor = x+5+cx, 0, true
	out := []string{lead + d.t.Accent.S("key: ") + d.t.Field.S(paint.Fit(shown[0], w))}
	if n.err != "" {
		out = append(out, paint.Blanks(x)+d.t.Error.S("✗ "+n.err))
	}
	return out
}

// label is the field's name with its fold mark and whether it is required.
func (d *drawer) label(r *row, focused bool) string {
	name := safe.Line(r.name, 200)
	if r.name == "" {
		name = `""`
	}
	st := d.t.Text
	if focused {
		st = d.t.Title
	}
	if r.item >= 0 {
		name = "[" + name + "]"
	}
	s := st.S(name)
	if r.child.Required && r.item < 0 {
		s += d.t.Error.S("*")
	}
	switch {
	case r.kind == rowGroup && r.open:
		s = d.t.Muted.S("▾ ") + s
	case r.kind == rowGroup:
		s = d.t.Muted.S("▸ ") + s
	}
	return s
}

// summary is type and constraints in a line.
func (d *drawer) summary(r *row) string {
	parts := []string{typeLabel(r.field)}
	if r.union != nil {
		parts[0] += " ▾"
	}
	switch {
	case r.child.Required && r.child.Why != "":
		parts = append(parts, "required "+safe.Line(r.child.Why, 200))
	case r.undeclared():
		parts = append([]string{"not in the schema"}, parts...)
	}
	if !r.child.Allowed {
		parts = append(parts, "not allowed")
	}
	for i, c := range r.field.Constraints {
		if i == 6 {
			break
		}
		parts = append(parts, safe.Line(c.Text, 200))
	}
	for _, x := range []struct {
		on   bool
		word string
	}{{r.field.Deprecated, "deprecated"}, {r.field.ReadOnly, "read-only"}, {r.field.WriteOnly, "write-only"}} {
		if x.on {
			parts = append(parts, x.word)
		}
	}
	return strings.Join(parts, " · ")
}

// brief is as much of the summary as fits whole: the first of its parts, and how many choices there are rather than some.
func (d *drawer) brief(r *row, w int) string {
	s := d.summary(r)
	for paint.Width(s) > w {
		i := strings.LastIndex(s, " · ")
		if i < 0 {
			break
		}
		s = s[:i]
	}
	if n := max(len(r.field.Options), len(r.field.Variants())); paint.Width(s) > w && n > 0 && strings.HasPrefix(s, "one of: ") {
		s = "one of " + strconv.Itoa(n)
	}
	return paint.Cut(s, w)
}

// oneOf lists what can be picked, or says how much that is.
func oneOf(labels []string) string {
	if s := strings.Join(labels, ", "); len(labels) <= 8 && len(s) <= 120 {
		return "one of: " + safe.Line(s, 120)
	}
	return "one of " + strconv.Itoa(len(labels))
}

// typeLabel names what a field takes.
func typeLabel(field *schema.Field) string {
	label := ""
	switch s := field.Shape(); s {
	case schema.ShapeSelect:
		labels := make([]string, len(field.Options))
		for i, o := range field.Options {
			labels[i] = o.Label()
		}
		label = oneOf(labels)
	case schema.ShapeConst:
		label = "constant"
	case schema.ShapeVariants:
		labels := make([]string, len(field.Variants()))
		for i, v := range field.Variants() {
			labels[i] = strings.TrimSuffix(v.Title, " …")
		}
		label = oneOf(labels)
		if by := field.Discriminator(); by != "" {
			label += " by " + safe.Line(by, 60)
		}
	case schema.ShapeNever:
		return "no value allowed"
	case schema.ShapeArray:
		label = "array"
		if field.TupleLen() > 0 {
			label = "tuple of " + strconv.Itoa(field.TupleLen())
		}
	case schema.ShapeObject:
		label = "object"
		if _, explicit, ok := field.Extra(); ok && explicit {
			label = "map"
		}
	case schema.ShapeAny:
		label = "any JSON"
	default:
		label = s.String()
	}
	if s := field.Shape(); field.Nullable() && s != schema.ShapeAny && s != schema.ShapeNull {
		label += " | null"
	}
	if len(field.Refs) > 0 {
		label += " (" + safe.Line(field.Refs[0], 60) + ")"
	}
	return label
}
