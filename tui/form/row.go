package form

import (
	"maps"
	"slices"
	"strconv"

	"github.com/mcphud/mcphud/session/base/jsonrpc"
	"github.com/mcphud/mcphud/session/offer/schema"
)

type rowKind uint8

const (
	rowField   rowKind = iota // a value that is edited on its row
	rowGroup                  // an object or array with rows of its own
	rowVariant                // a choice between branches or types
	rowAdd                    // adds an item or key to its parent
	rowMore                   // stands for rows that are left out
	rowRest                   // stands for the fields that are not in front
)

// row is one place in the form. Rows are flat; parent links them.
type row struct {
	kind   rowKind
	parent int
	depth  int
	level  int           // of nested variants at the same pointer
	pick   int           // of a variant, -1 none
	union  *schema.Field // of a field that is a variant which takes one row: what it was picked of
	ptr    string
	name   string
	child  schema.Child
	field  *schema.Field // with conditions and picked variants applied
	val    *schema.Value
	item   int // index in an array, -1 otherwise
	open   bool
	lost   int // rows left out, of rowMore; fields behind, of rowRest

	quiet    bool // it is still to fill in
	problems int  // how many are shown at this row
	first    int  // the first of them in Form.problems
}

// Names of rows that add.
const (
	addItem = "add item"
	addKey  = "add key"
)

// maxRows bounds a form; beyond it the raw editor is the place to be.
const maxRows = 20_000

// key identifies a row across rebuilds.
func (r *row) key() string { return string('0'+rune(r.kind)) + strconv.Itoa(r.level) + r.ptr }

// bare rows stand for no value.
func (r *row) bare() bool { return r.kind >= rowAdd }

// textual rows are edited as text.
func (r *row) textual() bool {
	if r.kind != rowField {
		return false
	}
	switch r.field.Shape() {
	case schema.ShapeAny, schema.ShapeInteger, schema.ShapeNumber, schema.ShapeString, schema.ShapeVariants:
		return true
	}
	return false
}

// undeclared rows hold members that the schema does not name.
func (r *row) undeclared() bool { return !r.child.Declared && r.item < 0 && r.ptr != "" }

// selectable rows open a list of values.
func (r *row) selectable() bool {
	return r.kind == rowVariant || r.kind == rowField && r.field.Shape() == schema.ShapeSelect
}

func (f *Form) row() *row {
	f.ready()
	if f.cur >= len(f.rows) {
		return nil
	}
	return &f.rows[f.cur]
}

func (f *Form) ready() {
	if f.stale {
		f.build()
	}
}

// build lists the rows of the current value and keeps the focus.
func (f *Form) build() {
	key := ""
	if f.cur < len(f.rows) {
		key = f.rows[f.cur].key()
	}
	f.rows, f.stale, f.fresh = f.rows[:0], false, false
	f.builds++
	root := f.sch.Root()
	b := rows{f: f}
	if cur := root.Active(f.value); container(cur, f.value) && cur.Shape() != schema.ShapeVariants {
		b.inside(-1, 0, "", cur, f.value)
	} else {
		b.place(-1, 0, 0, "", schema.Child{Name: "value", Required: true, Declared: true, Allowed: true}, root, f.value, -1)
	}
	f.cur = min(f.cur, max(len(f.rows)-1, 0))
	if key != "" {
		f.focusKey(key)
	}
	if chosen := chosenPaths(f.rows); !maps.EqualFunc(chosen, f.chosen, slices.Equal) {
		f.chosen = chosen
		f.gen++
		f.wantCheck()
	}
	f.placeProblems()
	f.nameW = widest(f.rows)
}

// maxName is the widest column of names, in cells.
const maxName = 28

// widest is about how many cells the names of rows take, marks included.
func widest(all []row) int {
	n := 0
	for i := range all {
		r := &all[i]
		if r.kind == rowRest {
			continue
		}
		w := len(r.name) // bytes: never less than cells
		if r.child.Required {
			w++
		}
		if r.kind == rowGroup {
			w += 2
		}
		if n = max(n, w); n >= maxName {
			return maxName
		}
	}
	return n
}

// focusKey moves the cursor to the row with that key, or to the nearest row of the same pointer.
func (f *Form) focusKey(key string) {
	if key == "" {
		return
	}
	same := -1
	for i := range f.rows {
		r := &f.rows[i]
		if r.ptr != key[2:] {
			continue
		}
		if r.key() == key {
			f.setCur(i)
			return
		}
		if same < 0 && !r.bare() {
			same = i
		}
	}
	if same >= 0 {
		f.setCur(same)
	}
}

func (f *Form) setCur(i int) {
	f.manual = false
	f.fresh = false
	if i == f.cur {
		return
	}
	f.cur, f.input = i, nil
}

// container reports whether a field with that value has rows of its own.
func container(f *schema.Field, v *schema.Value) bool {
	switch v.Kind() {
	case schema.Object, schema.Array:
		return f.Shape() != schema.ShapeSelect && f.Shape() != schema.ShapeConst
	case schema.Unset, schema.Null:
		return f.Shape() == schema.ShapeObject || f.Shape() == schema.ShapeArray
	}
	return false
}

