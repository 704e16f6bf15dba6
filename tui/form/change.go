package form

import (
	"strconv"

	"github.com/mcphud/mcphud/session/offer/schema"
)

// put sets the value of a row, making the containers around it. coalesce
// makes a run of changes to one row a single undo step.
func (f *Form) put(r *row, v *schema.Value, coalesce bool) {
	if !coalesce {
		f.undoAt = ""
	}
	f.remember(r.ptr)
	if !coalesce {
		f.undoAt = ""
	}
	f.touched[r.ptr] = true
	if r.union != nil {
		f.picks[r.pickKey()] = r.pick // also of a value that was not typed here
	}
	f.set(r, v)
}

func (f *Form) set(r *row, v *schema.Value) {
	if schema.Same(r.val, v) && r.val.IsSet() == v.IsSet() {
		return
	}
	at := *r // f.rows may move
	if v.IsSet() {
		f.makeParents(at.parent)
	}
	path, _ := schema.SplitPointer(at.ptr)
	owner := f.owner(at.parent)
	switch {
	case at.item >= 0 && !v.IsSet():
		if at.val.IsSet() {
			f.value = f.value.Delete(path...)
		}
	case at.item >= 0 && owner != nil:
		n := f.value.At(path[:len(path)-1]...).Len()
		for ; n < at.item; n++ { // a tuple has no holes
			f.value = f.value.Insert(path[:len(path)-1], n, owner.Item(n).Empty())
		}
		f.value = f.value.Set(path, v)
	default:
		f.place(at.parent, path, at.name, v)
	}
	if f.reshapes(&at, v) {
		f.stale = true
	} else {
		f.refresh(at.ptr, v)
	}
	f.touch(at.ptr)
}

// place sets the value at path; a key that is new goes where the schema has
// it among its siblings. parent is the row of the container.
func (f *Form) place(parent int, path []string, name string, v *schema.Value) {
	owner := f.owner(parent)
	if owner == nil || len(path) == 0 {
		f.value = f.value.Set(path, v)
		return
	}
	rank := owner.Rank(name)
	f.value = f.value.SetBefore(path, v, func(other string) bool { return owner.Rank(other) > rank })
}

// owner returns the field of the container that row i stands for; that of the root for -1.
func (f *Form) owner(i int) *schema.Field {
	for ; i >= 0; i = f.rows[i].parent {
		switch r := &f.rows[i]; r.kind {
		case rowGroup:
			return r.field
		case rowVariant:
			if r.pick >= 0 {
				return f.effective(r)
			}
		}
	}
	return f.sch.Root().Active(f.value)
}

// effective returns the field of a variant row with its choice applied.
func (f *Form) effective(r *row) *schema.Field {
	cur := r.field
	level := r.level
	for range 8 {
		vs := cur.Variants()
		if vs == nil {
			break
		}
		pick, chosen := f.picks[strconv.Itoa(level)+r.ptr]
		if !chosen {
			pick = cur.Pick(r.val)
		}
		if pick < 0 || pick >= len(vs) {
			break
		}
		cur = vs[pick].Field().Active(r.val)
		level++
	}
	return cur
}

// makeParents gives the containers around a row a value, outermost first.
func (f *Form) makeParents(i int) {
	var chain []int
	for ; i >= 0; i = f.rows[i].parent {
		chain = append(chain, i)
	}
	if !f.value.IsSet() && len(chain) == 0 {
		f.value = f.sch.Root().Active(nil).Empty()
	}
	for j := len(chain) - 1; j >= 0; j-- {
		r := f.rows[chain[j]]
		if k := r.val.Kind(); k == schema.Object || k == schema.Array || r.kind == rowVariant && r.pick < 0 {
			continue
		}
		field := r.field
		if r.kind == rowVariant {
			field = f.effective(&r)
		}
		if s := field.Shape(); s != schema.ShapeObject && s != schema.ShapeArray {
			continue
		}
		path, _ := schema.SplitPointer(r.ptr)
		if !container(field, f.value.At(path...)) || f.value.At(path...).Len() == 0 {
			f.place(r.parent, path, r.name, f.ofKind(field))
		}
		f.stale = true
	}
}

// ofKind returns an empty container for a field, whatever its default is.
func (f *Form) ofKind(field *schema.Field) *schema.Value {
	v := field.Empty()
	switch {
	case field.Shape() == schema.ShapeArray && v.Kind() != schema.Array:
		return schema.ArrayValue()
	case field.Shape() == schema.ShapeObject && v.Kind() != schema.Object:
		return schema.ObjectValue()
	}
	return v
}