type rows struct{ f *Form }

func (b *rows) full() bool { return len(b.f.rows) >= maxRows }

func (b *rows) add(r row) int {
	b.f.rows = append(b.f.rows, r)
	return len(b.f.rows) - 1
}

// place adds the rows of one field.
func (b *rows) place(parent, depth, level int, ptr string, c schema.Child, field *schema.Field, v *schema.Value, item int) {
	cur := field.Active(v)
	r := row{parent: parent, depth: depth, level: level, ptr: ptr, name: c.Name, child: c, field: cur, val: v, item: item, pick: -1}
	switch {
	case cur.Shape() == schema.ShapeVariants && level < 8:
		b.variant(r)
	case container(cur, v):
		r.kind = rowGroup
		r.open = b.f.isOpen(&r)
		at := b.add(r)
		if r.open {
			b.inside(at, depth+1, ptr, cur, v)
		}
	default:
		b.add(r)
	}
}

func (b *rows) variant(r row) {
	r.kind = rowVariant
	pick, chosen := b.f.picks[r.pickKey()]
	if !chosen {
		pick = r.field.Pick(r.val)
	}
	vs := r.field.Variants()
	if pick >= len(vs) {
		pick = -1
	}
	r.pick = pick
	if pick < 0 {
		b.add(r)
		return
	}
	sub := vs[pick].Field().Active(r.val)
	if sub.Shape() != schema.ShapeVariants && !container(sub, r.val) {
		r.kind, r.field, r.union = rowField, sub, r.field
		b.add(r)
		return
	}
	r.open = b.f.isOpen(&r)
	at := b.add(r)
	switch {
	case !r.open:
	case sub.Shape() == schema.ShapeVariants: // more than one choice at the same place
		c := r.child
		c.Name = "and" // it is the same value: no property of that name
		b.place(at, r.depth+1, r.level+1, r.ptr, c, vs[pick].Field(), r.val, -1)
	default:
		b.inside(at, r.depth+1, r.ptr, sub, r.val)
	}
}

// choices is the field whose variants a row is one of, nil if it is none.
func (r *row) choices() *schema.Field {
	switch {
	case r.union != nil:
		return r.union
	case r.kind == rowVariant:
		return r.field
	}
	return nil
}

// chosenPaths says for each union which variant its value is meant to be.
func chosenPaths(all []row) map[string][]int {
	var out map[string][]int
	for i := range all {
		r := &all[i]
		if u := r.choices(); u != nil && r.pick >= 0 && r.level == 0 {
			if out == nil {
				out = map[string][]int{}
			}
			out[r.ptr] = u.Variants()[r.pick].Path
		}
	}
	return out
}

func (r *row) pickKey() string { return strconv.Itoa(r.level) + r.ptr }

// inside adds the rows of a container's children.
func (b *rows) inside(parent, depth int, ptr string, field *schema.Field, v *schema.Value) {
	children := field.Children(v)
	array := v.Kind() == schema.Array || v.Kind() != schema.Object && field.Shape() == schema.ShapeArray
	var index map[string]*schema.Value
	if !array && len(children) > 8 {
		index = make(map[string]*schema.Value, v.Len())
		for _, m := range v.Members() {
			index[m.Name] = m.Value
		}
	}
	var rest []schema.Child
	for i, c := range children {
		if ptr == "" && parent < 0 && b.f.behind(c.Name) {
			rest = append(rest, c)
			continue
		}
		if b.full() {
			b.add(row{kind: rowMore, parent: parent, depth: depth, ptr: ptr + "/" + jsonrpc.EscapeToken(c.Name), lost: len(children) - i, item: -1})
			return
		}
		item := -1
		var kid *schema.Value
		switch {
		case array:
			item, kid = i, v.Elem(i)
		case index != nil:
			kid = index[c.Name]
		default:
			kid = v.Get(c.Name)
		}
		b.place(parent, depth, 0, ptr+"/"+jsonrpc.EscapeToken(c.Name), c, c.Field(), kid, item)
	}
	b.rest(rest, v)
	add := row{kind: rowAdd, parent: parent, depth: depth, ptr: ptr, field: field, item: -1}
	if array {
		if field.CanAdd(v.Len()) && v.Len() >= field.TupleLen() {
			add.name = addItem
			b.add(add)
		}
		return
	}
	if _, explicit, ok := field.Extra(); ok && (explicit || len(children) == 0) {
		add.name = addKey
		b.add(add)
	}
}

// isOpen tells whether a group shows its rows: as the user left it, else where there is something to see or to fill in.
func (f *Form) isOpen(r *row) bool {
	if open, set := f.folds[r.key()]; set {
		return open
	}
	if r.val.Kind() == schema.Null {
		return r.kind == rowVariant
	}
	if r.val.IsSet() {
		return r.val.Len() > 0 && r.val.Len() <= 500 || r.child.Required || r.item >= 0 || r.kind == rowVariant
	}
	return r.child.Required && r.depth < 3 || r.kind == rowVariant
}