// reshapes reports whether setting r to v may change which rows there are.
func (f *Form) reshapes(r *row, v *schema.Value) bool {
	if f.stale || r.val.IsSet() != v.IsSet() && (r.item >= 0 || !r.child.Declared) {
		return true
	}
	if container(r.field, r.val) || container(r.field, v) || r.kind != rowField {
		return true
	}
	if r.field.Conditional() {
		return true
	}
	for i := r.parent; ; i = f.rows[i].parent {
		if i < 0 {
			return f.sch.Root().Conditional()
		}
		p := &f.rows[i]
		if p.field.Conditional() || p.kind == rowVariant {
			return true
		}
		if p.child.Name != "" && p.kind == rowGroup && f.conditionalBase(p) {
			return true
		}
	}
}

// conditionalBase reports whether the group's field came out of a condition.
func (f *Form) conditionalBase(p *row) bool {
	owner := f.owner(p.parent)
	if p.item >= 0 {
		return owner.Item(p.item).Conditional()
	}
	return owner.Property(p.name).Conditional()
}

// refresh updates the values that rows show along ptr, without a rebuild.
func (f *Form) refresh(ptr string, v *schema.Value) {
	for i := f.cur; i >= 0 && i < len(f.rows); i = f.rows[i].parent {
		r := &f.rows[i]
		if r.ptr == ptr {
			r.val = v
			continue
		}
		path, _ := schema.SplitPointer(r.ptr)
		r.val = f.value.At(path...)
	}
	for i := range f.rows { // a variant's row and its value share a pointer
		if r := &f.rows[i]; r.ptr == ptr {
			r.val = v
		}
	}
}

// unset takes the value of a row away: an item or key of the user's own goes altogether.
func (f *Form) unset(r *row) {
	if r.bare() {
		return
	}
	if r.ptr == "" {
		f.put(r, nil, false)
		return
	}
	ptr := r.ptr
	delete(f.picks, r.pickKey())
	f.put(r, nil, false)
	f.shiftState(ptr)
	f.input = nil
	f.build()
}

// shiftState forgets what was folded or picked below ptr and beside it, when indices may have moved.
func (f *Form) shiftState(ptr string) {
	for k := range f.picks {
		if len(k) > len(ptr) && k[1:1+len(ptr)] == ptr {
			delete(f.picks, k)
		}
	}
}

// addTo adds an item or starts a new key at the container nearest to the row.
func (f *Form) addTo(i int) bool {
	r := &f.rows[i]
	if r.kind == rowGroup && !r.open {
		f.fold(i, true)
	}
	for j := i; ; j = f.rows[j].parent {
		var field *schema.Field
		var ptr string
		if j < 0 {
			field = f.sch.Root().Active(f.value)
		} else {
			p := &f.rows[j]
			ptr = p.ptr
			switch {
			case p.kind == rowGroup:
				field = p.field
			case p.kind == rowVariant && p.pick >= 0:
				field = f.effective(p)
			default:
				continue
			}
		}
		path, _ := schema.SplitPointer(ptr)
		v := f.value.At(path...)
		switch {
		case v.Kind() == schema.Array || !v.IsSet() && field.Shape() == schema.ShapeArray:
			if !field.CanAdd(v.Len()) {
				break // the container around it may grow
			}
			f.addItem(j, ptr, field, i)
			return true
		case field.Shape() == schema.ShapeObject || v.Kind() == schema.Object:
			if _, _, ok := field.Extra(); ok {
				f.startKey(j, ptr, "")
				return true
			}
		}
		if j < 0 {
			return false
		}
	}
}

// addItem puts a new item after the one the focus is in, or at the end.
func (f *Form) addItem(parent int, ptr string, field *schema.Field, from int) {
	f.remember("")
	f.makeParents(parent)
	path, _ := schema.SplitPointer(ptr)
	n := f.value.At(path...).Len()
	if !f.value.At(path...).IsSet() {
		f.value = f.value.Set(path, schema.ArrayValue())
	}
	at := n
	for i := from; i >= 0 && i != parent; i = f.rows[i].parent {
		if f.rows[i].parent == parent && f.rows[i].item >= 0 && f.rows[i].val.IsSet() {
			at = f.rows[i].item + 1
		}
	}
	item := field.Item(at)
	v := item.Empty()
	f.value = f.value.Insert(path, at, v)
	if at < n {
		f.shiftState(ptr)
	}
	f.touch(ptr)
	f.stale = true
	f.build()
	f.focusPtr(ptr + "/" + strconv.Itoa(at))
	f.offer()
}

// offer marks the text of a value that was made up, so that the first key typed replaces it.
func (f *Form) offer() {
	if t := f.edit(); t != nil && !t.empty() {
		t.all = true
	}
}

// focusPtr moves the cursor to the first row of a pointer.
func (f *Form) focusPtr(ptr string) bool {
	f.ready()
	for i := range f.rows {
		if f.rows[i].ptr == ptr && !f.rows[i].bare() {
			f.setCur(i)
			return true
		}
	}
	return false
}

// Focus moves the cursor to the field of a JSON pointer, opening what is
// folded around it; false if the form has no such field.
func (f *Form) Focus(pointer string) bool {
	f.settleInput()
	path, ok := schema.SplitPointer(pointer)
	if !ok || f.raw != nil {
		return false
	}
	f.ready()
	if len(path) > 0 {
		f.openRest(path[0])
	}
	for i := range path {
		f.ready()
		for j := range f.rows {
			if r := &f.rows[j]; r.ptr == schema.Pointer(path[:i]...) && !r.open && (r.kind == rowGroup || r.kind == rowVariant) {
				f.fold(j, true)
				break
			}
		}
	}
	return f.focusPtr(pointer)
}

// move reorders: the item (or key) that the focus is in goes up or down.
func (f *Form) move(by int) bool {
	for i := f.cur; i >= 0; i = f.rows[i].parent {
		r := f.rows[i]
		if r.item < 0 || !r.val.IsSet() {
			continue
		}
		path, _ := schema.SplitPointer(r.ptr)
		up := path[:len(path)-1]
		to := r.item + by
		if to < 0 || to >= f.value.At(up...).Len() {
			return true
		}
		rest := f.rows[f.cur].ptr[len(r.ptr):]
		f.remember("")
		f.value = f.value.Move(up, r.item, to)
		f.shiftState(schema.Pointer(up...))
		f.touch(schema.Pointer(up...))
		f.stale, f.input = true, nil
		f.build()
		f.focusPtr(schema.Pointer(append(up, strconv.Itoa(to))...) + rest)
		return true
	}
	return false
}

// fold opens or closes a group.
func (f *Form) fold(i int, open bool) {
	f.folds[f.rows[i].key()] = open
	f.stale = true
	f.build()
}

// choose applies a variant. What the fields have in common stays, and the
// value that is left comes back when its variant is chosen again.
func (f *Form) choose(r *row, pick int) {
	at := *r
	f.remember("")
	if at.val.IsSet() && at.pick >= 0 {
		f.stash[at.pickKey()+"#"+strconv.Itoa(at.pick)] = at.val
	}
	next := at.choices().Variants()[pick].Field()
	v, kept := f.stash[at.pickKey()+"#"+strconv.Itoa(pick)]
	if !kept {
		v = carryOver(next.Active(at.val), at.val)
	}
	f.picks[at.pickKey()] = pick
	if v.IsSet() {
		f.makeParents(at.parent)
	}
	f.set(&at, v)
	f.folds[at.key()] = true
	f.stale = true
	f.build()
}

// carryOver makes the first value of a new variant: what is determined, and of an
// old object the members that the new one declares too.
func carryOver(next *schema.Field, old *schema.Value) *schema.Value {
	v := next.Initial()
	if next.Shape() != schema.ShapeObject {
		if next.Shape() == schema.ShapeArray {
			return next.Empty()
		}
		if !v.IsSet() && old.IsSet() && old.Len() == 0 && old.Kind() != schema.Object && old.Kind() != schema.Array {
			if again, err := next.Coerce(old.Text()); err == nil {
				return again
			}
		}
		return v
	}
	if !v.IsSet() {
		v = schema.ObjectValue()
	}
	for _, m := range old.Members() {
		if old.Kind() == schema.Object && next.Declares(m.Name) && !v.Get(m.Name).IsSet() && !next.Property(m.Name).Const.IsSet() {
			v = v.SetBefore([]string{m.Name}, m.Value, func(o string) bool { return next.Rank(o) > next.Rank(m.Name) })
		}
	}
	return v
}
